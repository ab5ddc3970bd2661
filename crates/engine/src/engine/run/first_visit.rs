//! Reads blocks twice before the first trial, past the page cache, to find out whether something
//! below this machine caches.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Unread;
use crate::engine::targets::Targets;
use crate::experiment::shuffle;
use crate::plan::{Cache, Op, Plan, TargetSpec};
use crate::record::FirstVisits;
use crate::sys::buffer::Buffer;

/// Bytes of a block, and most blocks that are read: 32 MiB.
const BLOCK: u64 = 64 << 10;
const MAX_PAIRS: usize = 512;
/// Fewer pairs show nothing.
const MIN_PAIRS: usize = 64;
/// Blocks that are read before the first of them is read again: where a disk has to seek, both
/// reads of a block do.
const BATCH: usize = 16;
/// Longest time, and share of the budget.
const MAX_TIME: Duration = Duration::from_secs(2);
const BUDGET_SHARE: f64 = 0.04;

/// Returns what nothing has read, where a plan reads each block once, and compares first and second
/// reads before the trials, if this process measures alone; the plan then knows what they read.
pub(super) fn prepare(
    plan: &mut Arc<Plan>,
    targets: &mut Targets,
    alone: bool,
    stop: &dyn Fn() -> bool,
) -> Option<Unread> {
    let mut unread = Unread::new(plan, targets.sizes(plan).into_iter());
    let read = if alone { compare(plan, targets, &mut unread, stop) } else { Vec::new() };
    if plan.fresh.is_some() {
        Arc::make_mut(plan).fresh.get_or_insert_default().visited.extend(read);
    }
    unread
}

/// Compares first and second reads of the user's files that cells read from the device, where the
/// budget has room for it. `unread` gives the blocks where each is read once. Returns the bytes
/// among which they were.
fn compare(
    plan: &Plan,
    targets: &mut Targets,
    unread: &mut Option<Unread>,
    stop: &dyn Fn() -> bool,
) -> Vec<(u64, u64)> {
    let mut taken = Vec::new();
    let reads = |at: usize| {
        plan.cells.iter().filter(move |job| job.target_index() == at).any(|job| {
            job.op == Op::Read && (job.direct || job.cache == Cache::Cold) && job.processes() < 2
        })
    };
    if plan.pick || plan.budget < Plan::MIN_FOR_CEILINGS {
        return taken;
    }
    let most = MAX_TIME.min(plan.budget.mul_f64(BUDGET_SHARE));
    for (at, spec) in plan.targets().enumerate() {
        let Some(open_target) = targets.nth_mut(at) else { continue };
        let facts = &open_target.facts;
        // Second reads of an image would come from its page cache, which is on this machine.
        let is_cached_here = facts.ground.layers_to_drop().next().is_some();
        // What iotui has just written was never unread.
        let is_ours = !matches!(spec, TargetSpec::File { .. });
        if is_ours || facts.memory || is_cached_here || !reads(at) {
            continue;
        }
        let parts = match unread {
            Some(unread) => {
                unread.take_bytes(at, MIN_PAIRS as u64 * BLOCK..=MAX_PAIRS as u64 * BLOCK)
            }
            None => std::iter::once(0..open_target.facts.size).collect(),
        };
        taken.extend(parts.iter().map(|part| (part.start, part.end)));
        let Ok(file) = open_target.open_direct() else { continue };
        let over = Instant::now() + most;
        let ends = || stop() || Instant::now() > over;
        open_target.first_visits = read_pairs(&file, &parts, plan.seed, &ends);
    }
    taken
}

/// Reads random blocks of these parts, each twice; `None` where that is impossible, or time for
/// too few.
fn read_pairs(
    file: &File,
    parts: &[Range<u64>],
    seed: u64,
    ends: &dyn Fn() -> bool,
) -> Option<FirstVisits> {
    let blocks = |part: &Range<u64>| part.start.div_ceil(BLOCK)..part.end / BLOCK;
    let all: u64 = parts.iter().map(|part| blocks(part).count() as u64).sum();
    // Random ones of a large file; no block twice.
    let every = (all / MAX_PAIRS as u64).max(1) as usize;
    let mut chosen: Vec<u64> =
        parts.iter().flat_map(blocks).step_by(every).take(MAX_PAIRS).collect();
    shuffle(&mut chosen, seed);
    let mut buffer = Buffer::for_direct(BLOCK as usize).ok()?;
    let mut visits = FirstVisits::default();
    for batch in chosen.chunks(BATCH) {
        if ends() {
            break;
        }
        let mut time_all = || -> Option<Vec<u64>> {
            let mut time = |block: &u64| {
                let begin = Instant::now();
                file.read_exact_at(&mut buffer.bytes_mut()[..BLOCK as usize], block * BLOCK)
                    .ok()?;
                Some(begin.elapsed().as_nanos() as u64)
            };
            batch.iter().map(&mut time).collect()
        };
        let (first, again) = (time_all()?, time_all()?);
        first.into_iter().zip(again).for_each(|(first, again)| visits.add(first, again));
    }
    (visits.pairs as usize >= MIN_PAIRS).then_some(visits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing;

    #[test]
    fn blocks_are_read_twice_and_within_their_parts() {
        let Some(file) = testing::file_on_disk(16 << 20) else { return };
        let parts = [0..4 << 20, 8 << 20..(14 << 20) + 100];
        let visits = read_pairs(&file, &parts, 7, &|| false).unwrap();
        assert_eq!(visits.pairs, 160);
        assert!(visits.ratio().is_some());
        let within = |end: u64| read_pairs(&file, std::slice::from_ref(&(0..end)), 7, &|| false);
        assert_eq!(within(1 << 20), None, "too few blocks");
        assert_eq!(within(64 << 20), None, "beyond the end");
        assert_eq!(read_pairs(&file, &parts, 7, &|| true), None, "no time");
    }
}
