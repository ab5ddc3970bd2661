//! Finds the missing trials of an uncertain session, and the time that more rounds would take.

use std::time::Duration;

use crate::analysis::CellResult;
use crate::plan::{Plan, TargetSpec, Variant};
use crate::session::Session;

/// The progress of a measurement with fewer trials than intervals need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstLook {
    /// The fewest and the most trials of a cell that was measured.
    pub least: usize,
    pub most: usize,
    /// Cells with fewer than [`Plan::ROUNDS`] trials, and all that can be measured.
    pub unfinished: usize,
    pub cells: usize,
    /// Cells without any trial.
    pub missing: usize,
    /// Share of the [`Plan::ROUNDS`] trials per cell that exist.
    pub share: f64,
}

/// The purpose of more rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Enough trials of each cell for an interval: this many rounds.
    Trials(u32),
    /// As many rounds as there are.
    Double(u32),
    /// Every interval as narrow as this, in hundredths of a percent.
    Interval(u32),
    /// Further trials of this cell of the plan alone, and how many.
    Cell(u32, u32),
}

/// A way to continue a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refinement {
    pub aim: Aim,
    /// The estimated time, from the scatter of trials; `None` if still unknown.
    pub time: Option<Duration>,
}

/// Precisions that are offered, in hundredths of a percent.
const PRECISIONS: [u32; 3] = [1000, 500, 200];

/// Nobody waits longer.
const MAX_TIME: Duration = Duration::from_secs(24 * 3600);

/// Returns whether rounds can be added to a session: it has trials of a file, each cell of its
/// plan is measured as often as the others, and no command runs in between.
pub fn is_refinable(session: &Session) -> bool {
    let plan = &session.plan;
    session.reference.is_none()
        && !session.trials.is_empty()
        && !plan.pick
        && plan.latency_target.is_none()
        && !plan.has_long_trials()
        && plan.probes.is_empty()
        && !Variant::are_set_by_commands(&plan.variants)
        && !plan.targets().any(|target| matches!(target, TargetSpec::None))
}

/// Returns the progress of the measurement; `None` if every cell has the trials that it needs, or
/// no more can be added.
pub fn first_look(session: &Session, results: &[CellResult]) -> Option<FirstLook> {
    if !is_refinable(session) || !results.iter().any(CellResult::is_unfinished) {
        return None;
    }
    let counts = trial_counts(session, results);
    let measured = || counts.iter().copied().filter(|count| *count > 0);
    let wanted = Plan::ROUNDS as usize;
    let done: usize = counts.iter().map(|count| *count.min(&wanted)).sum();
    Some(FirstLook {
        least: measured().min()?,
        most: measured().max()?,
        unfinished: counts.iter().filter(|count| **count < wanted).count(),
        cells: counts.len(),
        missing: counts.iter().filter(|count| **count == 0).count(),
        share: done as f64 / (counts.len() * wanted).max(1) as f64,
    })
}

/// Returns the counted trials of each cell of the plan that did not fail.
fn trial_counts(session: &Session, results: &[CellResult]) -> Vec<usize> {
    let failed = results.iter().filter(|result| result.error.is_some()).count();
    let mut counts: Vec<usize> = results
        .iter()
        .filter(|result| result.error.is_none())
        .map(|result| result.counted_trials().len())
        .collect();
    counts.resize(session.plan.cells.len().saturating_sub(failed).max(counts.len()), 0);
    counts
}

/// Returns the ways to add rounds to a session, the shortest first; none if that is impossible.
pub fn refinements(session: &Session, results: &[CellResult]) -> Vec<Refinement> {
    if !is_refinable(session) {
        return Vec::new();
    }
    let counts = trial_counts(session, results);
    let each = seconds_of_a_trial(session);
    let time = |trials: f64| {
        let time = Duration::try_from_secs_f64(each? * trials).ok()?;
        (time <= MAX_TIME).then_some(time)
    };
    let least = counts.iter().copied().min().unwrap_or(0);
    let missing = Plan::ROUNDS.saturating_sub(u32::try_from(least).unwrap_or(u32::MAX));
    let rounds = |rounds: u32| time(f64::from(rounds) * counts.len() as f64);
    let mut ways = Vec::new();
    if missing > 0 {
        ways.push(Refinement { aim: Aim::Trials(missing), time: rounds(missing) });
    } else {
        let done = session.trials.iter().map(|trial| trial.round).max().unwrap_or(1);
        ways.push(Refinement { aim: Aim::Double(done), time: rounds(done) });
    }
    let narrower = PRECISIONS.into_iter().filter_map(|precision| {
        // A cell without trials has neither a result nor an interval.
        let trials = (least > 0).then(|| trials_to(results, f64::from(precision) / 10_000.0));
        let trials = trials.flatten();
        // All intervals are that narrow already.
        if trials == Some(0.0) {
            return None;
        }
        let time = trials.and_then(time);
        Some(Refinement { aim: Aim::Interval(precision), time })
    });
    ways.extend(narrower);
    ways
}

/// Returns the way to measure one cell of a session again.
pub fn refine_cell(session: &Session, cell: u32) -> Refinement {
    let time = seconds_of_a_trial(session).map(|each| each * f64::from(Plan::ROUNDS));
    let time = time.and_then(|time| Duration::try_from_secs_f64(time).ok());
    Refinement { aim: Aim::Cell(cell, Plan::ROUNDS), time }
}

/// Returns the time that a trial took with all around it: preparation, calibration, pauses.
fn seconds_of_a_trial(session: &Session) -> Option<f64> {
    let seconds = session.seconds.filter(|seconds| *seconds > 0.0)?;
    (!session.trials.is_empty()).then(|| seconds / session.trials.len() as f64)
}

/// Returns how many trials the intervals need until all are as narrow as `goal`: an interval
/// narrows by the square root of its trials. `None` if a cell has no interval yet.
fn trials_to(results: &[CellResult], goal: f64) -> Option<f64> {
    let mut sum = 0.0;
    for result in results.iter().filter(|result| result.error.is_none()) {
        let half = result.throughput.or(result.operations)?.summary.half_width()?;
        let trials = result.counted_trials().len() as f64;
        if half > goal {
            sum += trials * (half / goal).powi(2) - trials;
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::results;
    use crate::record::{Severity, Verdict, Warning};
    use crate::session::testing;

    /// A session of 3 cells with these numbers of trials, warned where they are too few.
    fn session(trials: [u32; 3]) -> Session {
        let mut session = testing::session(3);
        for (cell, count) in (0..).zip(trials) {
            for round in 1..=count {
                let bytes = (1 << 20) + (u64::from(round % 3) << 16);
                session.trials.push(testing::trial(cell, round, bytes).into());
            }
            let few = Warning {
                id: "few".into(),
                severity: Severity::Misleading,
                message: String::new(),
                evidence: String::new(),
                remedy: "".into(),
            };
            let warnings = if count > 0 && count < 5 { vec![few] } else { Vec::new() };
            session.verdicts[cell as usize] =
                Some(Verdict { warnings, ..Verdict::default() }.into());
        }
        session.seconds = Some(12.0);
        session
    }

    fn look(trials: [u32; 3]) -> Option<FirstLook> {
        let session = session(trials);
        first_look(&session, &results(&session))
    }

    #[test]
    fn a_first_look_counts_missing_trials() {
        let found = look([2, 2, 2]).unwrap();
        assert_eq!((found.least, found.most, found.unfinished, found.cells), (2, 2, 3, 3));
        assert!((found.share - 0.4).abs() < 1e-9);
        let found = look([5, 2, 0]).unwrap();
        assert_eq!((found.least, found.most, found.unfinished, found.missing), (2, 5, 2, 1));
        assert_eq!(look([5, 7, 5]), None);
    }

    #[test]
    fn refinements_have_a_time() {
        let ways = |trials| {
            let session = session(trials);
            refinements(&session, &results(&session))
        };
        // Six trials took 12 s: nine more take 18 s.
        let few = ways([2, 2, 2]);
        assert_eq!(few[0].aim, Aim::Trials(3));
        assert_eq!(few[0].time, Some(Duration::from_secs(18)));
        assert!(few[1..].iter().all(|way| way.time.is_none()), "no interval yet: {few:?}");
        let enough = ways([6, 6, 6]);
        assert_eq!(enough[0].aim, Aim::Double(6));
        assert!(enough.iter().any(|way| way.aim == Aim::Interval(200) && way.time.is_some()));
        // A cell without any trial needs all of them, and has no interval yet.
        assert_eq!(ways([2, 2, 0])[0].aim, Aim::Trials(5));
        let missing = ways([6, 6, 0]);
        assert_eq!(missing.len(), 4, "{missing:?}");
        assert!(missing[1..].iter().all(|way| way.time.is_none()), "{missing:?}");
        let mut probes = session([2, 2, 2]);
        probes.plan.pick = true;
        assert_eq!(refinements(&probes, &[]), []);
    }
}
