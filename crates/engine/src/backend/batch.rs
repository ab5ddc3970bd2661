//! How many requests one system call submits.

use crate::plan::{Job, Pattern};

/// Returns the most requests that one call should submit. The kernel holds back those of a call
/// that submits more than two until it has seen all of them, so that neighbours are merged
/// (block/blk-core.c, blk_start_plug). Random requests have no neighbours: a disk would idle
/// meanwhile.
pub(super) fn batch_limit(job: &Job) -> u32 {
    if job.direct && job.pattern == Pattern::Random { 2 } else { u32::MAX }
}
