//! A plan of probes from its first event to its last.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;
use crate::plan::{Param, TrialTime};

static NEVER: AtomicBool = AtomicBool::new(false);

fn plan(probes: Vec<ProbeCell>, trials: u32) -> Arc<Plan> {
    let time = Duration::from_micros(200);
    Arc::new(Plan {
        probes,
        trials: Some(trials),
        trial_time: TrialTime::from_duration(time),
        budget: Duration::from_secs(60),
        seed: 1,
        ..Plan::plain("lab", TargetSpec::None)
    })
}

fn events(plan: &Arc<Plan>, control: &Control) -> Vec<Event> {
    let mut events = Vec::new();
    crate::engine::run(plan, Default::default, control, &mut |event: Event| events.push(event))
        .unwrap();
    events
}

fn trials(events: &[Event]) -> Vec<ProbeTrial> {
    events
        .iter()
        .filter_map(|event| if let Event::Probe { trial } = event { Some(*trial) } else { None })
        .collect()
}

fn last_findings(events: &[Event], of: u32) -> ProbeFindings {
    let found = events.iter().rev().find_map(|event| match event {
        Event::Findings { cell, findings } if *cell == of => Some(ProbeFindings::clone(findings)),
        _ => None,
    });
    found.unwrap()
}

fn end(events: &[Event]) -> End {
    match events.last() {
        Some(Event::End { reason, .. }) => *reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn cells_report_batches_and_overhead() {
    let calls = (0..3u64).map(|n| ProbeCell::new("call", [("arguments", n.into())]));
    let plan = plan(calls.chain([ProbeCell::new("loop", [])]).collect(), 5);
    let events = events(&plan, &Control::new(&NEVER));
    let trials = trials(&events);
    for cell in 0..4 {
        let rounds: Vec<u32> =
            trials.iter().filter(|trial| trial.cell == cell).map(|trial| trial.round).collect();
        assert_eq!(rounds, [1, 2, 3, 4, 5]);
    }
    assert!(trials.iter().all(|trial| trial.is_sound() && trial.unit == Unit::Nanos));
    // Interleaved: each cell is visited once before any is visited again.
    let visited = events.iter().filter_map(|event| match event {
        Event::Progress(progress) => progress.probe,
        _ => None,
    });
    let mut first: Vec<u32> = visited.take(4).collect();
    first.sort_unstable();
    assert_eq!(first, [0, 1, 2, 3]);
    let evidence = last_findings(&events, 0).evidence;
    assert!(
        evidence[0].contains("subtracted: a clock reading")
            && evidence[0].contains("of loop overhead per operation"),
        "{evidence:?}"
    );
    assert_eq!(end(&events), End::Finished);
}

#[test]
fn refused_probes_leave_others_running() {
    let strange = ProbeCell::new("call", [("arguments", Param::from(99))]);
    let plan = plan(vec![ProbeCell::new("teleport", []), strange, ProbeCell::new("loop", [])], 2);
    let events = events(&plan, &Control::new(&NEVER));
    assert!(last_findings(&events, 0).error.unwrap().contains("teleport"));
    assert!(last_findings(&events, 1).error.unwrap().contains("arguments 99"));
    assert_eq!(trials(&events).iter().map(|trial| trial.cell).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(end(&events), End::Finished);
}

#[test]
fn stop_and_budget_keep_results() {
    static STOP: AtomicBool = AtomicBool::new(true);
    let long = plan(vec![ProbeCell::new("loop", [])], 1000);
    assert_eq!(end(&events(&long, &Control::new(&STOP))), End::Interrupted);
    let short = Arc::new(Plan {
        budget: Duration::from_millis(900),
        trials: Some(1_000_000),
        ..Plan::clone(&long)
    });
    let sent = events(&short, &Control::new(&NEVER));
    assert_eq!(end(&sent), End::Budget);
    assert!(!trials(&sent).is_empty());
}

#[test]
fn a_skip_takes_one_cell_out() {
    let plan = plan(
        vec![ProbeCell::new("loop", []), ProbeCell::new("call", [("arguments", 0.into())])],
        3,
    );
    let control = Control::new(&NEVER);
    control.skip(1);
    let sent = events(&plan, &control);
    let trials = trials(&sent);
    let of = |cell| trials.iter().filter(|trial| trial.cell == cell).count();
    assert_eq!((of(0), of(1)), (3, 0), "{trials:?}");
    assert_eq!([0, 1].map(|cell| last_findings(&sent, cell).skipped), [false, true]);
}

#[test]
fn every_probe_has_cells() {
    let offers = list_offers(None, None, None, None);
    for probe in PROBES {
        let id = probe.info().id;
        let cells: Vec<&Offer> = offers.iter().filter(|offer| offer.cell.probe == id).collect();
        assert!(!cells.is_empty(), "{id}");
        assert!(
            cells.iter().all(|offer| offer.refused.is_none() || offer.estimate.is_none()),
            "{id}"
        );
    }
}

#[test]
fn named_file_leaves_other_probes_folder() {
    let without = list_offers(None, None, None, None);
    let file = std::env::current_exe().unwrap();
    let with = list_offers(Some(&file), None, None, None);
    let refused = |offers: &[Offer], id: &str| {
        offers.iter().filter(|o| o.cell.probe == id && o.refused.is_some()).count()
    };
    for id in ["file-read", "fsync", "metadata"] {
        assert_eq!(refused(&with, id), refused(&without, id), "{id}");
    }
}

#[test]
fn the_named_machine_is_contacted() {
    let free =
        std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let offers = list_offers(None, None, Some(&free.parse().unwrap()), None);
    let far = |offer: &&Offer| offer.cell.probe == "rtt" && offer.cell.is_far();
    let why = offers.iter().filter(far).find_map(|offer| offer.refused.clone()).unwrap();
    assert!(why.starts_with(&free), "{why}");
}
