use super::*;
use crate::plan::{Plan, TargetSpec};
use crate::record::{Grounds, Severity, TargetEvidence, Verdict, Warning};
use crate::session::testing;

/// Two cells with five trials each, of `file`.
fn session(file: &tempfile::NamedTempFile) -> Session {
    file.as_file().set_len(65536).unwrap();
    let mut session = testing::session(2);
    let mut plan = Plan {
        target: TargetSpec::File { path: file.path().into(), size: 65536 },
        ..session.plan.clone()
    };
    plan.cells.iter_mut().for_each(|cell| cell.span = 65536);
    session.replace_plan(plan);
    session
        .trials
        .extend((0..2).flat_map(|cell| {
            (1..=5).map(move |round| testing::trial(cell, round, 1 << 20).into())
        }));
    session
}

fn run(session: &Session, judged: bool) -> Result<Plan, BaselineError> {
    plan_baseline(session, &[], &[], false, &Settings::default(), judged)
}

#[test]
fn baseline_plan_keeps_its_cells() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let session = session(&file);
    assert_eq!(run(&session, true).unwrap(), session.plan);
    let free = Settings { trials: Some(9), seed: Some(3), ..Settings::default() };
    let plan = plan_baseline(&session, &[], &[], false, &free, true).unwrap();
    assert_eq!(plan, Plan { trials: Some(9), seed: 3, ..session.plan });
}

#[test]
fn what_cannot_be_compared_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let base = session(&file);
    let mut other = base.clone();
    let target = TargetEvidence { fs: "zfs".into(), ..TargetEvidence::default() };
    other.grounds = Some(Grounds { target, ..Grounds::default() });
    let error = run(&other, false).unwrap_err().to_string();
    assert!(error.contains("measured on zfs, this is "), "{error}");
    let mut missing = base.clone();
    let mut plan = base.plan.clone();
    plan.cells[1].backend.id = "nosuch".into();
    missing.replace_plan(plan);
    missing.trials = base.trials.clone();
    let error = run(&missing, false).unwrap_err().to_string();
    assert!(
        error.contains("not comparable: nosuch 8 KiB warm of the baseline is unavailable here"),
        "{error}"
    );
    // It could not be had then either.
    missing.errors[1] = Some("no such backend".into());
    assert!(run(&missing, false).is_ok());
    file.as_file().set_len(65537).unwrap();
    assert!(matches!(run(&base, false), Err(BaselineError::Size { base: 65536, here: 65537 })));
}

#[test]
fn gate_needs_comparable_cells() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let base = session(&file);
    let mut few = base.clone();
    few.trials.retain(|trial| trial.round < 5);
    assert!(run(&few, false).is_ok() && matches!(run(&few, true), Err(BaselineError::Unsound(_))));
    few.trials.clear();
    assert!(matches!(run(&few, false), Err(BaselineError::Empty(_))));
    let mut wrong = base.clone();
    let [message, evidence, remedy] = ["holes", "", ""].map(String::from);
    let warning = Warning {
        id: "holes".into(),
        severity: Severity::Wrong,
        message,
        evidence,
        remedy: remedy.into(),
    };
    wrong.verdicts[0] = Some(Verdict { warnings: vec![warning], ..Verdict::default() }.into());
    assert_eq!(judgeable(&wrong), [base.plan.cells[1].clone()]);
    wrong.errors[1] = Some("EIO".into());
    assert!(matches!(run(&wrong, true), Err(BaselineError::Unsound(_))));
    let free = Settings { trials: Some(4), ..Settings::default() };
    assert!(matches!(
        plan_baseline(&base, &[], &[], false, &free, true),
        Err(BaselineError::Trials(4))
    ));
    assert!(plan_baseline(&base, &[], &[], false, &free, false).is_ok());
}
