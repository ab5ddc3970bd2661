//! Sessions on Lab: opened, mixed with files, of references, and marked on the bars of another.

use super::{lab_session, opened, session, stage};
use crate::lab::{MarkedSession, mark_entries};
use crate::msg::{Effect, Msg, Query};
use crate::record::{End, Unit};
use crate::screen::Screen;
use crate::session::{Listed, State, reference};
use crate::session_view::SessionView;
use crate::testing;

#[test]
fn only_probe_sessions_are_shown() {
    let mut stage = stage();
    stage.keys("4").tell(Msg::Opened(Ok(Box::new(testing::shown()))));
    assert_eq!(stage.model.screen, Screen::Results);
    assert!(stage.model.lab.data.results.is_empty());
    stage.keys("4").tell(Msg::Opened(Ok(Box::new(lab_session()))));
    assert_eq!(stage.model.screen, Screen::Lab);
    assert_eq!(stage.model.lab.data.results.len(), session().plan.probes.len());
    assert!(
        !stage.model.lab.choice.is_on("file-read") && stage.model.lab.choice.is_on("rtt"),
        "its probes are on"
    );
}

#[test]
fn mixed_sessions_show_on_both_screens() {
    let mut both = testing::session();
    let probes = session();
    both.plan.probes = probes.plan.probes;
    (both.probe_trials, both.probe_findings) = (probes.probe_trials, probes.probe_findings);
    let mut stage = stage();
    stage.tell(Msg::Opened(Ok(Box::new(SessionView::new(both, None)))));
    assert_eq!(stage.model.screen, Screen::Results);
    assert!(stage.picture(120, 40).contains("Throughput"));
    stage.keys("5");
    assert!(stage.picture(120, 40).contains("a round trip takes"));
}

#[test]
fn missed_cells_are_not_unavailable() {
    let mut short = session();
    short.probe_trials.retain(|trial| trial.cell < 3);
    short.end = Some(End::Budget);
    let mut stage = stage();
    let idle = stage.model.lab.count_cells().1;
    stage.tell(Msg::Opened(Ok(Box::new(SessionView::new(short.clone(), None)))));
    let lab = &mut stage.model.lab;
    // The cell that needs another host cannot be measured here.
    assert_eq!(lab.count_cells(), (3, short.plan.probes.len()));
    assert_eq!(idle, lab.local.cells.iter().filter(|offer| offer.refused.is_none()).count());
    let missed = lab.sheet.slots.iter().find(|slot| lab.reason_missed(slot).is_some());
    let cell = missed.unwrap().cell.clone();
    assert!(lab.refusal(missed.unwrap()).is_none());
    lab.go_to_cell(Some(cell));
    let picture = stage.picture(160, 45);
    assert!(picture.contains("not measured: the budget ended before"), "{picture}");
    assert!(!picture.contains("unavailable: the budget"), "{picture}");
}

#[test]
fn references_show_unknown_probes() {
    let mut stage = stage();
    let xeon = reference("xeon-os").unwrap().session().clone();
    stage.tell(Msg::Opened(Ok(Box::new(SessionView::new(xeon, None)))));
    let lab = &stage.model.lab;
    assert_eq!(
        (lab.data.title.as_str(), lab.marked_sessions().count()),
        ("xeon-os", 0),
        "it is not marked on its own bars"
    );
    // None of the tests' probes is called `thread`.
    assert!(lab.sheet.slots.iter().any(|slot| slot.cell.probe == "thread"));
    let at = lab.sheet.item_of("thread").unwrap();
    stage.model.lab.go_to_item(at);
    let picture = stage.picture(160, 45);
    assert!(picture.contains("other") && picture.contains("does not know"), "{picture}");
}

#[test]
fn marked_sessions_appear_on_bars() {
    let mut stage = opened();
    fn marked(stage: &testing::Stage) -> Vec<String> {
        stage.model.lab.marked_sessions().map(|(_, other)| other.id.clone()).collect::<Vec<_>>()
    }
    assert_eq!(marked(&stage), ["xeon-os"], "references are marked by themselves");
    let listed = |id: &str, probes| Listed {
        id: id.into(),
        name: String::new(),
        target: "-".into(),
        created: "2026-11-20T09:30:11Z".into(),
        seconds: None,
        cells: 9,
        probes,
        measured: None,
        failed: 0,
        verdict: None,
        worst_cells: None,
        best: None,
        label: String::new(),
        curve: Vec::new(),
        lost_lines: None,
        nanos: 0,
        state: State::Finished,
    };
    assert_eq!(stage.keys("c").take(), [Effect::Ask(Query::Sessions)]);
    stage.tell(Msg::Sessions(Ok(vec![
        listed("files", 0),
        listed("before", 3),
        listed(&session().id, 40),
    ])));
    let names: Vec<String> =
        mark_entries(&stage.model.lab).into_iter().map(|entry| entry.id).collect();
    assert_eq!(
        names,
        ["xeon-os", "before"],
        "sessions without probes and the shown session are left out"
    );
    stage.keys("<space>");
    assert!(marked(&stage).is_empty());
    stage.keys("<space>");
    assert_eq!(stage.keys("j<space>").take(), [Effect::Ask(Query::MarkOnLab("before".into()))]);
    let mut other = session();
    other.id = "before".into();
    other.probe_trials.iter_mut().for_each(|trial| trial.value *= 40.0);
    stage.tell(Msg::MarkedOnLab(Ok(Box::new(MarkedSession::from_session(
        &other,
        "yesterday".into(),
    )))));
    assert_eq!(marked(&stage), ["xeon-os", "before"]);
    let syscall = session().plan.probes[3].clone();
    let value = stage.model.lab.marked[0].value(&syscall, Unit::Nanos).unwrap();
    assert!((value / 93.0 / 40.0 - 1.0).abs() < 0.1, "{value}");
    // Another unit is another thing.
    assert_eq!(stage.model.lab.marked[0].value(&syscall, Unit::Bytes), None);
    stage.keys("<esc><esc>");
    assert!(stage.model.popups.is_empty());
    stage.tell(Msg::MarkedOnLab(Err("it is gone".into())));
    assert!(stage.model.toasts.iter().any(|toast| toast.text == "it is gone"));
}

#[test]
fn sessions_run_again_show_here() {
    let mut stage = stage();
    stage.keys("4").tell(Msg::Again(Ok(Box::new(super::plan().into()))));
    assert_eq!(stage.model.screen, Screen::Lab);
    assert!(stage.model.running() && stage.model.lab.data.session.is_none());
    stage.tell(Msg::NotBegun("no thread".into()));
    assert_eq!((stage.model.screen, stage.model.running()), (Screen::Lab, false));
}
