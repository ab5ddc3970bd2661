//! The search for the highest rate at which a condition on response times holds
//! (`--latency-target`).
//!
//! The rates of a plan are the steps of a ladder. A run tries one at a time: upwards by a factor of
//! about four until the condition fails, or downwards until it holds, then the middle of what is
//! left. Pure, so that a run and a report decide alike.

use std::collections::HashMap;
use std::sync::Arc;

use crate::plan::{Axis, Condition, Job, Plan};
use crate::record::{Latency, Trial, complete};
use crate::stats::median;

/// The trials of a cell.
#[derive(Debug, Clone, Default)]
pub struct TriedRate {
    pub trials: usize,
    /// The rate was reached.
    pub is_kept: bool,
    /// From the intended starts.
    pub latency: Option<Latency>,
}

impl TriedRate {
    /// Returns what these trials of a job show.
    pub fn new(job: &Job, trials: &[Arc<Trial>], latency: Option<Latency>) -> TriedRate {
        let rates: Vec<f64> = complete(trials).map(|trial| trial.operations()).collect();
        let is_kept = median(&rates).and_then(|reached| job.keeps_rate(reached)) == Some(true);
        TriedRate { trials: trials.len(), is_kept, latency }
    }
}

/// The result of a curve: indexes of cells of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FoundRate {
    /// One of its cells.
    pub cell: usize,
    /// The highest rate that holds below all that fail.
    pub holds: Option<usize>,
    /// The lowest rate that fails.
    pub fails: Option<usize>,
    /// No rate is left between them.
    pub is_over: bool,
}

/// The first rate that is tried, operations per second.
const FIRST: u64 = 1000;
/// Steps of the ladder that are about a factor of four.
const STRIDE: usize = 28;
/// The interval decides a cell that has as many trials, if it can.
const LEAST_TRIALS: usize = Plan::ROUNDS as usize;
/// The percentile itself decides a cell that has as many.
const MOST_TRIALS: usize = 15;

/// The search of a plan.
#[derive(Debug)]
pub struct RateSearch {
    condition: Condition,
    /// The cells of each curve, the lowest rate first.
    curves: Vec<Vec<usize>>,
    first: Vec<usize>,
}

impl RateSearch {
    /// Returns the search of a plan; `None` if it has no target.
    pub fn new(plan: &Plan) -> Option<RateSearch> {
        let condition = plan.latency_target.clone()?;
        let mut places: HashMap<Job, usize> = HashMap::new();
        let mut curves: Vec<Vec<usize>> = Vec::new();
        for (at, job) in plan.cells.iter().enumerate().filter(|(_, job)| job.rate.is_some()) {
            let curve = *places.entry(Axis::Rate.without(job)).or_insert(curves.len());
            match curves.get_mut(curve) {
                Some(curve) => curve.push(at),
                None => curves.push(vec![at]),
            }
        }
        let rate = |at: usize| Axis::Rate.value_of(&plan.cells[at]);
        curves.iter_mut().for_each(|curve| curve.sort_by_key(|at| rate(*at)));
        let first = |curve: &Vec<usize>| {
            let at = curve.iter().position(|at| rate(*at) >= FIRST);
            at.unwrap_or(curve.len().saturating_sub(1))
        };
        let first = curves.iter().map(first).collect();
        Some(RateSearch { condition, curves, first })
    }

    /// Returns for each cell whether it is tried next. `None` = a cell that failed.
    pub fn open(&self, cells: &[Option<TriedRate>]) -> Vec<bool> {
        let mut open = vec![false; cells.len()];
        for (curve, first) in self.curves.iter().zip(&self.first) {
            if let Some(next) = self.next(curve, *first, cells) {
                open[curve[next]] = true;
            }
        }
        open
    }

    /// Returns the result of each curve.
    pub fn found(&self, cells: &[Option<TriedRate>]) -> Vec<FoundRate> {
        let curves = self.curves.iter().zip(&self.first);
        let found = curves.map(|(curve, first)| {
            let (holds, fails) = self.ends(curve, cells);
            let of = |place: Option<usize>| place.map(|place| curve[place]);
            let is_over = left(holds, fails, curve.len()).is_empty();
            FoundRate { cell: curve[*first], holds: of(holds), fails: of(fails), is_over }
        });
        found.collect()
    }

    /// Returns the place in the curve of the cell that is tried next.
    fn next(&self, curve: &[usize], first: usize, cells: &[Option<TriedRate>]) -> Option<usize> {
        let (holds, fails) = self.ends(curve, cells);
        let trials = |place: usize| {
            let tried = cells.get(curve[place]).and_then(Option::as_ref);
            tried.map_or(0, |tried| tried.trials)
        };
        let left = left(holds, fails, curve.len());
        // Each is judged before the next is tried; what cannot be ends the search.
        if let Some(begun) = left.clone().find(|place| trials(*place) > 0) {
            return Some(begun).filter(|begun| trials(*begun) < MOST_TRIALS);
        }
        if left.is_empty() {
            return None;
        }
        Some(match (holds, fails) {
            (None, None) => first.min(curve.len() - 1),
            (Some(holds), None) => (holds + STRIDE).min(curve.len() - 1),
            (None, Some(fails)) => fails.saturating_sub(STRIDE),
            (Some(_), Some(_)) => left.start + left.len() / 2,
        })
    }

    /// Returns the places of the highest rate that holds and of the lowest that fails, above it.
    fn ends(&self, curve: &[usize], cells: &[Option<TriedRate>]) -> (Option<usize>, Option<usize>) {
        let judged = |place: usize| match cells.get(curve[place])? {
            Some(tried) => self.judge(tried),
            None => Some(false),
        };
        let fails = (0..curve.len()).find(|place| judged(*place) == Some(false));
        let below = fails.unwrap_or(curve.len());
        ((0..below).rev().find(|place| judged(*place) == Some(true)), fails)
    }

    /// Returns whether the condition holds; `None` if more trials are needed, or if even the most
    /// have too few operations for the percentile.
    fn judge(&self, tried: &TriedRate) -> Option<bool> {
        if tried.trials < LEAST_TRIALS {
            return None;
        }
        let latency = tried.latency.as_ref().filter(|_| tried.is_kept);
        let Some(latency) = latency else { return Some(false) };
        let value = latency.value_of(self.condition.metric);
        let Some(quantile) = self.condition.metric.quantile() else {
            return Some(value.is_some_and(|longest| self.condition.holds(longest)));
        };
        let (low, high) = latency.interval(quantile);
        match [low, high].map(|end| end.map(|end| self.condition.holds(end))) {
            [_, Some(true)] => Some(true),
            [Some(false), _] => Some(false),
            _ if tried.trials < MOST_TRIALS => None,
            // One that never began is longer than each bound.
            _ if value.is_none() && latency.unstarted > 0 => Some(false),
            _ => value.map(|value| self.condition.holds(value)),
        }
    }
}

/// Returns the places of a curve that are not known to hold or to fail.
fn left(holds: Option<usize>, fails: Option<usize>, len: usize) -> std::ops::Range<usize> {
    holds.map_or(0, |place| place + 1)..fails.unwrap_or(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Choice, Op, Rates, TargetSpec};
    use crate::stats::Histogram;

    fn plan(target: &str) -> Plan {
        let job = Job::plain(Choice::plain("pread"), Op::Read);
        let cells = Rates::ladder().values.into_iter();
        let cells = cells.map(|rate| Job { rate: Some(rate), ..job.clone() }).collect();
        let latency_target = Some(target.parse().unwrap());
        Plan { cells, latency_target, ..Plan::plain("sweep", TargetSpec::None) }
    }

    /// Runs a search on a device that takes 100 µs at rates up to `most`, and waits above it;
    /// returns the rates that hold and fail, and how many were tried.
    fn search(target: &str, most: u64) -> (Option<u64>, Option<u64>, usize) {
        let plan = plan(target);
        let search = RateSearch::new(&plan).unwrap();
        let rate = |at: usize| Axis::Rate.value_of(&plan.cells[at]);
        let mut cells: Vec<Option<TriedRate>> = vec![Some(TriedRate::default()); plan.cells.len()];
        loop {
            let open = search.open(&cells);
            let Some(at) = open.iter().position(|open| *open) else { break };
            let is_kept = rate(at) <= most;
            let nanos = if is_kept { 100_000 } else { 40_000_000 };
            let tried = cells[at].as_mut().unwrap();
            tried.trials += 1;
            tried.is_kept = is_kept;
            let times = Histogram::from_pairs(&[(nanos, 3000 * tried.trials as u64)]);
            tried.latency = Latency::from_histogram(&times, 1);
        }
        let [found] = search.found(&cells)[..] else { panic!() };
        assert!(found.is_over);
        let tried = cells.iter().flatten().filter(|tried| tried.trials > 0).count();
        (found.holds.map(rate), found.fails.map(rate), tried)
    }

    #[test]
    fn highest_rates_are_within_a_step() {
        for most in [12, 150, 999, 1000, 5000, 47_300, 900_000] {
            let (holds, fails, tried) = search("p99<5ms", most);
            let (holds, fails) = (holds.unwrap(), fails.unwrap());
            assert!(holds <= most && most < fails, "{holds} to {fails} of {most}");
            assert!(fails as f64 <= 1.1 * holds as f64, "{holds} to {fails}");
            assert!(tried <= 13, "{tried} rates were tried for {most}");
        }
    }

    #[test]
    fn every_or_no_rate_may_hold() {
        let (holds, fails, tried) = search("p99<5ms", u64::MAX);
        assert_eq!((holds, fails), (Some(1_000_000), None));
        assert!(tried <= 8, "{tried}");
        let (holds, fails, _) = search("p99<5us", u64::MAX);
        assert_eq!((holds, fails), (None, Some(10)));
    }

    /// Tries the first rate with this many operations a trial, until the search goes on or ends;
    /// returns its trials and what is found.
    fn try_first(operations: u64) -> (usize, FoundRate) {
        let plan = plan("p99<5ms");
        let search = RateSearch::new(&plan).unwrap();
        let mut cells = vec![Some(TriedRate::default()); plan.cells.len()];
        let at = search.open(&cells).iter().position(|open| *open).unwrap();
        for trials in 1.. {
            let times = Histogram::from_pairs(&[(100_000, trials as u64 * operations)]);
            let latency = Latency::from_histogram(&times, 1);
            cells[at] = Some(TriedRate { trials, is_kept: true, latency });
            if !search.open(&cells)[at] {
                return (trials, search.found(&cells)[0]);
            }
        }
        unreachable!()
    }

    #[test]
    fn few_operations_need_more_trials() {
        let (trials, found) = try_first(300);
        assert!(trials == LEAST_TRIALS && found.holds.is_some(), "{trials}: {found:?}");
        // The percentile itself decides.
        let (trials, found) = try_first(30);
        assert!(trials > LEAST_TRIALS && found.holds.is_some(), "{trials}: {found:?}");
    }

    #[test]
    fn unknown_percentiles_end_the_search() {
        let (trials, found) = try_first(1);
        assert_eq!((trials, found.holds, found.fails), (MOST_TRIALS, None, None));
        assert!(!found.is_over, "nothing is known");
    }

    #[test]
    fn failed_cells_do_not_hold() {
        let plan = plan("p99<5ms");
        let search = RateSearch::new(&plan).unwrap();
        let mut cells = vec![Some(TriedRate::default()); plan.cells.len()];
        cells[7] = None;
        assert_eq!(search.found(&cells)[0].fails, Some(7));
    }
}
