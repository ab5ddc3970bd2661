//! `calls`: fixed counts of operations, as many of them as the budget has room for.

use std::collections::BTreeMap;
use std::time::Duration;

use super::sweep::Sweep;
use super::{Asked, Experiment, PlanError};
use crate::plan::{Job, Plan, Settings, Skipped};
use crate::units::{short_time, show_count};

/// Its id: what a system call costs is measured for its plan.
pub const CALLS: &str = "calls";

/// What an operation costs, in cheapest system calls: a getpid of 95 ns goes with 120 to 150 ns to seek, 300 to 450 to read a byte and
/// 2 to 3 us to map and unmap a page.
const COSTS: &[(&str, f64)] = &[("getpid", 1.2), ("seek", 1.6), ("map-unmap", 30.0)];
const OTHERS: f64 = 5.0;
/// A trial to warm up comes first.
const TRIALS: f64 = 2.0;
/// Where a call was not measured, nanoseconds.
const USUAL: f64 = 100.0;

/// What an operation is taken to cost, nanoseconds, with its share of the warm-up.
fn cost(job: &Job, call: f64) -> f64 {
    let call = if call.is_finite() && call > 0.0 { call } else { USUAL };
    let own = COSTS.iter().find(|(id, _)| *id == job.backend.id).map_or(OTHERS, |(_, calls)| *calls);
    TRIALS * call * own
}

pub struct Calls;

impl Experiment for Calls {
    fn id(&self) -> &'static str {
        CALLS
    }

    fn about(&self) -> &'static str {
        "as sweep, with fixed counts of operations: the largest are left out where the budget has no room for them"
    }

    fn cells(&self, settings: &Settings, asked: &Asked) -> Result<(Vec<Job>, Vec<Skipped>), PlanError> {
        let (cells, mut skipped) = Sweep.cells(settings, asked)?;
        // Who says a count wants that count.
        if asked.settings.count.is_some() {
            return Ok((cells, skipped));
        }
        let budget = settings.budget.unwrap_or(Plan::BUDGET);
        let most = most(&cells, budget, asked.call);
        let operations = |job: &Job| if job.count == Some(0) { Some(job.blocks()) } else { job.count };
        let (cells, large): (Vec<Job>, Vec<Job>) = cells.into_iter().partition(|job| operations(job).is_none_or(|count| count <= most));
        skipped.extend(large.into_iter().map(|cell| {
            let count = operations(&cell).unwrap_or(0);
            let reason = format!(
                "{} calls of each kind have no room in the budget of {}: use a longer --budget, or say the counts with -n",
                show_count(count as f64),
                short_time(budget)
            );
            Skipped { cell, reason }
        }));
        Ok((cells, skipped))
    }
}

/// The largest count such that one round of it and of all that are smaller fits in `budget`; the smallest always does.
fn most(cells: &[Job], budget: Duration, call: f64) -> u64 {
    let mut of_count: BTreeMap<u64, f64> = BTreeMap::new();
    for job in cells {
        let count = job.count.map_or(0, |count| if count == 0 { job.blocks() } else { count });
        *of_count.entry(count).or_default() += count as f64 * cost(job, call);
    }
    let mut nanos = 0.0;
    let fits = |(_, more): &(u64, f64)| {
        nanos += more;
        nanos <= budget.as_nanos() as f64
    };
    let smallest = of_count.keys().next().copied().unwrap_or(0);
    of_count.into_iter().take_while(fits).last().map_or(smallest, |(count, _)| count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Choice, Op};

    fn job(count: u64) -> Job {
        Job { count: Some(count), ..Job::plain(Choice::plain("pread"), Op::Read) }
    }

    #[test]
    fn counts_go_as_far_as_the_budget() {
        let cells: Vec<Job> = [1000, 10_000, 100_000].into_iter().flat_map(|count| [job(count), job(count)]).collect();
        // 2 cells of 2, 20 and 200 ms each with calls of 200 ns, one count on top of the other.
        for (millis, wanted) in [(0, 1000), (4, 1000), (43, 1000), (45, 10_000), (443, 10_000), (445, 100_000), (9999, 100_000)] {
            assert_eq!(most(&cells, Duration::from_millis(millis), 200.0), wanted, "{millis} ms");
        }
        assert_eq!(most(&[], Duration::from_secs(1), 200.0), 0);
        // Twice as fast a machine has room for ten times the count; what was not measured is guessed.
        let budget = Duration::from_millis(300);
        assert_eq!((most(&cells, budget, 200.0), most(&cells, budget, 100.0), most(&cells, budget, f64::NAN)), (10_000, 100_000, 100_000));
        // What maps costs more than what asks for a number.
        let of =
            |id: &str| most(&cells.iter().map(|job| Job { backend: Choice::plain(id), ..job.clone() }).collect::<Vec<_>>(), budget, 200.0);
        assert_eq!((of("getpid"), of("map-unmap")), (100_000, 10_000));
    }
}
