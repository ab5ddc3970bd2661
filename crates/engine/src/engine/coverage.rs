//! Computes which blocks a trial visited by replaying its offsets, as nothing is logged during it.

use std::ops::Range;

use super::legs::Leg;
use super::spec::Spec;
use super::workers::LaneResult;
use crate::backend::access_pattern::Share;
use crate::facts::ExtentMethod;
use crate::plan::Pattern;
use crate::sys::extents::Extents;

/// The visited part of a share: of one lane, or of all lanes if they share blocks.
pub(super) struct Coverage {
    /// The index of the file in a list.
    pub file: usize,
    pub share: Share,
    /// Complete passes.
    pub passes: u64,
    /// Operations of the incomplete pass after them.
    pub rest: u64,
    /// The unvisited part of the last claims of stopped lanes: the pass and the indexes.
    pub unvisited: Vec<(u64, Range<u64>)>,
}

/// Returns the blocks that the lanes of a trial visited.
pub(super) fn trial_coverage(lanes: &[LaneResult], spec: &Spec) -> Vec<Coverage> {
    if !spec.target.listed.is_empty() {
        return lanes.iter().flat_map(list_coverage).collect();
    }
    let Some(claims) = spec.claims() else {
        return lanes
            .iter()
            .map(|lane| Coverage {
                file: 0,
                share: lane.share,
                passes: lane.tally.passes,
                rest: lane.tally.rest,
                unvisited: Vec::new(),
            })
            .collect();
    };
    let claimed = lanes.iter().map(|lane| &lane.tally.claimed);
    let (passes, rest) =
        claims.progress(claimed.clone().map(|claimed| claimed.claims).max().unwrap_or(0));
    let unvisited = claimed
        .filter(|claimed| !claimed.left.is_empty())
        .map(|claimed| (claimed.pass, claimed.left.clone()))
        .collect();
    vec![Coverage { file: 0, share: spec.share(0), passes, rest, unvisited }]
}

/// Returns what a lane visited of each file of a list: of the last pass, the first files whole.
fn list_coverage(lane: &LaneResult) -> Vec<Coverage> {
    let mut left = lane.tally.rest;
    let coverage = |Leg { file, share }: &Leg| {
        let rest = left.min(share.quota);
        left -= rest;
        let passes = lane.tally.passes;
        let (passes, rest) = if rest == share.quota { (passes + 1, 0) } else { (passes, rest) };
        Coverage { file: *file, share: *share, passes, rest, unvisited: Vec::new() }
    };
    lane.legs.iter().map(coverage).collect()
}

impl Coverage {
    /// Returns the number of complete passes; `None` for an empty share.
    pub fn passes(&self) -> Option<u64> {
        let complete = self.unvisited.iter().map(|(pass, _)| *pass).fold(self.passes, u64::min);
        (self.share.quota > 0).then_some(complete)
    }

    /// Returns the planned bytes of all operations, and of the first pass (each byte counted once).
    pub fn bytes(&self) -> (u64, u64) {
        if self.share.pattern.is_drawn() {
            return self.drawn_bytes();
        }
        let pass = self.pass_bytes(0, self.share.quota);
        let rest = self.pass_bytes(self.passes, self.rest);
        let mut all = pass * self.passes + rest;
        let mut first = if self.passes > 0 { pass } else { rest };
        for (pass, indexes) in &self.unvisited {
            let bytes = self.sum_blocks(*pass, indexes.clone(), |_, len| len);
            all -= bytes;
            if *pass == 0 {
                first -= bytes;
            }
        }
        (all, first)
    }

    /// Returns the same of blocks that are drawn: all are equally long, and which ones differ is
    /// found by drawing them again, or expected where that would take long.
    fn drawn_bytes(&self) -> (u64, u64) {
        let (share, operations) = (&self.share, self.operations());
        let Some(draw) = share.draw(0).filter(|_| operations > 0) else { return (0, 0) };
        let len = share.drawn_len();
        let different = match operations <= MAX_REDRAWN && share.blocks <= MAX_REMEMBERED {
            true => self.count_different(),
            false => draw.expect_different(operations),
        };
        (operations * len, different * len)
    }

    /// Returns the number of operations.
    fn operations(&self) -> u64 {
        let unvisited = self.unvisited.iter().map(|(_, some)| some.end - some.start).sum::<u64>();
        self.passes * self.share.quota + self.rest - unvisited
    }

    /// Counts the different blocks by going through the operations again.
    fn count_different(&self) -> u64 {
        let mut seen = vec![0u64; self.share.blocks.div_ceil(64) as usize];
        for pass in 0..=self.passes {
            let last = if pass < self.passes { self.share.quota } else { self.rest };
            let order = self.share.order(pass);
            let of_pass = |(of, some): &(u64, Range<u64>)| (*of == pass).then(|| some.clone());
            let unvisited: Vec<Range<u64>> = self.unvisited.iter().filter_map(of_pass).collect();
            for index in (0..last).filter(|at| !unvisited.iter().any(|some| some.contains(at))) {
                let block = order.block(index);
                seen[(block / 64) as usize] |= 1 << (block % 64);
            }
        }
        seen.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Sums `of(offset, bytes)` over the blocks at these indexes of a pass.
    fn sum_blocks(&self, pass: u64, indexes: Range<u64>, of: impl Fn(u64, u64) -> u64) -> u64 {
        let share = &self.share;
        let order = share.order(pass);
        (indexes.start..indexes.end.min(share.quota))
            .map(|index| order.offset(index))
            .map(|offset| of(offset, share.len_at(offset)))
            .sum()
    }

    /// Returns the bytes of the first `ops` operations of a pass: all blocks are full but the
    /// span's last.
    fn pass_bytes(&self, pass: u64, ops: u64) -> u64 {
        let share = &self.share;
        if ops == share.blocks {
            return share.bytes();
        }
        let has_short_block =
            !share.span.is_multiple_of(share.block) && share.range().end == share.span;
        let mut bytes = ops * share.block;
        if has_short_block && self.visits_last(pass, ops) {
            bytes = bytes - share.block + share.span % share.block;
        }
        bytes
    }

    /// Returns whether the first `ops` operations of a pass, fewer than all, include the share's
    /// last block.
    fn visits_last(&self, pass: u64, ops: u64) -> bool {
        match self.share.pattern {
            Pattern::Seq => false,
            Pattern::Reverse => ops > 0,
            // All of the same length.
            Pattern::Zipf(_) | Pattern::Hot { .. } => false,
            Pattern::Stride(_) | Pattern::Random => {
                let last = self.share.offset(self.share.blocks - 1);
                let mut seen = false;
                self.share.replay(pass, ops, |offset, _| seen |= offset == last);
                seen
            }
        }
    }

    /// Returns the bytes written by a mix of reads and writes, by replaying which operations wrote.
    pub fn written_bytes(&self) -> u64 {
        let complete: u64 =
            (0..self.passes).map(|pass| self.share.written_bytes(pass, u64::MAX)).sum();
        complete + self.share.written_bytes(self.passes, self.rest)
    }

    /// Returns the bytes of operations that lay in holes: from the map for complete passes, by
    /// replaying offsets for the last.
    fn hole_bytes(&self, extents: &Extents) -> u64 {
        let hole = |offset, len| extents.hole_bytes_in(offset..offset + len);
        let visits_all = self.share.quota == self.share.blocks
            && self.share.every == 1
            && !self.share.pattern.is_drawn();
        let mut bytes = self.sum_blocks(self.passes, 0..self.rest, hole);
        for pass in 0..self.passes {
            bytes += if visits_all {
                extents.hole_bytes_in(self.share.range())
            } else {
                self.sum_blocks(pass, 0..self.share.quota, hole)
            };
        }
        for (pass, indexes) in &self.unvisited {
            bytes -= self.sum_blocks(*pass, indexes.clone(), hole);
        }
        bytes
    }
}

/// Operations that are drawn again, which takes about 0.2 s, and blocks that are distinguished.
const MAX_REDRAWN: u64 = 1 << 22;
const MAX_REMEMBERED: u64 = 1 << 28;

/// Returns the bytes of operations that lay in holes of each file; `None` if an extent map is
/// unknown, or it would take long to draw them again.
pub(super) fn hole_bytes(coverage: &[Coverage], extents: &[Option<&Extents>]) -> Option<u64> {
    let known = |of: &Option<&'_ Extents>| of.is_some_and(|of| of.method != ExtentMethod::Assumed);
    if !extents.iter().all(known) {
        return None;
    }
    if extents.iter().flatten().all(|extents| extents.hole_bytes() == 0) {
        return Some(0);
    }
    let is_long = |of: &Coverage| of.share.pattern.is_drawn() && of.operations() > MAX_REDRAWN;
    if coverage.iter().any(is_long) {
        return None;
    }
    coverage.iter().map(|of| Some(of.hole_bytes((*extents.get(of.file)?)?))).sum()
}

/// Returns the bytes assigned to more than one lane.
pub(super) fn overlap(coverage: &[Coverage]) -> u64 {
    let mut ranges: Vec<_> =
        coverage.iter().map(|v| v.share.range()).filter(|r| !r.is_empty()).collect();
    ranges.sort_by_key(|r| r.start);
    ranges.windows(2).map(|w| w[0].end.min(w[1].end).saturating_sub(w[1].start)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::Job;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn drawn_blocks_are_counted_once(
            blocks in 1u64..300,
            odd in 0u64..64,
            theta in 1u16..3000,
            passes in 0u64..5,
            (rest, left) in (0u64..300, 0u64..40),
            seed: u64,
        ) {
            let span = blocks * 64 + odd;
            let job = Job { span, block: 64, pattern: Pattern::Zipf(theta), ..testing::job() };
            let share = Share::for_lane(&job, 0, u64::MAX, seed);
            let rest = rest.min(share.quota);
            let unvisited = if passes > 0 { vec![(0, 0..left.min(share.quota))] } else { vec![] };
            let coverage = Coverage { file: 0, share, passes, rest, unvisited: unvisited.clone() };
            let (mut all, mut seen) = (0, HashMap::new());
            for pass in 0..=passes {
                let order = share.order(pass);
                let end = if pass < passes { share.quota } else { rest };
                for index in 0..end {
                    if unvisited.iter().any(|(of, some)| *of == pass && some.contains(&index)) {
                        continue;
                    }
                    let offset = order.offset(index);
                    all += share.len_at(offset);
                    seen.insert(offset, share.len_at(offset));
                }
            }
            prop_assert_eq!(coverage.bytes(), (all, seen.values().sum::<u64>()));
        }
    }

    #[test]
    fn long_drawn_trials_are_expected() {
        let job = Job { span: 64 << 20, block: 64, ..testing::job() };
        let job = Job { pattern: Pattern::Hot { share: 20, accesses: 80 }, ..job };
        let share = Share::for_lane(&job, 0, u64::MAX, 1);
        let bytes =
            |passes| Coverage { file: 0, share, passes, rest: 0, unvisited: Vec::new() }.bytes();
        // Four passes are drawn again; five are not.
        let (four, five) = (bytes(4), bytes(5));
        assert_eq!((four.0, five.0), (256 << 20, 320 << 20));
        // 1 - e^-16 of the hot blocks, and 1 - e^-1 and 1 - e^-1.25 of the others.
        let blocks = |(_, different): (u64, u64)| different as f64 / f64::from(64 << 20);
        assert!((blocks(four) - 0.2 - 0.8 * 0.632_12).abs() < 0.002, "{four:?}");
        assert!((blocks(five) - 0.2 - 0.8 * 0.713_50).abs() < 0.0001, "{five:?}");
    }
}
