//! The parts of the targets that nothing has read, for runs that read each block once (`--fresh`).

use std::ops::{Range, RangeInclusive};

use crate::experiment::shuffle;
use crate::plan::{Fresh, Job, Plan};
use crate::units::{show_bytes, show_share};

/// The unread bytes of each target, cut into one part for each trial.
pub(super) struct Unread {
    targets: Vec<Parts>,
}

struct Parts {
    /// In random order; the last is the next.
    waiting: Vec<Range<u64>>,
    /// Bytes that were unread when the run began.
    all: u64,
}

impl Unread {
    /// Returns the unread parts of targets of these sizes; `None` where blocks may be read again.
    pub fn new(plan: &Plan, sizes: impl Iterator<Item = u64>) -> Option<Unread> {
        let Fresh { visited } = plan.fresh.as_ref()?;
        let unit = plan.cells.iter().map(|job| job.block * u64::from(job.threads)).max()?.max(1);
        let targets = sizes.zip(0u64..).map(|(size, target)| {
            let gaps = gaps(visited, size);
            let all = gaps.iter().map(|gap| gap.end - gap.start).sum::<u64>();
            let part = (all / trials(plan)).max(unit) / unit * unit;
            let mut waiting: Vec<_> = gaps.into_iter().flat_map(|gap| cut(gap, part)).collect();
            shuffle(&mut waiting, plan.seed ^ target);
            Parts { waiting, all }
        });
        Some(Unread { targets: targets.collect() })
    }

    /// Takes the blocks of a job's next trial; `None` where too few are left.
    pub fn take(&mut self, job: &Job) -> Option<Range<u64>> {
        let blocks = |part: &Range<u64>| {
            part.start.div_ceil(job.block.max(1))..part.end.min(job.span) / job.block.max(1)
        };
        let waiting = &mut self.targets.get_mut(job.target_index())?.waiting;
        let at =
            waiting.iter().rposition(|part| blocks(part).count() as u64 >= job.threads.into())?;
        Some(blocks(&waiting.swap_remove(at)))
    }

    /// Takes parts of a target for reads that are no trial: of as many bytes as an eighth of it
    /// has, within these limits; nothing where that is less.
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

/// Returns how many trials the plan has time for, at most; at least one of each cell.
fn trials(plan: &Plan) -> u64 {
    let cells = plan.cells.len() as u64;
    let fit = plan.budget.as_secs_f64() / plan.trial_time.low.as_secs_f64().max(1e-3);
    // One more: for what is read before the trials.
    cells.saturating_mul(plan.most_rounds().into()).min(fit as u64).max(cells) + 1
}

/// Returns what lies between the visited ranges.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::TargetSpec;
    use proptest::prelude::*;

    fn plan(visited: Vec<(u64, u64)>, block: u64) -> Plan {
        let mut plan = Plan::plain("sweep", TargetSpec::None);
        plan.cells = vec![Job { block, span: 1 << 24, ..testing::job() }];
        (plan.fresh, plan.trials) = (Some(Fresh { visited }), Some(5));
        plan
    }

    #[test]
    fn a_plan_that_may_read_again_has_no_parts() {
        assert!(Unread::new(&Plan { fresh: None, ..plan(vec![], 1) }, [1].into_iter()).is_none());
    }

    #[test]
    fn what_is_read_before_the_trials_is_not_read_by_them() {
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
}
