use std::time::UNIX_EPOCH;

use super::*;
use crate::analysis::{Outcome, compare, compare_with};
use crate::record::End;
use crate::session::{NewSession, Recorder, load, testing};

/// A saved run of two cells whose trials hardly scatter, at `speed` MiB/s.
fn run(dir: &Path, at: u64, speed: u64) -> Session {
    let created = UNIX_EPOCH + testing::CREATED + std::time::Duration::from_secs(60 * at);
    let mut recorder = Recorder::create(
        dir,
        &NewSession {
            name: None,
            slug: "a",
            host: &Default::default(),
            plan: &testing::plan(2),
            created,
        },
    )
    .unwrap();
    for (cell, round) in (1..=6).flat_map(|round| [(0, round), (1, round)]) {
        recorder.record(&testing::trial_event(
            cell,
            round,
            (speed << 20) + u64::from(round % 3) * 4096,
        ));
    }
    recorder.finish(End::Finished);
    load(&dir.join(recorder.id()).with_extension("jsonl")).unwrap()
}

#[test]
fn usual_variation_is_no_difference() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let speeds = [1000, 1300, 900, 1250, 1100, 1400];
    let runs: Vec<Session> =
        speeds.iter().zip(0..).map(|(speed, at)| run(dir, at, *speed)).collect();
    let [a, b] = [&runs[0], &runs[1]];
    let outcome = |kept: &SavedRuns| {
        compare_with(&[a, b], kept).unwrap().others[0]
            .cells
            .iter()
            .map(|pair| pair.outcome)
            .collect::<Vec<_>>()
    };
    // By their own trials the two differ beyond doubt.
    assert_eq!(compare(&[a, b]).unwrap().others[0].cells[0].outcome, Outcome::Faster);
    let found = saved_runs(dir, &[a, b]);
    assert_eq!((found.runs(), outcome(&found)), (4, vec![Outcome::Unclear; 2]));
    let versus = compare_with(&[a, b], &found).unwrap().others.remove(0);
    assert!(
        versus.describe().contains("as seen in 4 other saved runs of these cells"),
        "{}",
        versus.describe()
    );
    assert!(
        versus.text.contains("2 cells are inconclusive: a difference of up to"),
        "{}",
        versus.text
    );
    // Three times as fast is more than the machine differs by itself.
    let fast = run(dir, 9, 3900);
    let versus = compare_with(&[a, &fast], &saved_runs(dir, &[a, &fast])).unwrap().others.remove(0);
    assert_eq!(versus.cells[0].outcome, Outcome::Faster, "{}", versus.describe());
    // The gate judges by the same intervals: here it passes a run that is 10 % slower.
    let slow = &runs[2];
    let ruled = |kept: &SavedRuns| {
        crate::analysis::judge_run(a, &compare_with(&[a, slow], kept).unwrap().others[0], 0.05)
    };
    assert_eq!(ruled(&SavedRuns::default()).slower.len(), 2);
    let ruling = ruled(&saved_runs(dir, &[a, slow]));
    assert!(
        ruling.slower.is_empty()
            && ruling.judged == 2
            && ruling.text().contains("saved runs of these cells"),
        "{}",
        ruling.text()
    );
}

#[test]
fn other_machines_runs_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let runs: Vec<Session> = (0..6).map(|at| run(dir, at, 1000 + 10 * at)).collect();
    let other = |change: fn(&mut Session)| {
        let mut session = runs[0].clone();
        change(&mut session);
        saved_runs(dir, &[&session, &runs[1]]).runs()
    };
    assert_eq!(other(|_| {}), 4);
    assert_eq!(other(|session| session.host.kernel = "other".into()), 0);
    assert_eq!(other(|session| session.plan.target = crate::plan::TargetSpec::None), 0);
    assert_eq!(saved_runs(&dir.join("none"), &[&runs[0], &runs[1]]).runs(), 0);
    assert_eq!(saved_runs(dir, &[]).runs(), 0);
}
