//! Explains results: what an operation costs on each curve, and what limits each cell.
//!
//! Pure: depends on the results, on the ceilings measured with them, and on what is known about the
//! path to the disk.

mod curve;
mod device;
mod estimate;
mod limit;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde::Serialize;

use crate::analysis::answer::at_full_speed;
use crate::analysis::{Axis, CellResult};
use crate::plan::{CpuCache, Job, Op};
use crate::record::{Ceilings, TargetEvidence, Throttle};
use crate::session::Session;
use crate::stats::Cost;
use crate::text::clean_text;

pub use curve::{CurveCost, Model};
pub use device::Devices;
#[cfg(test)]
use estimate::describe_within;
pub use estimate::{
    Basis, Estimate, EstimateLine, describe_estimates, describe_expected, describe_lines, estimate,
    estimate_lines,
};
pub use limit::{Limit, LimitCause};

/// Known bounds that results are compared with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bounds {
    pub ceilings: Ceilings,
    /// Bytes per second of the link to the disk, and the disk's rated speed.
    pub link: Option<f64>,
    pub rated: Option<f64>,
    /// Limits of control groups.
    pub throttle: Throttle,
    /// Why the disk serves others first.
    pub yields: Option<String>,
    /// CPUs that control groups let this process keep busy.
    pub cpu_quota: Option<f64>,
    /// CPUs that this process may use, and all CPUs of the machine; 0 if unknown.
    pub cpus: [u32; 2],
    /// Size of the largest CPU cache, bytes.
    pub cache: u64,
    /// The bytes lie on something other than a disk, or on what is not known.
    pub off_disk: bool,
}

impl Bounds {
    /// Returns the bounds of all cells of a session; bounds of a target only if it has one.
    pub fn from_session(session: &Session) -> Bounds {
        let facts = session.grounds.as_ref().map(|grounds| &grounds.target);
        Bounds::of_target(session, facts.filter(|_| session.plan.others.is_empty()))
    }

    /// Returns the bounds of one cell of a session.
    pub fn of_job(session: &Session, job: &Job) -> Bounds {
        Bounds::of_target(session, session.grounds.as_ref().map(|grounds| grounds.target_of(job)))
    }

    fn of_target(session: &Session, facts: Option<&TargetEvidence>) -> Bounds {
        let machine = session.grounds.as_ref().map(|grounds| &grounds.machine);
        let ceilings = machine.and_then(|machine| machine.ceilings).unwrap_or_default();
        let link = facts.and_then(|facts| facts.link.as_ref()).map(|link| link.bytes_per_second);
        let mut bounds = Bounds::new(ceilings, link, session.plan.rated);
        bounds.throttle = facts.and_then(|facts| facts.throttle.clone()).unwrap_or_default();
        bounds.yields = facts.and_then(|facts| facts.yields.as_deref()).map(clean_text);
        bounds.cpu_quota = machine.and_then(|machine| machine.cpu_quota);
        bounds.cpus = [session.host.cpu.allowed, session.host.cpu.online];
        bounds.cache = session.host.last_cache();
        // Older sessions do not say.
        bounds.off_disk = facts.and_then(|of| of.ground.as_ref()).is_some_and(|of| !of.is_disk());
        bounds
    }

    fn new(ceilings: Ceilings, link: Option<f64>, rated: Option<u64>) -> Bounds {
        fn positive(rate: &f64) -> bool {
            rate.is_finite() && *rate > 0.0
        }
        Bounds {
            ceilings,
            link: link.filter(positive),
            rated: rated.map(|rate| rate as f64).filter(positive),
            ..Bounds::default()
        }
    }

    /// Returns whether the data that the job reads repeatedly fits into the CPU caches.
    pub fn fits_caches(&self, job: &Job) -> bool {
        job.span <= self.cache && job.cpu_cache == CpuCache::Keep
    }

    /// Returns the bytes per second that control groups allow a job to move: for a mix, as much as
    /// its scarcer part allows.
    pub fn granted_to(&self, job: &Job) -> Option<f64> {
        let written = match job.mix {
            None => f64::from(u8::from(job.op == Op::Write)),
            Some(read) => 1.0 - f64::from(read.min(100)) / 100.0,
        };
        let granted = |(writes, share): (bool, f64)| {
            let (bytes, operations) = self.throttle.limits(writes);
            // Only with direct I/O are operations requests of the disk.
            let operations = operations.filter(|_| job.direct);
            let operations = operations.map(|most| most as f64 * job.block as f64);
            let least = bytes.map(|most| most as f64).into_iter().chain(operations);
            Some(least.min_by(f64::total_cmp)? / share)
        };
        let parts = [(false, 1.0 - written), (true, written)];
        let parts = parts.into_iter().filter(|(_, share)| *share > 0.0);
        parts.filter_map(granted).min_by(f64::total_cmp)
    }

    /// Returns the lines that apply to every cell of a throughput chart: name and bytes per second.
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
    /// For each curve over the block size that fits a line.
    pub costs: Vec<CurveCost>,
    /// For each result, in their order; `None` if nothing is known.
    #[serde(skip)]
    pub limits: Vec<Option<LimitCause>>,
}

/// Explains what limits each of these results; `bounds` returns the bounds of a cell.
pub fn explain_limits(results: &[CellResult], bounds: impl Fn(&Job) -> Bounds) -> Why {
    let costs = curve::costs(&at_full_speed(results));
    let devices = Devices::from_results(results);
    let of: HashMap<&Job, &Cost> =
        costs.iter().filter_map(|curve| Some((&curve.cell, curve.claimed()?))).collect();
    let cost = |result: &CellResult| of.get(&Axis::Block.without(&result.cell)).copied();
    let limit = |result: &CellResult| {
        limit::limit(result, cost(result), devices.of(&result.cell), &bounds(&result.cell))
    };
    let limits = results.iter().map(limit).collect();
    Why { costs, limits }
}
