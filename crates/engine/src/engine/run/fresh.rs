//! First reads of blocks: the parts of the targets that nothing has read, for runs that read each
//! block once (`--fresh`), and blocks that are read twice before the first trial, past the page
//! cache, to find out whether something below this machine caches.

use std::fs::File;
use std::ops::{Range, RangeInclusive};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::targets::Targets;
use crate::plan::{Cache, Fresh, Job, Op, Plan, TargetSpec};
use crate::record::FirstVisits;
use crate::stats::random::shuffle;
use crate::sys::buffer::Buffer;
use crate::units::{show_bytes, show_share};

/// The unread bytes of each target, cut into one part for each trial.
pub(super) struct Unread {
    targets: Vec<UnreadParts>,
}

struct UnreadParts {
    /// In random order; the last is the next.
    waiting: Vec<Range<u64>>,
    /// Bytes that were unread when the run began.
    all: u64,
}

impl Unread {
    /// Returns the unread parts of targets of these sizes; `None` if blocks may be read again.
    pub fn new(plan: &Plan, sizes: impl Iterator<Item = u64>) -> Option<Unread> {
        let Fresh { visited } = plan.fresh.as_ref()?;
        let unit = plan.cells.iter().map(|job| job.block * u64::from(job.threads)).max()?.max(1);
        let targets = sizes.zip(0u64..).map(|(size, target)| {
            let gaps = gaps(visited, size);
            let all = gaps.iter().map(|gap| gap.end - gap.start).sum::<u64>();
            let part = (all / trials(plan)).max(unit) / unit * unit;
            let mut waiting: Vec<_> = gaps.into_iter().flat_map(|gap| cut(gap, part)).collect();
            shuffle(&mut waiting, plan.seed ^ target);
            UnreadParts { waiting, all }
        });
        Some(Unread { targets: targets.collect() })
    }

    /// Takes the blocks of a job's next trial; `None` if too few are left.
    pub fn take(&mut self, job: &Job) -> Option<Range<u64>> {
        let blocks = |part: &Range<u64>| {
            part.start.div_ceil(job.block.max(1))..part.end.min(job.span) / job.block.max(1)
        };
        let waiting = &mut self.targets.get_mut(job.target_index())?.waiting;
        let at =
            waiting.iter().rposition(|part| blocks(part).count() as u64 >= job.threads.into())?;
        Some(blocks(&waiting.swap_remove(at)))
    }

    /// Takes parts of a target for reads outside of trials: an eighth of its bytes, within these
    /// limits; nothing if that is less.
    pub fn take_bytes(&mut self, target: usize, limits: RangeInclusive<u64>) -> Vec<Range<u64>> {
        let mut taken: Vec<Range<u64>> = Vec::new();
        let eighth = self.targets.get(target).map_or(0, |parts| parts.all / 8);
        let bytes = eighth.min(*limits.end());
        if bytes < *limits.start() {
            return taken;
        }
        while let Some(parts) = self.targets.get_mut(target)
            && taken.iter().map(|part| part.end - part.start).sum::<u64>() < bytes
            && let Some(part) = parts.waiting.pop()
        {
            taken.push(part);
        }
        taken
    }

    /// Describes what is left.
    pub fn describe(&self) -> String {
        let all: u64 = self.targets.iter().map(|parts| parts.all).sum();
        let waiting = self.targets.iter().flat_map(|parts| &parts.waiting);
        let left: u64 = waiting.map(|part| part.end - part.start).sum();
        format!(
            "each block was read once: {} of {} that nothing had read are left ({})",
            show_bytes(left),
            show_bytes(all),
            show_share(if all > 0 { left as f64 / all as f64 } else { 0.0 })
        )
    }
}

/// Returns the most trials that the plan has time for, at least one of each cell.
fn trials(plan: &Plan) -> u64 {
    let cells = plan.cells.len() as u64;
    let fit = plan.budget.as_secs_f64() / plan.trial_time.low.as_secs_f64().max(1e-3);
    // One more: for what is read before the trials.
    cells.saturating_mul(plan.most_rounds().into()).min(fit as u64).max(cells) + 1
}

/// Returns the ranges between the visited ones.
fn gaps(visited: &[(u64, u64)], size: u64) -> Vec<Range<u64>> {
    let mut visited: Vec<(u64, u64)> = visited.to_vec();
    visited.sort_unstable();
    let (mut gaps, mut end) = (Vec::new(), 0);
    for (from, to) in visited.into_iter().chain([(size, size)]) {
        if from.min(size) > end {
            gaps.push(end..from.min(size));
        }
        end = end.max(to);
    }
    gaps
}

/// Cuts a range into parts of `len` bytes that begin at its multiples; shorter ones are left out.
fn cut(gap: Range<u64>, len: u64) -> impl Iterator<Item = Range<u64>> {
    let first = gap.start.div_ceil(len) * len;
    let parts = gap.end.saturating_sub(first) / len;
    (0..parts).map(move |part| first + part * len..first + (part + 1) * len)
}

/// Bytes of a block, and the most pairs of reads: 32 MiB.
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

/// Returns the unread parts if a plan reads each block once, and compares first and second reads
/// before the trials if this process measures alone. The bytes that they read are added to the
/// plan.
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

/// Compares first and second reads of the user's files that cells read from the device, if the
/// budget has room for it. If each block is read once, takes the blocks from `unread`. Returns the
/// ranges that they are from.
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
        // iotui has just written its own files.
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

/// Reads random blocks of these parts, each twice; `None` if that is impossible, or the time
/// suffices for too few.
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
    use crate::backend::testing;
    use crate::plan::TargetSpec;
    use crate::sys::testing::file_on_disk;
    use proptest::prelude::*;

    fn plan(visited: Vec<(u64, u64)>, block: u64) -> Plan {
        let mut plan = Plan::plain("sweep", TargetSpec::None);
        plan.cells = vec![Job { block, span: 1 << 24, ..testing::job() }];
        (plan.fresh, plan.trials) = (Some(Fresh { visited }), Some(5));
        plan
    }

    #[test]
    fn plans_that_reread_have_no_parts() {
        assert!(Unread::new(&Plan { fresh: None, ..plan(vec![], 1) }, [1].into_iter()).is_none());
    }

    #[test]
    fn early_reads_are_not_trial_reads() {
        let plan = plan(vec![], 4096);
        let mut unread = Unread::new(&plan, [1 << 24].into_iter()).unwrap();
        assert_eq!(unread.take_bytes(0, 4 << 20..=8 << 20), [], "more than an eighth");
        let taken = unread.take_bytes(0, 1..=1 << 20);
        assert_eq!(taken.len(), 1, "a part is a sixth of the file");
        while let Some(blocks) = unread.take(&plan.cells[0]) {
            let bytes = blocks.start * 4096..blocks.end * 4096;
            assert!(bytes.end <= taken[0].start || bytes.start >= taken[0].end);
        }
        assert!(unread.describe().contains("0 B of"), "{}", unread.describe());
    }

    proptest! {
        #[test]
        fn no_byte_is_read_twice(
            visited in proptest::collection::vec((0..1u64 << 24, 0..1u64 << 22), 0..6),
            block in 1..3_000_000u64, size in 0..1u64 << 24,
        ) {
            let visited: Vec<_> = visited.into_iter().map(|(from, len)| (from, from + len)).collect();
            let plan = plan(visited.clone(), block);
            let mut unread = Unread::new(&plan, [size].into_iter()).unwrap();
            let mut seen = visited;
            while let Some(blocks) = unread.take(&plan.cells[0]) {
                let (from, to) = (blocks.start * block, blocks.end * block);
                prop_assert!(from < to && to <= size, "{from}..{to} of {size}");
                prop_assert!(seen.iter().all(|(start, end)| to <= *start || *end <= from));
                seen.push((from, to));
            }
        }
    }

    #[test]
    fn blocks_are_read_twice_in_parts() {
        let Some(file) = file_on_disk(16 << 20) else { return };
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
