//! Why a result is what it is: what an operation costs on each curve, and what limits each cell.
//!
//! Pure: results, the ceilings that were measured beside them, and what is known of the way to the
//! disk.

mod curve;
mod estimate;
mod limit;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde::Serialize;

use crate::analysis::{Axis, CellResult};
use crate::plan::{CpuCache, Job, Op};
use crate::record::{Ceilings, Source};
use crate::session::Session;
use crate::stats::Cost;

pub use curve::{CurveCost, Model};
#[cfg(test)]
use estimate::describe_within;
pub use estimate::{
    Basis, Estimate, EstimateLine, describe_estimates, describe_expected, describe_lines, estimate,
    estimate_lines,
};
pub use limit::{Limit, LimitCause};

/// What results are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bounds {
    pub ceilings: Ceilings,
    /// Bytes per second of the link to the disk, and the disk's rated speed.
    pub link: Option<f64>,
    pub rated: Option<f64>,
    /// Bytes per second that control groups allow to be read and written.
    pub granted: [Option<f64>; 2],
    /// Bytes of the largest cache of a CPU.
    pub cache: u64,
}

impl Bounds {
    pub fn of(session: &Session) -> Bounds {
        let grounds = session.grounds.as_ref();
        let ceilings = grounds.and_then(|grounds| grounds.machine.ceilings).unwrap_or_default();
        let link = grounds
            .and_then(|grounds| grounds.target.link.as_ref())
            .map(|link| link.bytes_per_second);
        let mut bounds = Bounds::new(ceilings, link, session.plan.rated);
        let throttle = grounds.and_then(|grounds| grounds.target.throttle.as_ref());
        bounds.cache = session.host.last_cache();
        bounds.granted =
            [false, true].map(|writes| throttle?.limits(writes).0.map(|bytes| bytes as f64));
        bounds
    }

    fn new(ceilings: Ceilings, link: Option<f64>, rated: Option<u64>) -> Bounds {
        let positive = |rate: &f64| rate.is_finite() && *rate > 0.0;
        Bounds {
            ceilings,
            link: link.filter(positive),
            rated: rated.map(|rate| rate as f64).filter(positive),
            ..Bounds::default()
        }
    }

    /// Whether what the job reads again and again can stay in the CPUs' own caches.
    pub fn fits_caches(&self, job: &Job) -> bool {
        job.span <= self.cache && job.cpu_cache == CpuCache::Keep
    }

    /// Bytes per second that control groups let a job move: of a mix as much as its scarcer part
    /// allows.
    pub fn granted_to(&self, job: &Job) -> Option<f64> {
        let written = match job.mix {
            None => f64::from(u8::from(job.op == Op::Write)),
            Some(read) => 1.0 - f64::from(read.min(100)) / 100.0,
        };
        let parts = self
            .granted
            .into_iter()
            .zip([1.0 - written, written])
            .filter(|(_, share)| *share > 0.0);
        parts.filter_map(|(granted, share)| Some(granted? / share)).min_by(f64::total_cmp)
    }

    /// The lines that hold for every cell of a chart of throughputs: name and bytes per second.
    pub fn lines(&self) -> Vec<(&'static str, f64)> {
        let all = [
            ("copy, 1 thread", self.ceilings.copy),
            ("memory, 1 thread", self.ceilings.read),
            ("link", self.link),
            ("rated", self.rated),
        ];
        all.into_iter().filter_map(|(name, rate)| Some((name, rate?))).collect()
    }
}

/// The costs and limits behind results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Why {
    /// For each curve over the block size that a line fits.
    pub costs: Vec<CurveCost>,
    /// For each result, in their order; `None` where nothing can be said.
    #[serde(skip)]
    pub limits: Vec<Option<LimitCause>>,
}

/// Explains what limits each of these results.
pub fn explain_limits(results: &[CellResult], bounds: &Bounds) -> Why {
    let costs = curve::costs(results);
    let device = limit::Device::of(results);
    let of: HashMap<&Job, &Cost> =
        costs.iter().filter_map(|curve| Some((&curve.cell, curve.claimed()?))).collect();
    let cost = |result: &CellResult| of.get(&Axis::Block.without(&result.cell)).copied();
    let limits =
        results.iter().map(|result| limit::limit(result, cost(result), &device, bounds)).collect();
    Why { costs, limits }
}

/// Most of the bytes of this result came from a device.
fn from_device(source: Option<Source>) -> bool {
    source.is_some_and(|source| source.device >= 0.5)
}

/// Most of the bytes of this result came from memory.
fn from_memory(source: Option<Source>) -> bool {
    source.is_some_and(|source| source.page_cache + source.hole >= 0.5)
}
