//! `calls`: fixed operation counts, as large as the budget allows.

use std::collections::HashMap;
use std::time::Duration;

use super::kind::{Cells, Experiment, PlanRequest};
use super::plan_error::PlanError;
use super::sweep;
use crate::plan::{Choice, Info, Job, Plan, Settings, Skipped, TrialTime};
use crate::units::{short_time, show_count, show_trials};

/// The id of this experiment; its plan needs the measured cost of a system call.
pub const CALLS: &str = "calls";

/// Share of the budget to plan for the trials that an interval needs: the rest is for the time
/// between them, and for calls that cost more than expected.
const PLANNED_SHARE: f64 = 0.6;
/// Assumed cost of a call if it was not measured, nanoseconds.
const DEFAULT_NANOS: f64 = 100.0;

/// Assumed costs of operations.
struct Costs<'a> {
    infos: &'a [&'static Info],
    /// The cheapest system call, nanoseconds.
    call: f64,
    /// Trials of each cell.
    trials: u32,
}

impl<'a> Costs<'a> {
    fn new(infos: &'a [&'static Info], call: f64, trials: u32) -> Costs<'a> {
        let call = if call.is_finite() && call > 0.0 { call } else { DEFAULT_NANOS };
        Costs { infos, call, trials }
    }

    /// Returns the expected cost of an operation, nanoseconds.
    fn per_op(&self, job: &Job) -> f64 {
        let info = self.infos.iter().find(|info| info.id == job.backend.id);
        let info = info.map(|info| info.of(&job.backend));
        self.call * info.map_or(Info::USUAL_COST, |info| info.relative_cost)
    }

    /// Returns the nanoseconds of all trials of a cell: it is warmed up for at most one trial time,
    /// then they run.
    fn of_trials(&self, job: &Job) -> f64 {
        let whole = operations(job).unwrap_or(0) as f64 * self.per_op(job);
        let warming = whole.min(TrialTime::default().low.as_nanos() as f64);
        whole * f64::from(self.trials) + warming
    }
}

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: CALLS,
    about: "like sweep, with fixed counts of operations; skips the largest if the budget is too \
            short",
    cells,
    ..sweep::EXPERIMENT
};

fn cells(settings: &Settings, request: &PlanRequest) -> Result<Cells, PlanError> {
    let (cells, mut skipped) = sweep::cells(settings, request)?;
    // Counts requested by the user are not reduced.
    if request.resolved.user.count.is_some() {
        return Ok((cells, skipped));
    }
    let budget = settings.budget.unwrap_or(Plan::BUDGET);
    let trials = settings.trials.unwrap_or(Plan::ROUNDS);
    let costs = Costs::new(request.infos, request.call, trials);
    let longest = longest(&cells, budget.mul_f64(PLANNED_SHARE), &costs);
    let least = smallest(&cells);
    let kept = |job: &Job| {
        costs.of_trials(job) <= longest || least.get(&job.backend).copied() == operations(job)
    };
    let (cells, large): (Vec<Job>, Vec<Job>) = cells.into_iter().partition(kept);
    skipped.extend(large.into_iter().map(|cell| {
        let reason = format!(
            "{} of {} of these calls do not fit in the budget of {}; use a longer --budget, or \
             set the counts with -n",
            show_trials(trials as usize),
            show_count(operations(&cell).unwrap_or(0) as f64).trim_end(),
            short_time(budget)
        );
        Skipped { cell, reason }
    }));
    Ok((cells, skipped))
}

fn operations(job: &Job) -> Option<u64> {
    if job.count == Some(0) { Some(job.blocks()) } else { job.count }
}

/// Returns the smallest count of each backend, which is measured whatever the budget, because a
/// backend without a result cannot be compared.
fn smallest(cells: &[Job]) -> HashMap<Choice, u64> {
    let mut least = HashMap::new();
    for job in cells {
        let count = operations(job).unwrap_or(0);
        least
            .entry(job.backend.clone())
            .and_modify(|known: &mut u64| *known = count.min(*known))
            .or_insert(count);
    }
    least
}

/// Returns the duration of the longest cell such that it and all shorter ones fit in `budget`; the
/// shortest always fits. Expensive calls thus end at smaller counts than cheap ones.
fn longest(cells: &[Job], budget: Duration, costs: &Costs) -> f64 {
    let mut all: Vec<f64> = cells.iter().map(|job| costs.of_trials(job)).collect();
    all.sort_by(f64::total_cmp);
    let (shortest, mut sum) = (all.first().copied().unwrap_or(0.0), 0.0);
    let fits = |more: &f64| {
        sum += more;
        sum <= budget.as_nanos() as f64
    };
    all.into_iter().take_while(fits).last().unwrap_or(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Op;

    fn job(count: u64) -> Job {
        Job { count: Some(count), ..Job::plain(Choice::plain("pread"), Op::Read) }
    }

    #[test]
    fn expensive_calls_get_smaller_counts() {
        static INFOS: [Info; 2] = [
            Info { id: "getpid", relative_cost: 1.2, ..Info::MOVES_NOTHING },
            Info { id: "map-unmap", relative_cost: 30.0, ..Info::MOVES_NOTHING },
        ];
        let infos: Vec<&'static Info> = INFOS.iter().collect();
        let costs = Costs::new(&infos, 100.0, 5);
        let counts = [1_000, 100_000, 10_000_000, 1_000_000_000];
        let of = |id: &str| counts.map(|count| Job { backend: Choice::plain(id), ..job(count) });
        let cells: Vec<Job> = ["pread", "getpid", "map-unmap"].into_iter().flat_map(of).collect();
        let kept = |seconds: u64| -> Vec<(String, u64)> {
            let longest = longest(&cells, Duration::from_secs(seconds), &costs);
            let kept = cells.iter().filter(|cell| costs.of_trials(cell) <= longest);
            kept.map(|cell| (cell.backend.id.clone(), cell.count.unwrap())).collect()
        };
        fn most(kept: &[(String, u64)], id: &str) -> Option<u64> {
            kept.iter().filter(|(own, _)| own == id).map(|(_, count)| *count).max()
        }
        for seconds in [1, 10, 60, 600] {
            let kept = kept(seconds);
            let sum: f64 = kept
                .iter()
                .map(|(id, count)| {
                    costs.of_trials(&Job { backend: Choice::plain(id), ..job(*count) })
                })
                .sum();
            assert!(sum <= seconds as f64 * 1e9, "{seconds}: {kept:?}");
        }
        // 5 trials of 10 million calls take 6.3 s with getpid, 25 s with pread and 150 s with mmap.
        let (some, more) = (kept(40), kept(300));
        assert_eq!(
            ["pread", "getpid", "map-unmap"].map(|id| most(&some, id).unwrap()),
            [10_000_000, 10_000_000, 100_000]
        );
        assert_eq!(most(&more, "map-unmap"), Some(10_000_000));
        assert_eq!(kept(0).len(), 1, "the shortest");
        assert_eq!(longest(&[], Duration::from_secs(1), &costs), 0.0);
    }
}
