//! `calls`: fixed counts of operations, as many of them as the budget has room for.

use std::collections::HashMap;
use std::time::Duration;

use super::sweep::Sweep;
use super::{Asked, Experiment, PlanError};
use crate::plan::{Choice, Info, Job, Plan, Settings, Skipped, TrialTime};
use crate::units::{short_time, show_count};

/// Its id: what a system call costs is measured for its plan.
pub const CALLS: &str = "calls";

/// Of the budget: the rest is for what comes between trials, and for calls that cost more than
/// expected.
const USED: f64 = 0.6;
/// Where a call was not measured, nanoseconds.
const USUAL: f64 = 100.0;

/// What operations are taken to cost: `call` is the cheapest system call, nanoseconds.
struct Costs<'a> {
    infos: &'a [&'static Info],
    call: f64,
}

impl<'a> Costs<'a> {
    fn new(infos: &'a [&'static Info], call: f64) -> Costs<'a> {
        Costs { infos, call: if call.is_finite() && call > 0.0 { call } else { USUAL } }
    }

    /// Nanoseconds of one operation.
    fn per_op(&self, job: &Job) -> f64 {
        let info = self.infos.iter().find(|info| info.id == job.backend.id);
        self.call * info.map_or(Info::USUAL_COST, |info| info.relative_cost)
    }

    /// Nanoseconds of the first round of a cell: it is warmed up for a trial time at most, then it
    /// runs.
    fn of_a_round(&self, job: &Job) -> f64 {
        let whole = operations(job).unwrap_or(0) as f64 * self.per_op(job);
        whole + whole.min(TrialTime::default().low.as_nanos() as f64)
    }
}

pub struct Calls;

impl Experiment for Calls {
    fn id(&self) -> &'static str {
        CALLS
    }

    fn about(&self) -> &'static str {
        "as sweep, with fixed counts of operations: the largest are left out where the budget has no room for them"
    }

    fn cells(
        &self,
        settings: &Settings,
        asked: &Asked,
    ) -> Result<(Vec<Job>, Vec<Skipped>), PlanError> {
        let (cells, mut skipped) = Sweep.cells(settings, asked)?;
        // Who says a count wants that count.
        if asked.resolved.said.count.is_some() {
            return Ok((cells, skipped));
        }
        let budget = settings.budget.unwrap_or(Plan::BUDGET);
        let costs = Costs::new(asked.infos, asked.call);
        let longest = longest(&cells, budget.mul_f64(USED), &costs);
        let least = smallest(&cells);
        let kept = |job: &Job| {
            costs.of_a_round(job) <= longest || least.get(&job.backend).copied() == operations(job)
        };
        let (cells, large): (Vec<Job>, Vec<Job>) = cells.into_iter().partition(kept);
        skipped.extend(large.into_iter().map(|cell| {
            let reason = format!(
                "{} of these calls have no room in the budget of {}: use a longer --budget, or say the counts with -n",
                show_count(operations(&cell).unwrap_or(0) as f64).trim_end(),
                short_time(budget)
            );
            Skipped { cell, reason }
        }));
        Ok((cells, skipped))
    }
}

fn operations(job: &Job) -> Option<u64> {
    if job.count == Some(0) { Some(job.blocks()) } else { job.count }
}

/// The smallest count of each backend, which is measured whatever the budget: a call without a
/// figure cannot be compared.
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

/// The longest cell such that a round of it and of all that take no longer fits in `budget`; the
/// shortest always does. Dear calls so end at smaller counts than cheap ones.
fn longest(cells: &[Job], budget: Duration, costs: &Costs) -> f64 {
    let mut all: Vec<f64> = cells.iter().map(|job| costs.of_a_round(job)).collect();
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
    fn counts_go_as_far_as_the_budget_and_dear_calls_less_far() {
        static INFOS: [Info; 2] = [
            Info { id: "getpid", relative_cost: 1.2, ..Info::MOVES_NOTHING },
            Info { id: "map-unmap", relative_cost: 30.0, ..Info::MOVES_NOTHING },
        ];
        let infos: Vec<&'static Info> = INFOS.iter().collect();
        let costs = Costs::new(&infos, 100.0);
        let counts = [1_000, 100_000, 10_000_000, 1_000_000_000];
        let of = |id: &str| counts.map(|count| Job { backend: Choice::plain(id), ..job(count) });
        let cells: Vec<Job> = ["pread", "getpid", "map-unmap"].into_iter().flat_map(of).collect();
        let kept = |seconds: u64| -> Vec<(String, u64)> {
            let longest = longest(&cells, Duration::from_secs(seconds), &costs);
            let kept = cells.iter().filter(|cell| costs.of_a_round(cell) <= longest);
            kept.map(|cell| (cell.backend.id.clone(), cell.count.unwrap())).collect()
        };
        let most = |kept: &[(String, u64)], id: &str| {
            kept.iter().filter(|(own, _)| own == id).map(|(_, count)| *count).max()
        };
        for seconds in [1, 10, 60, 600] {
            let kept = kept(seconds);
            let sum: f64 = kept
                .iter()
                .map(|(id, count)| {
                    costs.of_a_round(&Job { backend: Choice::plain(id), ..job(*count) })
                })
                .sum();
            assert!(sum <= seconds as f64 * 1e9, "{seconds}: {kept:?}");
        }
        // 10 million calls take 1.5 s by getpid, 5.3 s by pread and 30 s by mmap.
        let (some, more) = (kept(10), kept(60));
        assert_eq!(
            ["pread", "getpid", "map-unmap"].map(|id| most(&some, id).unwrap()),
            [10_000_000, 10_000_000, 100_000]
        );
        assert_eq!(most(&more, "map-unmap"), Some(10_000_000));
        assert_eq!(kept(0).len(), 1, "the shortest");
        assert_eq!(longest(&[], Duration::from_secs(1), &costs), 0.0);
    }
}
