use super::*;
use crate::analysis::{SavedRuns, compare, compare_with};
use crate::plan::Cache;
use crate::record::{End, Severity, Verdict, Warning};
use crate::session::Session;
use crate::session::testing::{self, job};
use crate::stats::testing::Rng;

const LIMIT: f64 = 0.05;
/// The number of cells of a plan, as many as in the default one.
const CELLS: u32 = 24;

/// Returns a session whose cells have these speeds, by trial.
fn session(cells: u32, trials: u32, mut speed: impl FnMut(u32) -> f64) -> Session {
    let mut session = testing::session(0);
    let mut plan = session.plan.clone();
    plan.cells = (0..cells)
        .map(|n| job(["read", "mmap"][n as usize % 2], 512 << (n / 2), Cache::Warm))
        .collect();
    session.replace_plan(plan);
    for (cell, round) in (0..cells).flat_map(|cell| (1..=trials).map(move |round| (cell, round))) {
        session
            .trials
            .push(testing::trial(cell, round, (speed(cell) * f64::from(1 << 30)) as u64).into());
    }
    session
}

fn versus(base: &Session, run: &Session) -> Versus {
    compare(&[base.clone(), run.clone()]).unwrap().others.remove(0)
}

fn ruled(base: &Session, run: &Session) -> Ruling {
    judge_run(base, &versus(base, run), LIMIT)
}

/// Returns five trials per cell that scatter by 1 %.
fn steady(speeds: &[f64]) -> Session {
    let mut turn = 0;
    session(speeds.len() as u32, 5, |cell| {
        turn += 1;
        speeds[cell as usize] * (1.0 + 0.01 * f64::from(turn % 5 - 2) / 2.0)
    })
}

#[test]
fn slower_needs_the_whole_interval() {
    let base = steady(&[1.0; 4]);
    let same = ruled(&base, &base);
    assert_eq!((same.slower.len(), same.judged, same.is_open()), (0, 4, false));
    let said = "Gate: none of 4 cells is slower than the baseline by more than 5 %; the intervals detect losses of 7 % or more. \
                From run to run, results vary by about 0.5 %, estimated from the halves of both runs: \
                the intervals include that. 3 more saved runs of these cells (--save) would measure that; \
                more trials narrow the intervals.";
    assert_eq!(same.text(), said);
    assert!(
        same.seen.is_some_and(|(least, most)| (0.06..0.07).contains(&least) && least <= most),
        "{same:?}"
    );
    // The second is certainly slower, but perhaps by less than 5 %.
    let found = ruled(&base, &steady(&[0.5, 0.945, 0.8, 2.0]));
    assert_eq!(versus(&base, &steady(&[0.5, 0.945, 0.8, 2.0])).cells[1].outcome, Outcome::Slower);
    let cells: Vec<&str> = found.slower.iter().map(|pair| pair.cell.backend.id.as_str()).collect();
    assert_eq!((cells, found.slower[0].cell.block, found.judged), (vec!["read", "read"], 512, 4));
    let said = "Gate: 2 of 4 cells are slower than the baseline by more than 5 %: read 512 B warm 0.50x [0.49-0.51]; read 1 KiB warm 0.80x [0.79-0.81]. From run to run, ";
    assert!(found.text().starts_with(said), "{}", found.text());
    let narrow = judge_run(&base, &versus(&base, &steady(&[0.945; 4])), 0.0);
    assert_eq!(narrow.slower.len(), 4);
}

#[test]
fn unjudged_cells_leave_the_gate_open() {
    let base = steady(&[1.0; 5]);
    let mut run = base.clone();
    run.end = Some(End::Budget);
    run.trials.retain(|trial| trial.cell != 0 && (trial.cell != 1 || trial.round < 4));
    run.errors[2] = Some("EIO".into());
    let [message, evidence, remedy] = ["it is a hole", "", ""].map(String::from);
    let warning = Warning {
        id: "holes".into(),
        severity: Severity::Wrong,
        message,
        evidence,
        remedy: remedy.into(),
    };
    run.verdicts[3] = Some(Verdict { warnings: vec![warning], ..Verdict::default() }.into());
    let found = ruled(&base, &run);
    let open: Vec<(&str, bool)> =
        found.open.iter().map(|open| (open.why.as_str(), open.wrong)).collect();
    let wanted = [
        ("the budget ended before its first trial", false),
        ("3 of the 5 trials that an interval needs", false),
        ("EIO", false),
        ("it is a hole", true),
    ];
    assert_eq!((open, found.judged, found.is_open()), (wanted.to_vec(), 1, true));
    assert!(
        found.text().contains(
            "Not judged: read 512 B warm, and 3 more: the budget ended before its first trial."
        ),
        "{}",
        found.text()
    );
    let mut stalled = base.clone();
    stalled.trials[0] = testing::trial(0, 1, 0).into();
    let found = ruled(&base, &stalled);
    assert!(found.open.len() == 1 && found.open[0].why.contains("reaches down to 0"), "{found:?}");
    assert_eq!(ruled(&stalled, &base).unheld, 1);
    // The other way round, only the fifth cell is requested.
    let turned = ruled(&run, &base);
    assert_eq!(
        (turned.open.len(), turned.unheld, turned.judged, turned.is_open()),
        (0, 4, 1, false)
    );
    assert!(
        turned.text().ends_with("The baseline has no valid figure for 4 cells."),
        "{}",
        turned.text()
    );
    assert!(ruled(&run, &Session { trials: Vec::new(), ..run.clone() }).is_open());
}

type Draw = fn(&mut Rng) -> f64;

/// Speeds of equal runs: the spread of a quiet machine (1 to 5 %), two modes, heavy tails, and a
/// machine with other users.
const SHAPES: &[(&str, Draw)] = &[
    ("log-normal, 2 %", |r| (0.02 * r.normal()).exp()),
    ("log-normal, 5 %", |r| (0.05 * r.normal()).exp()),
    (
        "two modes, one in five",
        |r| if r.uniform() < 0.8 { 1.0 } else { 0.8 } * (0.01 * r.normal()).exp(),
    ),
    ("two modes alike", |r| if r.uniform() < 0.5 { 1.0 } else { 0.9 } * (0.01 * r.normal()).exp()),
    ("heavy tails, 5 %", |r| (0.03 * r.student3()).exp()),
    ("log-normal, 10 %", |r| (0.1 * r.normal()).exp()),
];

#[test]
fn equal_runs_rarely_fire_the_gate() {
    let mut rng = Rng::new(11);
    let runs = 25;
    for trials in [5, 7, 10] {
        for (name, draw) in SHAPES {
            let (mut different, mut fired) = (0, 0);
            for _ in 0..runs {
                let (base, run) = (
                    session(CELLS, trials, |_| draw(&mut rng)),
                    session(CELLS, trials, |_| draw(&mut rng)),
                );
                let versus = versus(&base, &run);
                different += versus
                    .cells
                    .iter()
                    .filter(|pair| matches!(pair.outcome, Outcome::Faster | Outcome::Slower))
                    .count();
                fired += usize::from(!judge_run(&base, &versus, LIMIT).slower.is_empty());
            }
            // Three standard errors above 5 %.
            let cells = runs * CELLS as usize;
            assert!(
                different * 20 <= cells + 320,
                "{name}, {trials} trials: {different} of {cells} cells"
            );
            // 1 in 30 where the spread is twice the limit, less elsewhere.
            assert!(fired <= 3, "{name}, {trials} trials: {fired} of {runs} gates");
        }
    }
}

/// Returns what ten saved runs show of a steady machine.
fn ten_kept(base: &Session, mut run: impl FnMut() -> Session) -> SavedRuns {
    let mut kept = SavedRuns::default();
    (0..10).for_each(|_| assert!(kept.add(&run(), &base.plan.cells, &[])));
    kept
}

#[test]
fn slowdowns_fire_the_gate() {
    let mut rng = Rng::new(12);
    let runs = 12;
    // The spread of a quiet machine and of a less quiet one, and the trials that each takes.
    for (spread, trials) in [(0.02, 5), (0.03, 7), (0.05, 20)] {
        for with_kept in [false, true] {
            let (mut fired, mut seen, mut others, mut held) = (0, 0, 0, 0);
            for _ in 0..runs {
                let mut run = |factors: [f64; 2]| {
                    session(CELLS, trials, |cell| {
                        factors[cell as usize % 2] * (spread * rng.normal()).exp()
                    })
                };
                let base = run([1.0; 2]);
                let kept = if with_kept {
                    ten_kept(&base, || run([1.0; 2]))
                } else {
                    SavedRuns::default()
                };
                let mut versus = |factors| {
                    compare_with(&[base.clone(), run(factors)], &kept).unwrap().others.remove(0)
                };
                // Every second cell is 15 % slower.
                let found = judge_run(&base, &versus([0.85, 1.0]), LIMIT);
                let slowed = found
                    .slower
                    .iter()
                    .filter(|pair| pair.cell.backend == base.plan.cells[0].backend)
                    .count();
                fired += slowed;
                others += found.slower.len() - slowed;
                let slower = versus([0.9; 2]);
                let is_slower = |pair: &&Pair| pair.outcome == Outcome::Slower;
                seen += slower.cells.iter().filter(is_slower).count();
                held += slower.cells.iter().filter(|pair| pair.is_held_back()).count();
            }
            let said = format!("{spread}, {trials} trials, kept runs: {with_kept}");
            let cells = runs * CELLS as usize;
            assert!(
                fired * 2 * 100 >= cells * 90 && others == 0,
                "{said}: {fired} of {} cells, {others} others",
                cells / 2
            );
            // All of them are slower: only saved runs show that the machine does not do that.
            let (told, untold) = if with_kept { (seen, held) } else { (held, seen) };
            assert!(
                told * 100 >= cells * 75 && untold * 10 < cells,
                "{said}: 10 % is seen in {seen} of {cells} cells, and held back in {held}"
            );
        }
    }
}
