//! Which blocks the operations of a trial visited, from how far its lanes came: replayed, never
//! logged.

use std::ops::Range;

use super::workers::{LaneDone, Spec};
use crate::backend::order::Share;
use crate::plan::Pattern;
use crate::sys::extents::{ExtentMethod, Extents};

/// A share and how much of it was visited: that of a lane, or of all lanes where they share their
/// blocks.
pub(super) struct Visited {
    share: Share,
    /// Whole passes, and operations of the one after.
    passes: u64,
    rest: u64,
    /// Of these, what stopped lanes left of their last claims: the pass and its indexes.
    left: Vec<(u64, Range<u64>)>,
}

/// What the lanes of a trial visited.
pub(super) fn visited(lanes: &[LaneDone], spec: &Spec) -> Vec<Visited> {
    let Some(claims) = spec.claims() else {
        let own = |lane: &LaneDone| Visited {
            share: lane.share,
            passes: lane.tally.passes,
            rest: lane.tally.rest,
            left: Vec::new(),
        };
        return lanes.iter().map(own).collect();
    };
    let claimed = lanes.iter().map(|lane| &lane.tally.claimed);
    let (passes, rest) =
        claims.reach(claimed.clone().map(|claimed| claimed.claims).max().unwrap_or(0));
    let left = claimed
        .filter(|claimed| !claimed.left.is_empty())
        .map(|claimed| (claimed.pass, claimed.left.clone()))
        .collect();
    vec![Visited { share: spec.share(0), passes, rest, left }]
}

impl Visited {
    /// Passes that are whole; `None` where there was nothing to do.
    pub fn passes(&self) -> Option<u64> {
        let whole = self.left.iter().map(|(pass, _)| *pass).fold(self.passes, u64::min);
        (self.share.quota > 0).then_some(whole)
    }

    /// Bytes that the operations were to move, and those of them that one pass visits for the first
    /// time.
    pub fn bytes(&self) -> (u64, u64) {
        let (pass, rest) =
            (self.pass_bytes(0, self.share.quota), self.pass_bytes(self.passes, self.rest));
        let left = |(pass, indexes): &(u64, Range<u64>)| {
            (*pass, self.sum(*pass, indexes.clone(), |_, len| len))
        };
        let left: Vec<(u64, u64)> = self.left.iter().map(left).collect();
        let all = pass * self.passes + rest - left.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let first = if self.passes > 0 { pass } else { rest };
        (
            all,
            first - left.iter().filter(|(pass, _)| *pass == 0).map(|(_, bytes)| bytes).sum::<u64>(),
        )
    }

    /// What `of` says of each block (offset, bytes) at these indexes of a pass, added up.
    fn sum(&self, pass: u64, indexes: Range<u64>, of: impl Fn(u64, u64) -> u64) -> u64 {
        let (share, order) = (&self.share, self.share.order(pass));
        let offsets = indexes.start..indexes.end.min(share.quota);
        offsets
            .map(|index| order.block(index) * share.block)
            .map(|offset| of(offset, share.len_at(offset)))
            .sum()
    }

    /// Bytes of the first `ops` operations of a pass: all blocks are whole but the span's last.
    fn pass_bytes(&self, pass: u64, ops: u64) -> u64 {
        let share = &self.share;
        if ops == share.blocks {
            let range = share.range();
            return range.end - range.start;
        }
        let odd = !share.span.is_multiple_of(share.block) && share.range().end == share.span;
        let mut bytes = ops * share.block;
        if odd && self.visits_last(pass, ops) {
            bytes = bytes - share.block + share.span % share.block;
        }
        bytes
    }

    /// Whether the first `ops` operations of a pass, not all of them, come to the share's last
    /// block.
    fn visits_last(&self, pass: u64, ops: u64) -> bool {
        match self.share.pattern {
            Pattern::Seq => false,
            Pattern::Reverse => ops > 0,
            Pattern::Stride(_) | Pattern::Random => {
                let last = (self.share.first + self.share.blocks - 1) * self.share.block;
                let mut seen = false;
                self.share.replay(pass, ops, |offset, _| seen |= offset == last);
                seen
            }
        }
    }

    /// Bytes written where reads and writes are mixed: which operations did is known beforehand.
    pub fn written(&self) -> u64 {
        let whole: u64 = (0..self.passes).map(|pass| self.share.written(pass, u64::MAX)).sum();
        whole + self.share.written(self.passes, self.rest)
    }

    /// Bytes of the operations that lay in holes: whole passes from the map, a cut one by replaying
    /// its offsets.
    fn hole_bytes(&self, extents: &Extents) -> u64 {
        let hole = |offset, len| extents.hole_bytes_in(offset..offset + len);
        let replayed = |pass, ops| self.sum(pass, 0..ops, hole);
        let all = self.share.quota == self.share.blocks;
        let whole = |pass| {
            if all {
                extents.hole_bytes_in(self.share.range())
            } else {
                replayed(pass, self.share.quota)
            }
        };
        let bytes = (0..self.passes).map(whole).sum::<u64>() + replayed(self.passes, self.rest);
        bytes
            - self
                .left
                .iter()
                .map(|(pass, indexes)| self.sum(*pass, indexes.clone(), hole))
                .sum::<u64>()
    }
}

/// Bytes of the operations that lay in holes; `None` where the map is not known.
pub(super) fn hole_bytes(visited: &[Visited], extents: Option<&Extents>) -> Option<u64> {
    let extents = extents.filter(|e| e.method != ExtentMethod::Assumed)?;
    if extents.hole_bytes() == 0 {
        return Some(0);
    }
    Some(visited.iter().map(|visited| visited.hole_bytes(extents)).sum())
}

/// Bytes that were given to more than one lane.
pub(super) fn overlap(visited: &[Visited]) -> u64 {
    let mut ranges: Vec<_> =
        visited.iter().map(|v| v.share.range()).filter(|r| !r.is_empty()).collect();
    ranges.sort_by_key(|r| r.start);
    ranges.windows(2).map(|w| w[0].end.min(w[1].end).saturating_sub(w[1].start)).sum()
}
