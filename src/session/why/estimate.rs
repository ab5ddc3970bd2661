//! What a job can reach at most, told before it runs: a bound from the ceilings, as the reports' own estimates were.

use super::Bounds;
use crate::plan::{Cache, Job, Op};
use crate::session::moves_data;

/// Backends whose data is used where it lies: no copy, and no system call per block.
const IN_PLACE: &str = "mmap";

/// Bytes per second that `job` can reach at most; `None` where nothing bounds it.
///
/// From memory an operation takes at least one system call and a copy of its bytes: `1 / (call / block + 1 / bandwidth)`.
/// From the device no more than the way to it carries, or than its vendor names.
pub fn estimate(job: &Job, bounds: &Bounds) -> Option<f64> {
    if !moves_data(job) {
        return None;
    }
    let device = || [bounds.link, bounds.rated].into_iter().flatten().min_by(f64::total_cmp);
    if job.direct || job.cache == Cache::Cold || job.op == Op::Write {
        return device();
    }
    let threads = f64::from(job.threads.clamp(1, bounds.ceilings.threads.max(1)));
    if job.backend.id == IN_PLACE {
        return bounds.ceilings.read_by(job.threads);
    }
    let (call, copy) = (bounds.ceilings.syscall_nanos?, bounds.ceilings.copy_by(job.threads)?);
    // Each thread makes its own calls; they share the memory.
    let nanos = call / threads + job.block as f64 * 1e9 / copy;
    Some(job.block as f64 * 1e9 / nanos).filter(|rate| rate.is_finite())
}
