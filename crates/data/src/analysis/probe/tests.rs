use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::*;
use crate::analysis::{answer_with, compare};
use crate::plan::{Plan, TargetSpec};
use crate::record::{End, Event};
use crate::session::{NewSession, Recorder, list, load, testing};

fn plan() -> Plan {
    let probes = vec![
        ProbeCell::new("clock", []),
        ProbeCell::new("call", [("arguments", 3.into())]),
        ProbeCell::new("fork", []),
    ];
    Plan { target: TargetSpec::None, probes, ..testing::plan(0) }
}

fn figure(cell: u32, round: u32, value: f64) -> ProbeTrial {
    ProbeTrial { cell, round, value, unit: Unit::Nanos, cycles: Some(value * 2.0), short: false }
}

fn event(cell: u32, round: u32, value: f64) -> Event {
    Event::Probe { trial: figure(cell, round, value) }
}

fn warning(severity: Severity) -> Warning {
    let [message, evidence, remedy] =
        ["the CPU changed\nits frequency", "1 to 2 GHz", ""].map(String::from);
    Warning { id: "frequency".into(), severity, message, evidence, remedy: remedy.into() }
}

fn session() -> Session {
    Session::new(
        "20261121-093011-lab".into(),
        String::new(),
        "2026-11-21T09:30:11Z".into(),
        Default::default(),
        plan(),
    )
}

#[test]
fn probes_survive_a_save() {
    let dir = tempfile::tempdir().unwrap();
    let created = UNIX_EPOCH + testing::CREATED;
    let mut recorder = Recorder::create(
        dir.path(),
        &NewSession { name: None, slug: "lab", host: &Default::default(), plan: &plan(), created },
    )
    .unwrap();
    let mut told = session();
    let estimate = Some(Estimate { low: 12.0, high: 14.0, reason: "30 cycles".into() });
    let known = ProbeFindings {
        estimate,
        warnings: vec![warning(Severity::Misleading)],
        ..ProbeFindings::default()
    };
    let failed = ProbeFindings { error: Some("EAGAIN".into()), ..ProbeFindings::default() };
    let events = [
        event(0, 1, 25.5),
        event(1, 1, 1.25),
        event(7, 1, 1.0),
        event(0, 2, 26.0),
        event(0, 3, f64::NAN),
        Event::Findings { cell: 0, findings: Arc::new(known) },
        Event::Findings { cell: 2, findings: Arc::new(failed) },
        Event::Findings { cell: 9, findings: Arc::default() },
        Event::End { reason: End::Finished, seconds: Some(1.5) },
    ];
    for event in &events {
        recorder.record(event);
        told.apply(event);
    }
    let loaded = load(recorder.path()).unwrap();
    told.probe_trials.retain(ProbeTrial::is_sound);
    told.probe_findings[0].warnings[0].message = "the CPU changed its frequency".into();
    assert_eq!(loaded, told);
    assert_eq!(
        (loaded.worst(), loaded.has_failed_cell(), loaded.end),
        (Some(Severity::Misleading), true, Some(End::Finished))
    );
    let listed = list(dir.path()).unwrap().remove(0);
    assert_eq!(
        (listed.cells, listed.measured, listed.failed, listed.target.as_str()),
        (3, Some(2), 1, "-")
    );
    assert_eq!(listed.verdict.map(|worst| worst.name()), Some("misleading"));
    let text = std::fs::read_to_string(recorder.path()).unwrap();
    assert!(
        text.contains(r#"{"kind":"probe","cell":0,"round":1,"value":25.5,"unit":"ns","cycles":51.0,"short":false,"line":3,"#),
        "{text}"
    );
}

#[test]
fn incomplete_probe_lines_are_damage() {
    let dir = tempfile::tempdir().unwrap();
    let created = UNIX_EPOCH + testing::CREATED;
    for line in [
        r#"{"kind":"probe","cell":3,"round":1,"value":1.0,"unit":"ns","cycles":null}"#,
        r#"{"kind":"probe","cell":0,"round":1,"value":-1.0,"unit":"ns","cycles":null}"#,
        r#"{"kind":"probe","cell":0,"round":1,"value":1.0,"unit":"miles","cycles":null}"#,
        r#"{"kind":"findings","cell":4294967295}"#,
    ] {
        let recorder = Recorder::create(
            dir.path(),
            &NewSession {
                name: None,
                slug: "lab",
                host: &Default::default(),
                plan: &plan(),
                created,
            },
        )
        .unwrap();
        let line = crate::session::seal(format!("{line}\n").as_bytes(), 3);
        let text = [std::fs::read(recorder.path()).unwrap(), line].concat();
        std::fs::write(recorder.path(), text).unwrap();
        let session = load(recorder.path()).unwrap();
        assert_eq!(
            (session.probe_trials.len(), session.lost),
            (0, 1),
            "{:?}",
            session.probe_trials
        );
    }
}

#[test]
fn a_result_has_median_and_facts() {
    let mut session = session();
    session.probe_trials = [21.0, 20.0, 25.0]
        .into_iter()
        .zip(1..)
        .map(|(value, round)| figure(0, round, value))
        .collect();
    session.probe_trials.push(ProbeTrial { short: true, ..figure(0, 4, 900.0) });
    session.probe_trials.push(ProbeTrial { unit: Unit::Bytes, ..figure(0, 5, 1.0) });
    session.probe_trials.push(figure(1, 1, 2.0));
    session.end = Some(End::Budget);
    let found = probes(&session);
    assert_eq!((found.len(), found[0].trials.len(), found[0].cycles), (2, 4, Some(42.0)));
    assert_eq!(found[0].value.map(|of| (of.summary.median, of.unit)), Some((21.0, "ns")));
    let missed = skipped_probes(&session);
    assert_eq!(
        (missed.len(), missed[0].cell.probe.as_str(), missed[0].reason.as_str()),
        (1, "fork", "the budget ended before its first trial")
    );
    assert_eq!(
        answer_with(&session, &[], &found).text,
        "2 probes were measured: from call, arguments 3 (2.00 ns) to clock (21.0 ns)."
    );
}

/// A session of five trials of each cell.
fn measured(cells: &[(ProbeCell, Unit, f64)]) -> Session {
    let probes = cells.iter().map(|(cell, ..)| cell.clone()).collect();
    let plan = Plan { target: TargetSpec::None, probes, ..testing::plan(0) };
    let mut session =
        Session::new(String::new(), String::new(), String::new(), Default::default(), plan);
    for (cell, (_, unit, value)) in (0..).zip(cells) {
        let scatter = [1.0, 0.99, 1.01, 0.995, 1.004].into_iter().zip(1..);
        session.probe_trials.extend(
            scatter.map(|(part, round)| ProbeTrial {
                unit: *unit,
                ..figure(cell, round, value * part)
            }),
        );
    }
    session
}

#[test]
fn units_decide_what_is_faster() {
    fn cell(name: &str) -> ProbeCell {
        ProbeCell::new(name, [])
    }
    let of = |values: [f64; 4]| {
        let units = [
            ("fork", Unit::Nanos),
            ("bandwidth", Unit::BytesPerSecond),
            ("metadata", Unit::PerSecond),
            ("file-cache", Unit::Bytes),
        ];
        units
            .into_iter()
            .zip(values)
            .map(|((name, unit), value)| (cell(name), unit, value))
            .collect::<Vec<_>>()
    };
    let a = measured(&of([200.0, 1e9, 1000.0, 1e10]));
    let b = measured(&of([100.0, 2e9, 500.0, 2e10]));
    let versus = compare(&[a.clone(), b]).unwrap().others.remove(0);
    let said: Vec<_> =
        versus.probes.iter().map(|pair| (pair.outcome.name(), pair.ratio.unwrap().ratio)).collect();
    assert_eq!(
        said.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["faster", "faster", "slower", "larger"]
    );
    assert!(
        said.iter()
            .zip([2.0, 2.0, 0.5, 2.0])
            .all(|((_, ratio), wanted)| (ratio - wanted).abs() < 1e-9),
        "{said:?}"
    );
    assert!(versus.text.starts_with("Of 4 probes, B against A: faster in "), "{}", versus.text);
    assert!(
        versus.text.contains("slower in metadata 2.00x [")
            && versus.text.contains("larger in file-cache 2.00x ["),
        "{}",
        versus.text
    );
    assert!(versus.cells.is_empty() && versus.probes_alone.is_empty());
    let same = compare(&[a.clone(), a.clone()]).unwrap().others.remove(0);
    assert_eq!(same.text, "Of 4 probes, B against A: no difference in 4.");
    let other = measured(&[
        (cell("fork"), Unit::BytesPerSecond, 1.0),
        (ProbeCell::new("call", [("arguments", 1.into())]), Unit::Nanos, 1.0),
    ]);
    let versus = compare(&[a, other]).unwrap().others.remove(0);
    assert_eq!(versus.probes[0].reason.as_deref(), Some("the units differ"));
    assert_eq!((versus.probes.len(), versus.probes_alone.len()), (1, 4));
    assert!(versus.text.ends_with("4 probes measured in only one of the two."), "{}", versus.text);
}

#[test]
fn probes_have_figures_of_references() {
    let lab = crate::session::reference("xeon-os").unwrap().session().clone();
    let cell = lab.plan.probes[0].clone();
    let mine = Session { reference: None, ..lab.clone() };
    let found = reported(&cell, Some(Unit::Nanos), &mine);
    assert_eq!(found.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ["xeon-os"]);
    assert_eq!(reported(&cell, Some(Unit::Bytes), &mine), []);
    assert_eq!(reported(&cell, Some(Unit::Nanos), &lab), []);
    // Its program reads lines of text, one by one: the probe reads blocks.
    let mut mine = mine;
    let at = |of: &&ProbeCell| of.probe == "file-read";
    mine.plan.probes = lab.plan.probes.iter().filter(at).cloned().collect();
    mine.probe_findings = vec![ProbeFindings::default(); mine.plan.probes.len()];
    let trial = |cell: usize| ProbeTrial { cell: cell as u32, ..lab.probe_trials[0] };
    mine.probe_trials = (0..mine.plan.probes.len()).map(trial).collect();
    let own = probes(&mine);
    let noted = own.iter().filter(|of| of.warnings.iter().any(|of| of.id == "other-experiment"));
    assert_eq!((noted.count(), own[0].reference.len()), (own.len(), 1));
    let versus = crate::analysis::compare(&[&lab, &mine]).unwrap().others.remove(0);
    let pairs = versus.probes.iter();
    assert!(pairs.clone().count() == 20 && pairs.clone().all(|pair| pair.ratio.is_none()));
    assert!(!versus.text.contains("faster"), "{}", versus.text);
}
