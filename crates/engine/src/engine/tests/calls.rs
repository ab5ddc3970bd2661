//! System calls: as many as each backend needs, and as many as the kernel sees.

use std::ops::RangeInclusive;

use super::*;
use crate::plan::Sync;

/// Returns the system calls of one pass; `None` if only the kernel knows.
pub(super) fn expected(spec: &Spec) -> Option<RangeInclusive<u64>> {
    let lanes = blocks(spec, 0);
    let ops = lanes.iter().map(|l| l.len() as u64).sum::<u64>();
    let choice = &spec.job.backend;
    // Each lane waits for its own writes.
    let syncs =
        if spec.job.op == Op::Write && spec.job.sync == Sync::End { lanes.len() as u64 } else { 0 };
    let exactly = |n| Some(n..=n);
    // One fadvise or madvise for each lane that has blocks.
    let at_work = lanes.iter().filter(|l| !l.is_empty()).count() as u64;
    let syncs = syncs + if choice.has("willneed") { at_work } else { 0 };
    let follows = spec.job.commits() && spec.job.sync.follows_writes();
    let groups = |lane: &Vec<(u64, u64)>| lane.len() as u64 / u64::from(spec.job.sync_every);
    let syncs = syncs + if follows { lanes.iter().map(groups).sum() } else { 0 };
    // A queue needs other calls for its syncs.
    if follows && ["uring", "aio"].contains(&choice.id.as_str()) {
        return None;
    }
    let calls = match choice.id.as_str() {
        "null" => exactly(0),
        "seek" | "getpid" | "pread" | "readv" => exactly(ops),
        // The files of these tests stay cached unless memory runs short.
        "preadv2" if choice.has("nowait") => Some(ops..=2 * ops),
        "preadv2" => exactly(ops),
        "map-unmap" => exactly(2 * ops),
        // A socket takes only part of a large block at once.
        "sendfile" if choice.has("socket") => Some(2 * ops..=20 * ops),
        "sendfile" | "copy-range" => exactly(ops),
        "splice" => exactly(2 * ops),
        "tokio" => exactly(ops + lanes.iter().map(|l| jumps(l)).sum::<u64>()),
        "aio" if spec.job.depth == 1 => exactly(2 * ops),
        "aio" => Some(
            lanes.iter().map(|l| 2 * (l.len() as u64).div_ceil(spec.job.depth.into())).sum()
                ..=2 * ops,
        ),
        "read" => exactly(ops + lanes.iter().map(|l| jumps(l)).sum::<u64>()),
        "mmap" | "mmap-copy" | "simd-copy" if choice.has("populate") => exactly(at_work),
        "mmap" | "mmap-copy" | "simd-copy" => exactly(0),
        "uring" if choice.has("sqpoll") => Some(0..=ops),
        "uring" if spec.job.depth == 1 => exactly(ops),
        "uring" => {
            let least = lanes.iter().map(|l| (l.len() as u64).div_ceil(spec.job.depth.into()));
            // A full batch is submitted by a call that waits for nothing.
            let batches = choice.size("submit").map_or(0, |limit| ops / limit);
            Some(least.sum()..=ops + batches)
        }
        _ => None,
    };
    calls.map(|calls| calls.start() + syncs..=calls.end() + syncs)
}

/// Asserts that a pass made as many system calls as expected.
pub(super) fn assert_counted(spec: &Spec, sums: &Sums, label: &str) {
    if let Some(calls) = expected(spec) {
        let counted = sums.syscalls;
        assert!(calls.contains(&counted), "{label}: {counted} system calls, not {calls:?}");
    }
}

/// Counts the blocks that do not begin where the previous one ended; a new description is at 0.
fn jumps(lane: &[(u64, u64)]) -> u64 {
    let mut position = 0;
    let mut jumps = 0;
    for (offset, len) in lane {
        jumps += u64::from(*offset != position);
        position = offset + len;
    }
    jumps
}
