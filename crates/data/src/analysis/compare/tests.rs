use std::sync::Arc;

use super::*;
use crate::plan::{Cache, Job, Op, Skipped};
use crate::record::{Severity, Warning};
use crate::session::testing::{self, job};

const MIB: u64 = 1 << 20;
/// Trials of one cell that scatter by 2 %.
const SCATTER: [u64; 5] = [1000, 990, 1010, 995, 1004];

/// A session of these jobs, each with its speed in KiB per trial.
fn session(cells: &[(Job, u64)]) -> Session {
    let mut session = testing::session(0);
    let mut plan = session.plan.clone();
    plan.cells = cells.iter().map(|(job, _)| job.clone()).collect();
    session.replace_plan(plan);
    for (cell, (_, speed)) in cells.iter().enumerate() {
        session.trials.extend(
            (1..).zip(SCATTER).map(|(round, part)| {
                testing::trial(cell as u32, round, speed * part * 1024).into()
            }),
        );
    }
    session
}

fn warn(session: &mut Session, cell: usize, id: &'static str, severity: Severity) {
    let [message, evidence, remedy] =
        ["the bytes were never stored", "256 MiB", ""].map(String::from);
    let warning = Warning { id: id.into(), severity, message, evidence, remedy: remedy.into() };
    Arc::make_mut(session.verdicts[cell].get_or_insert_default()).warnings.push(warning);
}

fn sweep(backend: &str, speeds: &[u64]) -> Vec<(Job, u64)> {
    speeds
        .iter()
        .enumerate()
        .map(|(at, speed)| (job(backend, 4096 << at, Cache::Warm), *speed))
        .collect()
}

fn versus(a: &Session, b: &Session) -> Versus {
    compare(&[a.clone(), b.clone()]).unwrap().others.remove(0)
}

fn outcomes(versus: &Versus) -> Vec<Outcome> {
    versus.cells.iter().map(|pair| pair.outcome).collect()
}

#[test]
fn one_line_sums_it_up() {
    let a = session(
        &[sweep("uring", &[100, 200, 400, 800]), sweep("read", &[100, 200, 400, 800])].concat(),
    );
    let b = session(
        &[sweep("uring", &[131, 262, 400, 800]), sweep("read", &[100, 200, 400, 800])].concat(),
    );
    let found = versus(&a, &b);
    assert_eq!(
        found.text,
        "B against A: uring 1.31x [1.29-1.33] faster below 16 KiB, no difference from 16 KiB on; no difference in the other 4 cells."
    );
    assert_eq!(found.differences, []);
    assert!(versus(&b, &a).text.contains("uring 1.31x [1.29-1.33] slower below 16 KiB"));
    assert_eq!(versus(&a, &a).text, "B against A: no difference in any of 8 cells.");
}

#[test]
fn jumps_are_listed_and_variation_ranged() {
    let a = session(&sweep("read", &[100; 6]));
    let text = |speeds: &[u64]| versus(&a, &session(&sweep("read", speeds))).text;
    assert_eq!(
        text(&[300, 400, 600, 300, 300, 300]),
        "B against A: 3.00x to 6.00x faster in all 6 cells."
    );
    assert_eq!(
        text(&[150, 150, 100, 100, 50, 50]),
        "B against A: read 1.50x [1.48-1.52] faster from 4 KiB to 8 KiB, no difference from 16 KiB to 32 KiB, 2.00x [1.98-2.02] slower from 64 KiB to 128 KiB."
    );
    assert_eq!(
        text(&[150, 100, 150, 100, 150, 50]),
        "B against A: read faster at 3 of 6, slower at 1 of 6, no difference at 2 of 6."
    );
    assert!(!text(&[150, 100, 100, 100, 100, 100]).contains("chance"));
    let lone = text(&[102, 100, 100, 100, 100, 100]);
    assert!(lone.ends_with("Among 6 equal cells, chance alone would also show 1 difference: repeat the runs before you trust this."), "{lone}");
}

#[test]
fn common_moves_are_not_differences() {
    let speeds = |speeds: &[u64]| session(&sweep("read", speeds));
    let a = speeds(&[100; 6]);
    let slower = versus(&a, &speeds(&[80, 80, 82, 79, 80, 81]));
    assert_eq!(outcomes(&slower), [Outcome::Unclear; 6]);
    let told = "6 cells moved together with all of their kind, to 0.79x to 0.82x: the machine may \
                have done that. Trials of both in turns (--between) would tell.";
    assert!(slower.text.ends_with(told), "{}", slower.text);
    // One that moved further than the others differs, as does one that moved the other way.
    let one = outcomes(&versus(&a, &speeds(&[40, 80, 82, 79, 80, 81])));
    assert_eq!((one[0], one[1]), (Outcome::Slower, Outcome::Unclear));
    let other = outcomes(&versus(&a, &speeds(&[120, 80, 82, 79, 80, 81])));
    assert_eq!((other[0], other[1]), (Outcome::Faster, Outcome::Unclear));
    // Saved runs that moved less show that the machine does not.
    let saved = |speed: u64| {
        let mut saved = SavedRuns::default();
        for by in 0..5 {
            assert!(saved.add(&speeds(&[speed + by; 6]), &a.plan.cells, &[]));
        }
        saved
    };
    let b = speeds(&[80, 80, 82, 79, 80, 81]);
    let found = |saved: &SavedRuns| compare_with(&[&a, &b], saved).unwrap().others.remove(0);
    assert_eq!(outcomes(&found(&saved(100))), [Outcome::Slower; 6]);
    let stepped = versus(&speeds(&[1000; 6]), &b);
    assert_eq!(outcomes(&stepped), [Outcome::Slower; 6], "no machine does that by itself");
}

#[test]
fn cells_match_by_job() {
    let a = session(&sweep("read", &[100, 100]));
    let mut b = session(&[sweep("read", &[100]), sweep("mmap", &[100])].concat());
    b.plan.skipped.push(Skipped {
        cell: job("read", 8192, Cache::Warm),
        reason: "the block\nis larger".into(),
    });
    let found = versus(&a, &b);
    assert_eq!((found.cells.len(), found.cells[0].cell.block), (1, 4096));
    let alone: Vec<_> = found
        .alone
        .iter()
        .map(|a| (a.only_in.as_str(), a.cell.label(), a.reason.as_deref()))
        .collect();
    assert_eq!(
        alone,
        [
            ("A", "read 8 KiB warm".into(), Some("the block is larger")),
            ("B", "mmap 4 KiB warm".into(), None)
        ]
    );
    assert!(found.text.ends_with("2 cells measured in only one of the two."), "{}", found.text);
    let none = versus(&a, &session(&sweep("mmap", &[100])));
    assert!(
        none.cells.is_empty() && none.text.contains("nothing to compare") && none.alone.len() == 3,
        "{none:?}"
    );
}

#[test]
fn other_file_sizes_are_noted() {
    let a = session(&sweep("read", &[100, 100]));
    let larger: Vec<_> = sweep("read", &[100, 100])
        .into_iter()
        .map(|(job, speed)| (Job { span: 2 << 30, ..job }, speed))
        .collect();
    let found = versus(&a, &session(&larger));
    assert_eq!(found.cells.len(), 2);
    let span = Difference {
        about: "settings",
        what: "span".into(),
        base: "1 GiB".into(),
        other: "2 GiB".into(),
    };
    assert_eq!(found.differences, [span]);
    // Two spans in one session make the span an axis.
    let both = session(&[larger, sweep("read", &[100])].concat());
    assert_eq!(versus(&a, &both).cells.len(), 1);
}

#[test]
fn untrusted_cells_are_never_faster() {
    let a = session(&sweep("read", &[100; 5]));
    let mut b = session(&sweep("read", &[900; 5]));
    warn(&mut b, 0, "holes", Severity::Wrong);
    b.trials.retain(|trial| trial.cell != 1 || trial.round < 5);
    b.errors[2] = Some("EIO".into());
    warn(&mut b, 3, "disturbed", Severity::Misleading);
    let mut found = versus(&a, &b);
    assert_eq!(
        outcomes(&found),
        [Outcome::Wrong, Outcome::TooFew, Outcome::Failed, Outcome::Faster, Outcome::Faster]
    );
    assert!(found.cells[1].ratio.is_some_and(|ratio| ratio.interval().is_none()));
    assert_eq!(found.cells[0].reason.as_deref(), Some("the bytes were never stored"));
    for said in [
        "1 cell with fewer than 5 trials",
        "1 cell not judged because one side is marked wrong",
        "1 cell not judged because one side failed",
    ] {
        assert!(found.text.contains(said), "{}", found.text);
    }
    found.differences.retain(|d| d.about == "warnings");
    assert_eq!(
        found.differences.iter().map(|d| (d.what.as_str(), d.other.as_str())).collect::<Vec<_>>(),
        [("disturbed", "1 of 5 cells"), ("holes", "1 of 5 cells")]
    );
}

#[test]
fn other_differences_keep_their_order() {
    let a = session(&sweep("read", &[100]));
    let mut b = session(&sweep("read", &[100]));
    (b.host.name, b.host.kernel) = ("other".into(), "6.1.0\u{1b}[31m".into());
    b.plan.trial_time.low = std::time::Duration::from_millis(100);
    b.plan.target = crate::plan::TargetSpec::File { path: "/data/b".into(), size: MIB };
    let found: Vec<_> = versus(&a, &b)
        .differences
        .into_iter()
        .map(|d| (d.about, d.what, d.base, d.other))
        .collect();
    let row = |about, what: &str, base: &str, other: &str| {
        (about, what.into(), base.into(), other.into())
    };
    assert_eq!(
        found,
        [
            row("settings", "trial time", "300ms", "100ms to 300ms"),
            row("host", "name", "-", "other"),
            row("kernel", "release", "-", "6.1.0[31m"),
            row("file", "path", "/data/file", "/data/b"),
            row("file", "size", "1 GiB", "1 MiB"),
        ]
    );
}

#[test]
fn calls_are_compared_by_operations() {
    let seek = |speed| session(&[(Job { op: Op::Seek, ..job("read", 1, Cache::AsIs) }, speed)]);
    let found = versus(&seek(100), &seek(200));
    assert_eq!(
        (outcomes(&found), found.cells[0].base.unwrap().unit),
        (vec![Outcome::Faster], "1/s")
    );
}

#[test]
fn several_sessions_compare_with_the_first() {
    let all: Vec<Session> = (1..=30).map(|n| session(&sweep("read", &[100 * n]))).collect();
    let found = compare(&all).unwrap();
    let letters: Vec<&str> = found.others.iter().map(|other| other.side.letter.as_str()).collect();
    assert_eq!(
        (found.base.letter.as_str(), letters.len(), letters[0], letters[24], letters[28]),
        ("A", 29, "B", "Z", "S30")
    );
    assert!(found.others[1].text.starts_with("C against A: 3.00x ["), "{}", found.others[1].text);
    assert_eq!(compare::<Session>(&[]), None);
    assert_eq!(compare(&all[..1]).unwrap().others, []);
}

#[test]
fn ends_near_one_get_more_digits() {
    assert_eq!(
        [1.31, 12.34, 1.004, 0.996, 0.5, 0.031, 1e-9, 1e9].map(times),
        ["1.31", "12", "1.004", "0.996", "0.50", "0.031", "1.0e-9", "1.0e9"]
    );
}
