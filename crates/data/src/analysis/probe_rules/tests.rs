use super::*;
use crate::analysis::probes;
use crate::plan::{Plan, ProbeCell, TargetSpec};
use crate::record::{Estimate, ProbeTrial};
use crate::session::{Session, testing};

/// A session of one probe with these figures, expected at 10 to 20 ns.
fn session(values: &[f64]) -> Session {
    let plan = Plan {
        target: TargetSpec::None,
        probes: vec![ProbeCell::new("clock", [])],
        ..testing::plan(0)
    };
    let mut session = Session::new(
        "lab".into(),
        String::new(),
        "2026-11-21T09:30:11Z".into(),
        Default::default(),
        plan,
    );
    let figure = |(round, value): (u32, &f64)| ProbeTrial {
        cell: 0,
        round,
        value: *value,
        unit: Unit::Nanos,
        cycles: None,
        short: false,
    };
    session.probe_trials = (1..).zip(values).map(figure).collect();
    session.probe_findings[0].estimate =
        Some(Estimate { low: 10.0, high: 20.0, reason: "30 cycles".into() });
    session
}

fn found(values: &[f64]) -> Vec<(String, Severity)> {
    probes(&session(values))[0]
        .warnings
        .iter()
        .map(|warning| (warning.id.to_string(), warning.severity))
        .collect()
}

#[test]
fn each_rule_fires_alone() {
    let one = |id: &str, severity| vec![(id.to_string(), severity)];
    assert_eq!(found(&[15.0; 11]), []);
    assert_eq!(found(&[15.0]), one("few-batches", Severity::Misleading));
    assert_eq!(found(&[10.0, 12.0, 14.0, 16.0, 60.0, 70.0]), one("wide", Severity::Misleading));
    assert_eq!(found(&[14.0, 14.5, 15.0, 15.2, 15.5, 16.0]), one("wide", Severity::Note));
    assert_eq!(found(&[80.0; 11]), one("beyond-estimate", Severity::Misleading));
    assert_eq!(found(&[4.0; 11]), one("beyond-estimate", Severity::Misleading));
    // Twice the estimate is within the accuracy of an estimate.
    assert_eq!(found(&[40.0; 11]), []);
}

#[test]
fn warnings_have_evidence_and_remedy() {
    let warnings = probes(&session(&[80.0])).remove(0).warnings;
    assert_eq!(warnings.len(), 2);
    let [few, beyond] = &warnings[..] else { panic!("{warnings:?}") };
    assert_eq!(
        (few.message.as_str(), few.evidence.as_str()),
        ("1 batch is too few for a confidence interval", "5 are needed")
    );
    assert!(beyond.message.starts_with("the figure is 4.00 times the upper end"), "{beyond:?}");
    assert_eq!(beyond.evidence, "measured 80.0 ns, estimated 10.0 ns to 20.0 ns: 30 cycles");
    assert!(warnings.iter().all(|warning| !warning.remedy.text.is_empty()));
}

#[test]
fn reported_figures_are_not_judged() {
    let mut reported = session(&[80.0]);
    reported.reference = Some("the report's machine");
    assert_eq!(probes(&reported)[0].warnings, []);
}
