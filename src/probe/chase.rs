//! Loads that depend on each other: each place in memory holds the address of the next.
#![allow(unsafe_code)]

use super::Took;
use super::map::Map;
use crate::sys::random::mix;

/// A ring of addresses in memory of its own.
pub(super) struct Ring {
    map: Map,
    next: usize,
}

impl Ring {
    /// The places at `offsets` (whole words, within the mapping), each visited once per turn, in
    /// the order given. Walked once, so that the first load which counts meets the caches as any
    /// other does.
    pub fn through(map: Map, offsets: impl Iterator<Item = usize>) -> Ring {
        let (mut first, mut before, mut places) = (None, None, 0);
        let link = |from: usize, to: usize| {
            // SAFETY: word-aligned and within the mapping, which is ours to write.
            unsafe { map.at(from).cast::<usize>().write(map.at(to) as usize) }
        };
        for offset in offsets {
            if let Some(before) = before {
                link(before, offset);
            }
            first.get_or_insert(offset);
            before = Some(offset);
            places += 1;
        }
        let (first, last) = (first.unwrap_or(0), before.unwrap_or(0));
        link(last, first);
        let next = map.at(first) as usize;
        let mut ring = Ring { map, next };
        ring.run(WARM.min(places));
        ring
    }

    /// `count` loads, rounded up to whole turns; the loop around them hides behind the loads, as it
    /// waits for none of them.
    pub fn run(&mut self, count: u64) -> Took {
        let (mut at, turns) = (self.next, count.div_ceil(TOGETHER));
        let took = Took::whole((turns * TOGETHER) as f64, || {
            for _ in 0..turns {
                // SAFETY: every place of the ring holds the address of another one.
                unsafe { loads(&mut at) };
            }
        });
        self.next = at;
        took
    }

    pub fn bytes(&self) -> usize {
        self.map.len()
    }
}

/// Of a ring so large that its first places have left every cache when its last are reached, no
/// more is walked: 32 MiB of lines.
const WARM: u64 = 1 << 19;

/// Loads in one turn of the loop.
const TOGETHER: u64 = 16;

/// # Safety
/// `at` must be a place of a ring.
#[inline(always)]
unsafe fn loads(at: &mut usize) {
    // SAFETY: the caller vouches that `at` is a place of the ring; each holds the address of
    // another; nothing is written.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            ".rept 16",
            "mov {at}, [{at}]",
            ".endr",
            at = inout(reg) * at,
            options(nostack, readonly, preserves_flags)
        );
    }
    // SAFETY: each load is from a place of the ring, and gives the next one; nothing is written.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            ".rept 16",
            "ldr {at}, [{at}]",
            ".endr",
            at = inout(reg) * at,
            options(nostack, readonly, preserves_flags)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for _ in 0..TOGETHER {
        // SAFETY: `at` is a place of the ring, whose word can be read and gives the next place.
        *at = unsafe { std::ptr::read_volatile(*at as *const usize) };
    }
}

/// 0 to `count`, in an order that no prefetcher guesses.
pub(super) fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
    let mut random = seed;
    for last in (1..order.len()).rev() {
        random = mix(random);
        // The bias of the remainder is below 2^-32.
        order.swap(last, (random % (last as u64 + 1)) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_visited_once_per_turn() {
        let order = shuffled(64, 7);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..64).collect::<Vec<_>>());
        assert_ne!(order, sorted);
        let map = Map::anonymous(64 * 64, false).unwrap();
        let mut ring = Ring::through(map, order.iter().map(|place| *place as usize * 64));
        let first = ring.next;
        let mut seen = Vec::new();
        for _ in 0..4 {
            assert_eq!(ring.run(16).amount, 16.0);
            seen.push(ring.next);
        }
        assert_eq!(seen[3], first, "64 places, 64 loads");
        assert!(seen[..3].iter().all(|place| *place != first));
    }
}
