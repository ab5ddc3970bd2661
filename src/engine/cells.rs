//! What the engine knows of each cell while it runs: its calibrated work, its trials, its
//! latencies, its failure.

use std::collections::HashSet;
use std::sync::Arc;

use super::way::Way;
use crate::backend::meter::Timed;
use crate::plan::{Cache, CpuCache, Job, Plan};
use crate::record::{CellEvidence, Grounds, Latency, Spread, Trial, Verdict, judge};
use crate::stats::{Histogram, Summary, outliers, two_modes};

/// The work of one trial, as calibration found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Amount {
    pub count: u64,
    pub passes: u64,
    /// How often all of it is done in one trial, each time prepared anew outside of the timed
    /// window.
    pub parts: u64,
    pub timed: Timed,
    /// How long a trial of it took, preparation left out, nanoseconds.
    pub nanos: u64,
}

pub(super) struct Cell {
    pub job: Job,
    pub way: Way,
    /// It is compared with a cell whose second pass would measure something else: it too opens and
    /// maps anew for each pass.
    pub anew: bool,
    pub amount: Option<Amount>,
    pub trials: Vec<Arc<Trial>>,
    pub histogram: Histogram,
    pub every: u32,
    /// Out of the run: failed or skipped by the user.
    pub out: bool,
}

/// A file up to here takes many passes to fill a trial. Of a larger one a trial is a few, whatever
/// its state.
const SMALL: u64 = 64 << 20;

/// Whether the plan has the same job with flushed CPU caches, or cold where this one is warm and
/// the file small: of those a trial is passes that each begin anew, so the page faults and calls
/// that each pass begins with must not be spread over many passes here.
fn is_compared(job: &Job, all: &HashSet<&Job>) -> bool {
    let flushed = Job { cpu_cache: CpuCache::Flush, ..job.clone() };
    let cold = Job { cache: Cache::Cold, ..job.clone() };
    let small = job.span <= SMALL && job.cache == Cache::Warm && !job.direct;
    (job.cpu_cache == CpuCache::Keep && all.contains(&flushed)) || (small && all.contains(&cold))
}

impl Cell {
    /// One per cell of the plan; a backend of a plan made elsewhere may be unknown here.
    pub fn all(plan: &Plan) -> Vec<Result<Cell, String>> {
        let all: HashSet<&Job> = plan.cells.iter().collect();
        let cell = |job: &Job| {
            let way = Way::of(&job.backend).map_err(|unknown| unknown.to_string())?;
            job.backend.check(way.info()).map_err(|error| error.to_string())?;
            Ok(Cell {
                job: job.clone(),
                way,
                anew: is_compared(job, &all),
                amount: None,
                trials: Vec::new(),
                histogram: Histogram::new(),
                every: 0,
                out: false,
            })
        };
        plan.cells.iter().map(cell).collect()
    }

    /// Relative half width of the interval of what the cell is measured by; `None` below five
    /// trials.
    pub fn half_width(&self) -> Option<f64> {
        Summary::of(&rates(&self.trials))?.half_width()
    }

    pub fn latency(&self) -> Option<Latency> {
        latency(&self.histogram, self.every)
    }

    pub fn verdict(&self, grounds: &Grounds) -> Verdict {
        verdict(&self.job, &self.trials, self.latency().as_ref(), grounds)
    }
}

/// A histogram as plain data; one operation in `every` was timed. `None` where none was.
pub(super) fn latency(h: &Histogram, every: u32) -> Option<Latency> {
    let at = |q| h.quantile(q).map(|nanos| nanos as f64);
    (h.count() > 0).then(|| Latency {
        count: h.count(),
        every,
        mean: h.mean(),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: h.max() as f64,
        buckets: h.pairs(),
    })
}

/// Bytes per second of the trials that were not cut, or operations where no bytes move.
fn rates(trials: &[Arc<Trial>]) -> Vec<f64> {
    let moves = trials.iter().any(|t| t.bytes > 0);
    trials
        .iter()
        .filter(|t| !t.short)
        .map(|t| if moves { t.throughput() } else { t.operations() })
        .collect()
}

/// The verdict on the trials of one job; nothing for a backend that this iotui does not know.
pub fn verdict(
    job: &Job,
    trials: &[Arc<Trial>],
    latency: Option<&Latency>,
    grounds: &Grounds,
) -> Verdict {
    let Ok(way) = Way::of(&job.backend) else { return Verdict::default() };
    let rates = rates(trials);
    judge(&CellEvidence {
        job,
        info: way.info(),
        target: &grounds.target,
        machine: &grounds.machine,
        // A peer has a loop of its own.
        harness_nanos: if way.info().is_peer() { 0.0 } else { grounds.harness_nanos },
        trials,
        spread: Spread {
            half_width: Summary::of(&rates).and_then(|s| s.half_width()),
            two_modes: two_modes(&rates),
            outliers: outliers(&rates).len(),
        },
        latency,
    })
}
