//! The claims of lanes that share their blocks.
//!
//! The blocks that all lanes visit stay a pure function of (seed, pass, index): claims are handed
//! out in order, each is one run of indexes, and a stopped lane reports the rest of its last claim.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::access_pattern::Share;
use crate::plan::Job;

/// Bytes of a claim of small blocks: with fewer, threads contend too often; with more, the wait for
/// the last one is too long.
const CLAIM_BYTES: u64 = 2 << 20;

/// Minimum number of claims per lane, where there are enough blocks.
const MIN_CLAIMS_PER_LANE: u64 = 16;

/// The next claim, on its own cache line.
#[derive(Debug)]
#[repr(align(128))]
pub struct Cursor {
    next: AtomicU64,
    claims: Claims,
}

/// The division of the passes over a share into claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claims {
    /// Blocks of a claim; the last one of a pass may be smaller.
    chunk: u64,
    per_pass: u64,
    quota: u64,
    passes: u64,
}

impl Claims {
    /// Divides `passes` over a share among `threads`: into runs of blocks, or, for lanes that
    /// append to one file, into single blocks, so that it grows in order.
    pub fn new(share: &Share, job: &Job, passes: u64) -> Claims {
        let threads = job.threads;
        if job.appends_together() {
            return Claims { chunk: 1, per_pass: share.quota, quota: share.quota, passes };
        }
        let fair = share.quota / (u64::from(threads.max(1)) * MIN_CLAIMS_PER_LANE);
        let chunk = fair.clamp(1, (CLAIM_BYTES / share.block).max(1));
        Claims { chunk, per_pass: share.quota.div_ceil(chunk), quota: share.quota, passes }
    }

    /// Returns the pass and the indexes of claim `number`; `None` past the last.
    pub fn claim(&self, number: u64) -> Option<(u64, Range<u64>)> {
        let pass = number.checked_div(self.per_pass).filter(|pass| *pass < self.passes)?;
        let start = number % self.per_pass * self.chunk;
        Some((pass, start..(start + self.chunk).min(self.quota)))
    }

    /// Returns the complete passes in the first `claims` claims, and the indexes of the one after.
    pub fn progress(&self, claims: u64) -> (u64, u64) {
        let passes = claims.checked_div(self.per_pass).unwrap_or(self.passes).min(self.passes);
        let rest = claims.saturating_sub(passes * self.per_pass).saturating_mul(self.chunk);
        (passes, if passes < self.passes { rest.min(self.quota) } else { 0 })
    }
}

impl Cursor {
    pub fn new(claims: Claims) -> Cursor {
        Cursor { next: AtomicU64::new(0), claims }
    }

    /// Returns the blocks of a claim.
    pub fn chunk(&self) -> u64 {
        self.claims.chunk
    }

    /// Takes the next claim; returns its number, its pass and its indexes.
    pub fn claim(&self) -> Option<(u64, u64, Range<u64>)> {
        // At the end each lane increments it once more.
        let number = self.next.fetch_add(1, Relaxed);
        let (pass, indexes) = self.claims.claim(number)?;
        Some((number, pass, indexes))
    }
}

/// The claims of a lane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claimed {
    /// The number of its last claim + 1; 0: it made none.
    pub claims: u64,
    /// The pass of that claim, and the indexes of it that were not handed out.
    pub pass: u64,
    pub left: Range<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::Job;
    use proptest::prelude::*;

    fn claims(blocks: u64, block: u64, threads: u32, passes: u64) -> Claims {
        let job = Job { span: blocks * block, block, ..testing::job() };
        let job = Job { threads, ..job };
        Claims::new(
            &Share::for_lane(&Job { threads: 1, ..job.clone() }, 0, u64::MAX, 0),
            &job,
            passes,
        )
    }

    proptest! {
        #[test]
        fn claims_cover_every_pass_in_order(
            blocks in 1u64..9000,
            threads in 1u32..40,
            passes in 1u64..4,
            small: bool,
        ) {
            let block = if small { 512 } else { 3 << 20 };
            let cursor = Cursor::new(claims(blocks, block, threads, passes));
            let mut next = 0;
            while let Some((number, pass, indexes)) = cursor.claim() {
                prop_assert_eq!(cursor.claims.progress(number), (next / blocks, next % blocks));
                prop_assert_eq!((pass, indexes.start), (next / blocks, next % blocks));
                prop_assert!(!indexes.is_empty() && indexes.end <= blocks);
                next += indexes.end - indexes.start;
            }
            prop_assert_eq!(next, blocks * passes);
            prop_assert_eq!(cursor.claims.progress(u64::MAX), (passes, 0));
        }
    }

    #[test]
    fn claims_leave_work_for_each_lane() {
        assert_eq!(claims(1 << 20, 4096, 2, 1).chunk, 512);
        assert_eq!(claims(1 << 20, 8 << 20, 2, 1).chunk, 1);
        assert_eq!(claims(320, 4096, 2, 1).chunk, 10);
        assert_eq!(claims(5, 4096, 2, 1).chunk, 1);
        assert_eq!(
            Cursor::new(Claims { quota: 0, per_pass: 0, ..claims(5, 1, 1, 1) }).claim(),
            None
        );
    }
}
