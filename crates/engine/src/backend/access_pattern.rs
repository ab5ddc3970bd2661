//! The order of blocks: a pure function of (seed, lane, pass, index), so that a trial can be
//! replayed.

use std::ops::Range;

use super::draw::Draw;
use super::error::Unsupported;
use crate::catalog::SHARED;
use crate::plan::{Job, Op, Pattern};
use crate::stats::random::mix;

/// One lane's share of a job: its blocks of the span, and how many operations a pass has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub span: u64,
    pub block: u64,
    /// First block of the lane.
    pub first: u64,
    /// Distance between two of its blocks, in blocks; 1: they are adjacent.
    pub every: u64,
    /// Blocks of the lane.
    pub blocks: u64,
    /// Operations of one pass; fewer than `blocks` where a count limits it.
    pub quota: u64,
    pub pattern: Pattern,
    pub seed: u64,
    /// Percentage of operations that read: 100, 0, or between for a mix.
    pub reads: u8,
}

/// The part of a shared file that one process uses. Its size is a multiple of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The number of the part, from 0.
    pub index: u32,
    /// Number of parts, at least 1.
    pub of: u32,
    /// Whether the parts interleave block by block, instead of following each other.
    pub strided: bool,
}

impl Place {
    /// Returns the bytes of the file that a part of `span` bytes lies within.
    pub fn window(&self, span: u64) -> Range<u64> {
        if self.strided {
            return 0..self.whole(span);
        }
        let start = span.saturating_mul(self.index.into());
        start..start.saturating_add(span)
    }

    /// Returns the bytes of all parts together.
    pub fn whole(&self, span: u64) -> u64 {
        span.saturating_mul(self.of.into())
    }

    /// Moves the share of a lane that has a file to itself into this part.
    fn put(&self, alone: Share) -> Share {
        let (index, of) = (u64::from(self.index), u64::from(self.of.max(1)));
        let (first, every) = match self.strided {
            true => (alone.first * of + index, of),
            false => (alone.first + index * alone.span.div_ceil(alone.block), 1),
        };
        Share { span: self.whole(alone.span), first, every, ..alone }
    }
}

impl Share {
    /// Returns the share of lane `lane` of `job`, where `count` operations (at most the span's
    /// blocks) make a pass over all lanes.
    ///
    /// The first `n mod threads` lanes get one more, so a lane's quota never exceeds its blocks.
    /// Lanes that share their blocks all get the whole share; a lane with its own file begins at 0
    /// there.
    pub fn for_lane(job: &Job, lane: u32, count: u64, seed: u64) -> Share {
        Share::within(job, 0..job.blocks(), lane, count, seed)
    }

    /// Returns the share as [`Share::for_lane`] does, of these blocks of the span only.
    pub fn within(job: &Job, of: Range<u64>, lane: u32, count: u64, seed: u64) -> Share {
        let (threads, lane) =
            if is_shared(job) { (1, 0) } else { (u64::from(job.threads.max(1)), u64::from(lane)) };
        let part = |n: u64| n / threads + u64::from(lane < n % threads);
        let before = |n: u64| n / threads * lane + lane.min(n % threads);
        let blocks = of.end.min(job.blocks()).saturating_sub(of.start);
        if job.has_own_files() {
            let seed = mix(seed ^ mix(lane));
            return Share::for_lane(&job.on_own_file(), 0, part(count.min(blocks)), seed);
        }
        Share {
            span: job.span,
            block: job.block.max(1),
            first: of.start + before(blocks),
            every: 1,
            blocks: part(blocks),
            quota: part(count.min(blocks)),
            pattern: job.pattern,
            seed: mix(seed ^ mix(lane)),
            reads: job.mix.unwrap_or(if job.op == Op::Write { 0 } else { 100 }),
        }
    }

    /// Returns the share within the part of a file that other processes use too.
    pub fn at(self, place: Option<Place>) -> Share {
        place.map_or(self, |place| place.put(self))
    }

    /// Returns the byte range of the span that the lane's blocks lie in.
    pub fn range(&self) -> Range<u64> {
        let blocks = match self.blocks {
            0 => 0,
            blocks => (blocks - 1).saturating_mul(self.every) + 1,
        };
        let end = (self.first + blocks).saturating_mul(self.block);
        (self.first * self.block).min(self.span)..end.min(self.span)
    }

    /// Returns the bytes of all blocks of the lane.
    pub fn bytes(&self) -> u64 {
        let Range { start, end } = self.range();
        // Between blocks of others, none is shorter.
        if self.every > 1 { self.blocks * self.block } else { end - start }
    }

    /// Returns where a block of the lane begins, counted from its first.
    pub fn offset(&self, block: u64) -> u64 {
        (self.first + block * self.every) * self.block
    }

    /// Returns the byte range that a pass visits; the whole range of the lane where a count limits
    /// an order that jumps.
    pub fn reach(&self) -> Range<u64> {
        let Range { start, end } = self.range();
        let unvisited = self.blocks - self.quota.min(self.blocks);
        let pitch = self.block.saturating_mul(self.every);
        match self.pattern {
            _ if self.quota == 0 => start..start,
            Pattern::Seq => start..end.min(start + self.quota.saturating_mul(pitch)),
            Pattern::Reverse => start + unvisited.saturating_mul(pitch)..end,
            Pattern::Stride(_) | Pattern::Random | Pattern::Zipf(_) | Pattern::Hot { .. } => {
                start..end
            }
        }
    }

    /// Returns the bytes of the block that starts at `offset`.
    #[inline(always)]
    pub fn len_at(&self, offset: u64) -> u64 {
        self.block.min(self.span - offset)
    }

    /// Returns the order of pass `pass`.
    pub fn order(&self, pass: u64) -> Order {
        let kind = match self.pattern {
            Pattern::Seq => OrderKind::Straight { from: 0, step: 1 },
            // Backwards is forwards by -1, modulo 2^64.
            Pattern::Reverse => {
                OrderKind::Straight { from: self.blocks.wrapping_sub(1), step: u64::MAX }
            }
            Pattern::Stride(step) => OrderKind::Stride { step: step.min(self.blocks.max(1)) },
            Pattern::Random => {
                OrderKind::Shuffled(Shuffle::new(self.blocks, self.seed ^ mix(pass)))
            }
            Pattern::Zipf(_) | Pattern::Hot { .. } => {
                OrderKind::Shuffled(Shuffle { draw: self.draw(pass), ..self.popular_first() })
            }
        };
        let (start, pitch) = (self.first * self.block, self.every * self.block);
        Order { kind, start, pitch, blocks: self.blocks }
    }

    /// Returns how the blocks of pass `pass` are drawn; `None` if it visits each once.
    pub fn draw(&self, pass: u64) -> Option<Draw> {
        Draw::new(self.pattern, self.whole_blocks(), mix(self.seed ^ mix(pass)))
    }

    /// Returns the number of blocks that are drawn: without a shorter one at the end, so that all
    /// draws move as much.
    fn whole_blocks(&self) -> u64 {
        let is_short =
            |last: u64| last > 0 && self.offset(last).saturating_add(self.block) > self.span;
        self.blocks - u64::from(self.blocks.checked_sub(1).is_some_and(is_short))
    }

    /// Returns the bytes of each block that is drawn.
    pub fn drawn_len(&self) -> u64 {
        self.block.min(self.span.saturating_sub(self.offset(0)))
    }

    /// Returns the order of blocks by popularity: anywhere in the file, and the same in all passes
    /// and trials, as caches know them.
    fn popular_first(&self) -> Shuffle {
        Shuffle::new(self.whole_blocks(), mix(self.first))
    }

    /// Returns whether operation `index` of pass `pass` writes: random in a mix, but always the
    /// same.
    #[inline(always)]
    pub fn writes(&self, pass: u64, index: u64) -> bool {
        match self.reads {
            100.. => false,
            0 => true,
            percent => {
                mix(mix(self.seed ^ mix(!pass)).wrapping_add(index)) % 100 >= u64::from(percent)
            }
        }
    }

    /// Returns the bytes that the first `ops` operations of pass `pass` write.
    pub fn written_bytes(&self, pass: u64, ops: u64) -> u64 {
        let order = self.order(pass);
        let writes = (0..ops.min(self.quota)).filter(|index| self.writes(pass, *index));
        if self.pattern.is_drawn() {
            return writes.count() as u64 * self.drawn_len();
        }
        writes.map(|index| self.len_at(order.offset(index))).sum()
    }

    /// Replays the first `ops` operations of pass `pass`: calls `each(offset, len)`.
    pub fn replay(&self, pass: u64, ops: u64, mut each: impl FnMut(u64, u64)) {
        let order = self.order(pass);
        for index in 0..ops.min(self.quota) {
            let offset = order.offset(index);
            each(offset, self.len_at(offset));
        }
    }
}

/// The order of one pass over one lane's blocks.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    kind: OrderKind,
    /// Where the lane's first block begins, and the distance to its next, bytes.
    start: u64,
    pitch: u64,
    blocks: u64,
}

/// Three kinds: a `match` of four would become a jump table, which costs more than the rest of the
/// loop after a system call. Blocks that are drawn are a shuffle of their ranks.
#[derive(Debug, Clone, Copy)]
enum OrderKind {
    Straight { from: u64, step: u64 },
    Stride { step: u64 },
    Shuffled(Shuffle),
}

impl Order {
    /// Returns the block at `index`, which is below the lane's number of blocks; counted from its
    /// first.
    #[inline(always)]
    pub fn block(&self, index: u64) -> u64 {
        match self.kind {
            OrderKind::Straight { from, step } => from.wrapping_add(index.wrapping_mul(step)),
            OrderKind::Stride { step } => strided(index, step, self.blocks),
            OrderKind::Shuffled(shuffle) => shuffle.permute(index),
        }
    }

    /// Returns where the block at `index` begins in the file.
    #[inline(always)]
    pub fn offset(&self, index: u64) -> u64 {
        self.start + self.block(index) * self.pitch
    }
}

/// Returns every step-th block from 0, then from 1, and so on: the columns of a table `step` wide.
/// Its last row may be shorter.
#[inline]
fn strided(index: u64, step: u64, blocks: u64) -> u64 {
    let (rows, rest) = (blocks / step, blocks % step);
    let long = rest * (rows + 1);
    if index < long {
        index / (rows + 1) + index % (rows + 1) * step
    } else {
        let index = index - long;
        rest + index / rows + index % rows * step
    }
}

/// A bijection of 0..n: rounds of multiply and xor-shift on the next power of two, repeated until
/// the result is inside (at most twice the work on average). Needs no table, so a 10 TB file costs
/// nothing.
#[derive(Debug, Clone, Copy)]
struct Shuffle {
    n: u64,
    mask: u64,
    shift: u32,
    keys: [u64; 3],
    /// Draws what is permuted, instead of each index once.
    draw: Option<Draw>,
}

impl Shuffle {
    fn new(n: u64, seed: u64) -> Shuffle {
        let mask = n.max(2).next_power_of_two() - 1;
        let keys = [mix(seed), mix(seed ^ 1), mix(seed ^ 2)];
        Shuffle { n, mask, shift: mask.count_ones().div_ceil(2), keys, draw: None }
    }

    #[inline(always)]
    fn permute(&self, index: u64) -> u64 {
        let mut x = match self.draw {
            None => index,
            Some(draw) => draw.rank(index),
        };
        loop {
            for key in self.keys {
                // An odd factor and a shift by half the bits are each invertible on these bits.
                x = x.wrapping_add(key).wrapping_mul(key | 1) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.n {
                return x;
            }
        }
    }
}

/// Returns whether the lanes of the job share their blocks: as an option asks, or because they
/// append to one file.
pub fn is_shared(job: &Job) -> bool {
    job.backend.has(SHARED.name) || job.appends_together()
}

/// Accepts only reads, as the order of writers would be random, and no option that applies to a
/// lane's own part, which is unknown beforehand.
pub(super) fn check_shared(job: &Job) -> Result<(), Unsupported> {
    if !job.backend.has(SHARED.name) {
        return Ok(());
    }
    let conflict = ["populate", "willneed"].into_iter().find(|option| job.backend.has(option));
    if let Some(option) = conflict {
        return Err(Unsupported(format!(
            "+{option} applies to a thread's own part, and with +shared threads have none"
        )));
    }
    if job.op == Op::Read { Ok(()) } else { Err(Unsupported("+shared only reads".into())) }
}

/// Returns the most requests that one call should submit. The kernel holds back the requests of a
/// call that submits more than two until it has seen all, to merge neighbours (block/blk-core.c,
/// blk_start_plug). Random requests have no neighbours, and the disk would idle.
pub(super) fn batch_limit(job: &Job) -> u32 {
    if job.direct && job.pattern.is_random() { 2 } else { u32::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use proptest::prelude::*;

    fn pattern() -> impl Strategy<Value = Pattern> {
        prop_oneof![
            Just(Pattern::Seq),
            Just(Pattern::Random),
            Just(Pattern::Reverse),
            (2u64..20).prop_map(Pattern::Stride)
        ]
    }

    proptest! {
        #[test]
        fn lanes_visit_every_block_once(
            span in 1u64..5000,
            block in 1u64..700,
            threads in 1u32..9,
            pattern in pattern(),
            seed: u64,
            pass in 0u64..3,
        ) {
            let job = Job { span, block, threads, pattern, ..testing::job() };
            let mut seen = vec![0u32; job.blocks() as usize];
            let mut bytes = 0;
            for lane in 0..threads {
                let share = Share::for_lane(&job, lane, u64::MAX, seed);
                prop_assert_eq!(share.quota, share.blocks);
                share.replay(pass, u64::MAX, |offset, len| {
                    assert!(share.range().contains(&offset) && offset + len <= share.range().end);
                    seen[(offset / block) as usize] += 1;
                    bytes += len;
                });
            }
            prop_assert!(seen.iter().all(|n| *n == 1));
            prop_assert_eq!(bytes, span);
        }

        #[test]
        fn parts_of_a_file_are_disjoint(
            blocks in 1u64..50,
            block in 1u64..700,
            threads in 1u32..5,
            ranks in 1u32..6,
            pattern in pattern(),
            strided: bool,
            seed: u64,
        ) {
            let job = Job { span: blocks * block, block, threads, pattern, ..testing::job() };
            let mut seen = vec![0u32; (blocks * u64::from(ranks)) as usize];
            for (index, lane) in (0..ranks).flat_map(|rank| (0..threads).map(move |lane| (rank, lane))) {
                let place = Place { index, of: ranks, strided };
                let share = Share::for_lane(&job, lane, u64::MAX, seed).at(Some(place));
                let (window, mut bytes) = (place.window(job.span), 0);
                share.replay(1, u64::MAX, |offset, len| {
                    let end = offset + len;
                    assert!(share.reach().start <= offset && end <= share.reach().end);
                    assert!(window.start <= offset && end <= window.end && len == block);
                    seen[(offset / block) as usize] += 1;
                    bytes += len;
                });
                prop_assert_eq!(bytes, share.bytes());
            }
            prop_assert!(seen.iter().all(|n| *n == 1));
        }

        #[test]
        fn the_reach_holds_every_visited_byte(
            span in 1u64..5000,
            block in 1u64..700,
            threads in 1u32..9,
            pattern in pattern(),
            count in 0u64..50,
        ) {
            let job = Job { span, block, threads, pattern, ..testing::job() };
            for lane in 0..threads {
                let share = Share::for_lane(&job, lane, count, 1);
                let (mut bytes, reach) = (0, share.reach());
                share.replay(0, u64::MAX, |offset, len| {
                    assert!(reach.start <= offset && offset + len <= reach.end);
                    bytes += len;
                });
                let exact = matches!(pattern, Pattern::Seq | Pattern::Reverse) || bytes == 0;
                let len = reach.end - reach.start;
                prop_assert!(bytes <= len && (!exact || bytes == len), "{:?} {}", reach, bytes);
            }
        }

        #[test]
        fn a_count_is_split_among_lanes(
            span in 1u64..5000,
            block in 1u64..700,
            threads in 1u32..9,
            part in 0.0f64..1.0,
        ) {
            let job = Job { span, block, threads, ..testing::job() };
            let count = (job.blocks() as f64 * part) as u64;
            let shares: Vec<Share> =
                (0..threads).map(|lane| Share::for_lane(&job, lane, count, 0)).collect();
            prop_assert_eq!(shares.iter().map(|s| s.quota).sum::<u64>(), count);
            prop_assert!(shares.iter().all(|s| s.quota <= s.blocks));
        }
    }

    #[test]
    fn random_orders_are_reproducible_and_differ() {
        let job =
            Job { span: 4096 * 1000, block: 4096, pattern: Pattern::Random, ..testing::job() };
        let list = |seed, pass| {
            let mut list = Vec::new();
            Share::for_lane(&job, 0, u64::MAX, seed)
                .replay(pass, u64::MAX, |offset, _| list.push(offset / 4096));
            list
        };
        let first = list(1, 0);
        assert_eq!(first, list(1, 0));
        assert!(first != list(2, 0) && first != list(1, 1));
        // Wald-Wolfowitz runs above and below the median: 501 expected, standard deviation 15.8.
        let runs = 1 + first.windows(2).filter(|w| (w[0] < 500) != (w[1] < 500)).count();
        assert!((420..=580).contains(&runs), "{runs} runs");
        assert!(first.windows(2).filter(|w| w[1] == w[0] + 1).count() < 20);
    }

    #[test]
    fn a_mix_is_reproducible() {
        let job = Job {
            span: 4096 * 10_000 - 1,
            block: 4096,
            op: Op::Write,
            mix: Some(70),
            ..testing::job()
        };
        let share = Share::for_lane(&job, 0, u64::MAX, 5);
        let writes =
            |pass| (0..10_000).filter(|index| share.writes(pass, *index)).collect::<Vec<u64>>();
        assert!(writes(0) == writes(0) && writes(0) != writes(1));
        // Binomial: 3000 expected, standard deviation 46.
        assert!((2800..3200).contains(&writes(0).len()), "{}", writes(0).len());
        let odd = u64::from(share.writes(0, 9999));
        assert_eq!(share.written_bytes(0, u64::MAX), writes(0).len() as u64 * 4096 - odd);
        for (op, mix, of_all) in [
            (Op::Write, Some(0), 1),
            (Op::Write, Some(100), 0),
            (Op::Write, None, 1),
            (Op::Read, None, 0),
        ] {
            let share = Share::for_lane(&Job { op, mix, ..job.clone() }, 0, u64::MAX, 5);
            assert_eq!(share.written_bytes(0, u64::MAX), of_all * job.span);
        }
    }

    #[test]
    fn a_stride_visits_columns() {
        let job = Job { span: 10, block: 1, pattern: Pattern::Stride(4), ..testing::job() };
        let mut list = Vec::new();
        Share::for_lane(&job, 0, u64::MAX, 0).replay(0, u64::MAX, |offset, _| list.push(offset));
        assert_eq!(list, [0, 4, 8, 1, 5, 9, 2, 6, 3, 7]);
    }

    fn drawn() -> impl Strategy<Value = Pattern> {
        prop_oneof![
            (1u16..=Pattern::MAX_THETA).prop_map(Pattern::Zipf),
            (1u8..=99, 1u8..=99)
                .prop_map(|(a, b)| Pattern::Hot { share: a.min(b), accesses: a.max(b) }),
        ]
    }

    proptest! {
        #[test]
        fn drawn_blocks_are_whole_and_own(
            blocks in 1u64..60,
            odd in 0u64..700,
            block in 1u64..700,
            threads in 1u32..9,
            ranks in 1u32..4,
            pattern in drawn(),
            strided: bool,
            seed: u64,
        ) {
            // Ranks have whole blocks only.
            let (span, ranks) = if odd % 2 == 0 { (blocks * block + odd % block, 1) }
                else { (blocks * block, ranks) };
            let job = Job { span, block, threads, pattern, ..testing::job() };
            let mut users = std::collections::HashMap::new();
            for (index, lane) in (0..ranks).flat_map(|rank| (0..threads).map(move |l| (rank, l))) {
                let place = (ranks > 1).then_some(Place { index, of: ranks, strided });
                let share = Share::for_lane(&job, lane, u64::MAX, seed).at(place);
                let mut count = 0;
                share.replay(1, u64::MAX, |offset, len| {
                    assert!(share.reach().start <= offset && offset + len <= share.reach().end);
                    // A lane without a whole block draws the rest of one.
                    assert!(len == share.drawn_len() && (len == block || share.blocks == 1));
                    assert_eq!(*users.entry(offset).or_insert((index, lane)), (index, lane));
                    count += 1;
                });
                prop_assert_eq!(count, share.quota);
                prop_assert_eq!(share.written_bytes(1, u64::MAX), 0);
                let writes = Share { reads: 0, ..share };
                prop_assert_eq!(writes.written_bytes(1, u64::MAX), count * share.drawn_len());
            }
        }
    }

    #[test]
    fn popular_blocks_stay_so() {
        let job = Job { span: 4096 * 10_000, block: 4096, ..testing::job() };
        let popular = |seed, pass| {
            let job = Job { pattern: Pattern::Zipf(990), ..job.clone() };
            let mut counts = std::collections::HashMap::<u64, u32>::new();
            Share::for_lane(&job, 0, u64::MAX, seed)
                .replay(pass, u64::MAX, |offset, _| *counts.entry(offset).or_default() += 1);
            let mut blocks: Vec<(u32, u64)> = counts.into_iter().map(|(at, n)| (n, at)).collect();
            blocks.sort_unstable();
            (blocks.len(), [1, 2].map(|place| blocks[blocks.len() - place]))
        };
        let first = popular(1, 0);
        assert_eq!(first, popular(1, 0), "a trial can be replayed");
        // Of 10,000 draws, the two most popular blocks get 979 and 493; standard deviation 30.
        for (seed, pass) in [(1, 1), (2, 0), (3, 7)] {
            let other = popular(seed, pass);
            assert_eq!(other.1.map(|(_, at)| at), first.1.map(|(_, at)| at), "{seed} {pass}");
            assert!(other != first && (850..1110).contains(&other.1[0].0), "{other:?}");
        }
        let [(_, most), (_, next)] = first.1;
        assert!(most.abs_diff(next) > 4096 * 8, "{most} and {next} lie side by side");
    }
}
