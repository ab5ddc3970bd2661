//! When the answer of a plan is settled, and which cells can still change it.
//!
//! The sentences of an answer rest on contests: which cells of a group are the fastest, among them
//! the neighbours of a knee. A run gives its trials to the contenders of what is open, and to cells
//! whose figure is near a bound; the others rest. Pure, so that a run, a report and a simulation
//! decide alike.

use std::collections::{BTreeMap, HashMap};

use super::excluding_option;
use crate::catalog::{infos, moves_data};
use crate::plan::{Axis, Condition, Job, Metric, Op, Pattern, Plan};
use crate::record::Latency;
use crate::stats::Summary;
use crate::stats::contest::standing;
use crate::stats::paired::{Series, rates};

/// The choices of a user: cells that differ in one of these alone are rivals, and so are their
/// rivals. A cell that differs in more from all others stands for itself.
const CHOICES: [Axis; 4] = [Axis::Backend, Axis::Block, Axis::Threads, Axis::Depth];

/// Returns whether the question of a cell is how long one operation takes, as of a random read, one
/// at a time: then its block size is a part of the question, not a choice.
pub fn asks_for_time(job: &Job) -> bool {
    (job.pattern, job.op, job.depth, job.threads) == (Pattern::Random, Op::Read, 1, 1)
        && job.mix.is_none()
        && moves_data(job)
}

/// The open questions of a run that ends when its answer is settled.
pub struct Settling {
    tolerance: f64,
    /// The cells of each contest.
    contests: Vec<Vec<usize>>,
    conditions: Vec<(usize, Job, Condition)>,
}

/// The measurements of a cell that others are compared with.
pub struct Measurements {
    /// Bytes per second, or operations where no bytes move.
    pub rates: Series,
    /// Needed only by conditions.
    pub latency: Option<Latency>,
}

impl Settling {
    /// Returns the questions of a plan; `None` if it ends otherwise.
    pub fn new(plan: &Plan) -> Option<Settling> {
        let tolerance = plan.settles()?;
        let infos = infos();
        let mut conditions = Vec::new();
        for expectation in &plan.expect {
            let settings = expectation.settings();
            let is_about = |job: &Job| excluding_option(&settings, &infos, job).is_none();
            for (at, job) in plan.cells.iter().enumerate().filter(|(_, job)| is_about(job)) {
                let own = expectation.conditions.iter().filter(|one| one.metric.is_of(job));
                conditions.extend(own.map(|one| (at, job.clone(), one.clone())));
            }
        }
        // With conditions, the question is whether they hold, not what is the fastest.
        let contests = if conditions.is_empty() { rivals(&plan.cells) } else { Vec::new() };
        Some(Settling { tolerance, contests, conditions })
    }

    /// Returns whether a plan's conditions read latencies.
    pub fn needs_latencies(&self) -> bool {
        self.conditions.iter().any(|(.., condition)| condition.metric.is_latency())
    }

    /// Returns for each cell whether it needs more trials: it has fewer than five, or it can still
    /// change a sentence. `None` = a cell that is not to be compared.
    pub fn open(&self, cells: &[Option<Measurements>]) -> Vec<bool> {
        let of = |at: usize| cells.get(at).and_then(Option::as_ref);
        let few = |cell: &Option<Measurements>| {
            cell.as_ref().is_some_and(|cell| cell.rates.len() < Plan::ROUNDS as usize)
        };
        let few: Vec<bool> = cells.iter().map(few).collect();
        let mut open = few.clone();
        for contest in &self.contests {
            let present = contest.iter().filter(|at| of(**at).is_some_and(|_| !few[**at]));
            let (present, rates): (Vec<usize>, Vec<&Series>) =
                present.filter_map(|at| Some((*at, &of(*at)?.rates))).unzip();
            let found = standing(&rates, self.tolerance).filter(|found| !found.settled);
            let contenders = found.into_iter().flat_map(|found| found.contenders);
            contenders.for_each(|at| open[present[at]] = true);
        }
        for (at, job, condition) in &self.conditions {
            open[*at] |= of(*at).is_some_and(|cell| is_near(cell, job, condition));
        }
        open
    }
}

/// Returns the groups of cells that do the same in the same state, of which a user chooses one.
fn rivals(cells: &[Job]) -> Vec<Vec<usize>> {
    // The rate of a cell that was asked for one is known before.
    let free: Vec<usize> = (0..cells.len()).filter(|at| cells[*at].rate.is_none()).collect();
    let mut group: Vec<usize> = (0..cells.len()).collect();
    for axis in CHOICES {
        let mut first: HashMap<Job, usize> = HashMap::new();
        let is_choice = |job: &Job| axis != Axis::Block || !asks_for_time(job);
        let jobs = free.iter().map(|at| (*at, &cells[*at]));
        for (at, job) in jobs.filter(|(_, job)| is_choice(job)) {
            let known = *first.entry(axis.without(job)).or_insert(at);
            let (own, other) = (group[at], group[known]);
            if own != other {
                group.iter_mut().filter(|of| **of == own).for_each(|of| *of = other);
            }
        }
    }
    let mut all: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    free.iter().for_each(|at| all.entry(group[*at]).or_default().push(*at));
    all.into_values().collect()
}

/// Returns whether the trials leave open on which side of its bound a figure is.
fn is_near(cell: &Measurements, job: &Job, condition: &Condition) -> bool {
    // The rate that is asked for does not vary.
    if job.rate.is_some() && !condition.metric.is_latency() {
        return false;
    }
    let summary = |operations: f64| {
        let summary = Summary::from_values(&rates(&cell.rates)).map(|of| of.scaled(operations));
        summary.map_or((None, None), |of| (of.low, of.high))
    };
    let each = if moves_data(job) { 1.0 / job.block.max(1) as f64 } else { 1.0 };
    let (low, high) = match (condition.metric, condition.metric.quantile(), &cell.latency) {
        (_, Some(quantile), Some(latency)) => latency.interval(quantile),
        (Metric::Throughput, ..) => summary(1.0),
        (Metric::Iops, ..) => summary(each),
        (Metric::Commits, ..) => summary(job.commits_in(each)),
        // The longest of all latencies may still come, and a latency be measured.
        (.., latency) => {
            let longest = latency.as_ref().map(|of| of.max);
            return longest.is_none_or(|longest| condition.holds(longest));
        }
    };
    low.map(|low| condition.holds(low)) != high.map(|high| condition.holds(high))
}

#[cfg(test)]
mod tests;
