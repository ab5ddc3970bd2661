//! `calls`: fixed counts of operations, as many of them as the budget has room for.

use std::collections::BTreeMap;
use std::time::Duration;

use super::sweep::Sweep;
use super::{Asked, Experiment, PlanError};
use crate::plan::{Job, Plan, Settings, Skipped};
use crate::units::{short_time, show_count};

/// What one call is taken to cost, with warm-up: those that read take 0.3 to 1 us on a virtual machine, those that map 2 to 5.
const CALL: Duration = Duration::from_micros(2);

pub struct Calls;

impl Experiment for Calls {
    fn id(&self) -> &'static str {
        "calls"
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
        let most = most(&cells, budget);
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
fn most(cells: &[Job], budget: Duration) -> u64 {
    let mut of_count: BTreeMap<u64, u64> = BTreeMap::new();
    for job in cells {
        let count = job.count.map_or(0, |count| if count == 0 { job.blocks() } else { count });
        *of_count.entry(count).or_default() += 1;
    }
    let room = budget.as_nanos() / CALL.as_nanos();
    let mut calls = 0u128;
    let fits = |(count, cells): &(u64, u64)| {
        calls += u128::from(*count) * u128::from(*cells);
        calls <= room
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
        // 2 cells of 2, 20 and 200 ms each, one count on top of the other.
        for (millis, wanted) in [(0, 1000), (4, 1000), (43, 1000), (44, 10_000), (443, 10_000), (444, 100_000), (9999, 100_000)] {
            assert_eq!(most(&cells, Duration::from_millis(millis)), wanted, "{millis} ms");
        }
        assert_eq!(most(&[], Duration::from_secs(1)), 0);
    }
}
