//! The pace of the trials of a job, and how it is divided among lanes.

use super::cells::Amount;
use crate::backend::access_pattern::is_shared;
use crate::backend::pace::{PaceSpec, RateSpec};
use crate::plan::Job;

/// Returns the pace of the trials of a job, or of each of their parts; `None` at full speed.
pub(super) fn pace_of(job: &Job, amount: &Amount, seed: u64) -> Option<PaceSpec> {
    let Some(per_second) = job.operations_per_second() else {
        return (job.think > 0).then_some(PaceSpec::Think(job.think));
    };
    let nanos = amount.nanos / amount.parts.max(1);
    let intended = (per_second * nanos as f64 / 1e9).round() as u64;
    let work = amount.count.saturating_mul(amount.passes);
    Some(PaceSpec::Rate(RateSpec {
        per_second,
        arrival: job.arrival,
        nanos,
        by_work: work < needed_operations(job, intended),
        seed,
    }))
}

/// Returns the number of lanes that have blocks, where a pass has `count` operations.
pub(super) fn lanes_with_work(job: &Job, count: u64) -> u64 {
    let threads = u64::from(job.threads.max(1));
    if is_shared(job) { threads } else { threads.min(count.max(1)) }
}

/// Returns the operations that lanes must have so that none runs out of them before the time is
/// over, where `intended` are.
pub(super) fn needed_operations(job: &Job, intended: u64) -> u64 {
    intended.saturating_add(if is_shared(job) { unclaimed(job, intended) } else { 0 })
}

/// Returns the most operations that lanes may have claimed and not begun, of `all`.
pub(super) fn unclaimed(job: &Job, all: u64) -> u64 {
    all / 15 + u64::from(job.threads.max(1))
}
