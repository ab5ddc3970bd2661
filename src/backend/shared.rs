//! `+shared`: blocks for whichever lane is free, where otherwise each lane has a part of the span
//! for itself.
//!
//! What all lanes together visit stays a pure function of (seed, pass, index): the claims are
//! handed out in order, each is one run of indexes, and a lane that is stopped says what of its
//! last claim it left.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Unsupported;
use super::order::Share;
use crate::plan::{Job, Op, Opt};

pub(super) const SHARED: Opt = Opt {
    name: "shared",
    value: None,
    about: "threads take the next 2 MiB (or block) when they are free, instead of a part of the file each: a slow CPU does not \
            hold up the end",
};

/// Bytes of a claim where blocks are smaller: less and the threads meet too often, more and the
/// last one is waited for.
const CLAIM: u64 = 2 << 20;

/// Claims that each lane has at least, where there are so many blocks.
const EACH: u64 = 16;

/// Whether the lanes of the job share their blocks.
pub fn is_shared(job: &Job) -> bool {
    job.backend.has(SHARED.name)
}

/// Only reads: writers would be ordered by luck, and what a populated or announced part is nobody
/// knows beforehand.
pub(super) fn check(job: &Job) -> Result<(), Unsupported> {
    let own_part = ["populate", "willneed"].into_iter().find(|option| job.backend.has(option));
    match own_part.filter(|_| is_shared(job)) {
        Some(option) => Err(Unsupported(format!(
            "+{option} is about a lane's own part, and with +shared no lane has one"
        ))),
        None if is_shared(job) && job.op != Op::Read => {
            Err(Unsupported("+shared is about reading".into()))
        }
        None => Ok(()),
    }
}

/// The next claim, on a cache line of its own.
#[derive(Debug)]
#[repr(align(128))]
pub struct Cursor {
    next: AtomicU64,
    claims: Claims,
}

/// How the passes over a share are cut into claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claims {
    /// Blocks of a claim; the last one of a pass may be smaller.
    chunk: u64,
    per_pass: u64,
    quota: u64,
    passes: u64,
}

impl Claims {
    pub fn of(share: &Share, threads: u32, passes: u64) -> Claims {
        let fair = share.quota / (u64::from(threads.max(1)) * EACH);
        let chunk = fair.clamp(1, (CLAIM / share.block).max(1));
        Claims { chunk, per_pass: share.quota.div_ceil(chunk), quota: share.quota, passes }
    }

    /// The pass and the indexes of claim `number`; `None` past the last.
    pub fn at(&self, number: u64) -> Option<(u64, Range<u64>)> {
        let pass = number.checked_div(self.per_pass).filter(|pass| *pass < self.passes)?;
        let start = number % self.per_pass * self.chunk;
        Some((pass, start..(start + self.chunk).min(self.quota)))
    }

    /// Whole passes that the first `claims` claims make, and indexes of the one after.
    pub fn reach(&self, claims: u64) -> (u64, u64) {
        let passes = claims.checked_div(self.per_pass).unwrap_or(self.passes).min(self.passes);
        let rest = claims.saturating_sub(passes * self.per_pass).saturating_mul(self.chunk);
        (passes, if passes < self.passes { rest.min(self.quota) } else { 0 })
    }
}

impl Cursor {
    pub fn new(claims: Claims) -> Cursor {
        Cursor { next: AtomicU64::new(0), claims }
    }

    /// Blocks of a claim.
    pub fn chunk(&self) -> u64 {
        self.claims.chunk
    }

    /// Takes the next claim: its number, its pass and its indexes.
    pub fn claim(&self) -> Option<(u64, u64, Range<u64>)> {
        // At the end it is counted on by as many as there are lanes.
        let number = self.next.fetch_add(1, Relaxed);
        let (pass, indexes) = self.claims.at(number)?;
        Some((number, pass, indexes))
    }
}

/// What a lane took from the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claimed {
    /// Its last claim's number + 1; 0: it took none.
    pub claims: u64,
    /// The pass of that claim, and the indexes of it that were not handed out.
    pub pass: u64,
    pub left: Range<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use proptest::prelude::*;

    fn claims(blocks: u64, block: u64, threads: u32, passes: u64) -> Claims {
        let job = Job { span: blocks * block, block, ..testing::job() };
        Claims::of(&Share::of(&job, 0, u64::MAX, 0), threads, passes)
    }

    proptest! {
        #[test]
        fn claims_are_every_index_of_every_pass_once_in_order(blocks in 1u64..9000, threads in 1u32..40, passes in 1u64..4, small: bool) {
            let cursor = Cursor::new(claims(blocks, if small { 512 } else { 3 << 20 }, threads, passes));
            let mut next = 0;
            while let Some((number, pass, indexes)) = cursor.claim() {
                prop_assert_eq!(cursor.claims.reach(number), (next / blocks, next % blocks));
                prop_assert_eq!((pass, indexes.start), (next / blocks, next % blocks));
                prop_assert!(!indexes.is_empty() && indexes.end <= blocks);
                next += indexes.end - indexes.start;
            }
            prop_assert_eq!(next, blocks * passes);
            prop_assert_eq!(cursor.claims.reach(u64::MAX), (passes, 0));
        }
    }

    #[test]
    fn claims_are_large_and_leave_each_lane_some() {
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
