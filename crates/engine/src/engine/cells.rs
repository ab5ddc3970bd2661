//! The state of each cell during a run: its calibrated work, trials and latencies.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::executor::Executor;
use crate::backend::Commits;
use crate::backend::meter::Timed;
use crate::experiment::{Measurements, TriedRate};
use crate::plan::{Cache, CpuCache, CpuList, Job, Plan};
use crate::record::{
    CommitTimes, Grounds, Latency, Measured, Trial, Verdict, Visit, complete, judge_job, rates,
};
use crate::stats::{Histogram, Summary, paired};

/// The work of one trial, found by calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Amount {
    pub count: u64,
    pub passes: u64,
    /// Repetitions of all of it in one trial, each prepared again outside the timed window.
    pub parts: u64,
    pub timed: Timed,
    /// Expected duration of a trial without preparation, nanoseconds.
    pub nanos: u64,
    /// The file ended before the trial time did.
    pub whole: bool,
}

impl Amount {
    /// Returns the work of one pass without timed operations.
    pub const fn once(count: u64) -> Amount {
        Amount { count, passes: 1, parts: 1, timed: Timed::None, nanos: 0, whole: false }
    }
}

pub(super) struct Cell {
    pub job: Job,
    pub executor: Executor,
    /// The CPUs that its lanes are pinned to.
    pub cpus: Option<CpuList>,
    /// Opens and maps again for each pass, because it is compared with a cell that must do so.
    pub fresh_each_pass: bool,
    pub amount: Option<Amount>,
    pub trials: Vec<Arc<Trial>>,
    /// At a rate, from the intended starts.
    pub histogram: Histogram,
    /// At a rate, the same operations from their real starts.
    pub service: Option<Histogram>,
    /// `None` if it commits nothing.
    pub commits: Option<Commits>,
    /// The first step of its calibration, until its first trial has it.
    pub first: Option<Visit>,
    /// One in this many operations is timed.
    pub every: u32,
    /// One trial is what was requested.
    pub once: bool,
    /// Excluded from the run: it failed, was skipped by the user, or has all its trials.
    pub out: bool,
    /// Its last verdict calls it wrong.
    pub wrong: bool,
    /// How long the last trial took, with its preparation; zero before the first.
    pub cost: Duration,
    /// The half width of its interval, and the number of trials that it is from.
    width: (Option<f64>, usize),
    /// The number of trials of its last verdict.
    judged: usize,
}

/// A trial of a file up to this size takes many passes, of a larger one a few.
const SMALL_FILE: u64 = 64 << 20;

/// Returns whether the plan has the same job with flushed CPU caches, or, for a small warm file,
/// cold. A trial of those repeats separately prepared passes, so the page faults and calls at the
/// start of a pass must not be spread over many passes here.
fn is_compared(job: &Job, all: &HashSet<&Job>) -> bool {
    let flushed = Job { cpu_cache: CpuCache::Flush, ..job.clone() };
    let cold = Job { cache: Cache::Cold, ..job.clone() };
    let small = job.span <= SMALL_FILE && job.cache == Cache::Warm && !job.direct;
    (job.cpu_cache == CpuCache::Keep && all.contains(&flushed)) || (small && all.contains(&cold))
}

impl Cell {
    /// Returns the state of each cell of a plan; a plan made elsewhere may name an unknown backend.
    pub fn from_plan(plan: &Plan) -> Vec<Result<Cell, String>> {
        let all: HashSet<&Job> = plan.cells.iter().collect();
        let cell = |job: &Job| {
            let executor =
                Executor::from_choice(&job.backend).map_err(|unknown| unknown.to_string())?;
            job.backend.check(executor.info()).map_err(|error| error.to_string())?;
            let cell = Cell::new(job.clone(), executor, is_compared(job, &all));
            Ok(Cell { cpus: plan.cpus.clone(), ..cell })
        };
        plan.cells.iter().map(cell).collect()
    }

    /// Returns the initial state of a cell.
    pub fn new(job: Job, executor: Executor, fresh_each_pass: bool) -> Cell {
        Cell {
            job,
            executor,
            cpus: None,
            fresh_each_pass,
            amount: None,
            trials: Vec::new(),
            histogram: Histogram::new(),
            service: None,
            commits: None,
            first: None,
            every: 0,
            once: false,
            out: false,
            wrong: false,
            cost: Duration::ZERO,
            width: (None, 0),
            judged: 0,
        }
    }

    /// Returns the relative half width of the rate's confidence interval; `None` below five trials.
    pub fn half_width(&self) -> Option<f64> {
        self.width.0
    }

    /// Returns the rates of this cell and another one in the rounds in which both have a complete
    /// trial.
    pub fn pair_rates(&self, other: &Cell) -> Vec<(f64, f64)> {
        paired::pairs_of_rounds(self.rates_by_round(), other.rates_by_round())
    }

    /// Returns the rate of each complete trial, with its round.
    fn rates_by_round(&self) -> impl Iterator<Item = (u32, f64)> {
        complete(&self.trials).map(|trial| trial.round).zip(rates(&self.trials))
    }

    /// Returns its measurements for the decision whether the answer is settled; `None` if it gets
    /// no more trials, or none that could be compared.
    pub fn measured(&self, with_latency: bool) -> Option<Measurements> {
        if self.out || self.wrong && self.trials.len() >= Plan::ROUNDS as usize {
            return None;
        }
        let of_commits = self.commits.as_ref().and_then(summarize_commits).map(|of| of.total);
        let latency = if with_latency { of_commits.or_else(|| self.latency()) } else { None };
        Some(Measurements { rates: self.rates_by_round().collect(), latency })
    }

    /// Returns its trials for the search of the highest rate.
    pub fn tried(&self) -> TriedRate {
        TriedRate::new(&self.job, &self.trials, self.latency())
    }

    /// Adds a trial; the only one requested ends the work of the cell.
    pub fn keep(&mut self, trial: &Arc<Trial>) {
        self.trials.push(Arc::clone(trial));
        self.out |= self.once;
        if self.has_grown(self.width.1, 32) {
            let summary = Summary::from_values(&rates(&self.trials));
            self.width = (summary.and_then(|summary| summary.half_width()), self.trials.len());
        }
    }

    /// Returns whether there are enough new trials since there were `known`: more than one in
    /// `per`. Statistics that sort all trials then take a time that grows with their number, not
    /// with its square.
    fn has_grown(&self, known: usize, per: usize) -> bool {
        self.trials.len() > known + known / per
    }

    /// Returns whether the verdict is outdated; `at_end`, each new trial counts.
    pub fn needs_verdict(&mut self, at_end: bool) -> bool {
        let needs = self.has_grown(self.judged, if at_end { usize::MAX } else { 10 });
        if needs {
            self.judged = self.trials.len();
        }
        needs
    }

    pub fn latency(&self) -> Option<Latency> {
        let paced = self.trials.iter().filter_map(|trial| trial.evidence.paced.as_ref());
        let unstarted = paced.fold(0u64, |sum, paced| sum.saturating_add(paced.unstarted));
        Latency::with_unstarted(&self.histogram, self.every, unstarted)
    }

    pub fn verdict(&self, grounds: &Grounds) -> Verdict {
        let latency = self.latency();
        let service = self.service.as_ref().and_then(|of| Latency::from_histogram(of, self.every));
        let commits = self.commits.as_ref().and_then(summarize_commits);
        let measured = Measured {
            trials: &self.trials,
            latency: latency.as_ref(),
            service: service.as_ref(),
            commits: commits.as_ref(),
            once: self.once,
        };
        judge_job(&self.job, &measured, grounds)
    }
}

/// Summarizes the commits, if any.
fn summarize_commits(commits: &Commits) -> Option<CommitTimes> {
    let of = |histogram| Latency::from_histogram(histogram, 1);
    let total = of(&commits.total)?;
    Some(CommitTimes { total, write: of(&commits.write), sync: of(&commits.sync) })
}
