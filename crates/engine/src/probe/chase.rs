//! Pointer chasing: each slot in memory holds the address of the next one, so each load depends on
//! the one before.
#![allow(unsafe_code)]

use super::batch::BatchTime;
use super::map::Map;
use crate::stats::random::mix;

/// A ring of addresses in its own mapping.
pub(super) struct Ring {
    map: Map,
    next: usize,
}

impl Ring {
    /// Links the slots at `offsets` (word-aligned, within the mapping) into a ring that visits each
    /// once per turn, in the given order. The ring is walked once, so that the first timed load
    /// finds the caches in the same state as any other.
    pub fn through(map: Map, offsets: impl Iterator<Item = usize>) -> Ring {
        let (mut first, mut before, mut places) = (None, None, 0);
        let link = |from: usize, to: usize| {
            // SAFETY: both slots are word-aligned and within the mapping, which is writable and
            // used by nothing else.
            unsafe { map.address(from).cast::<usize>().write(map.address(to) as usize) }
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
        let next = map.address(first) as usize;
        let mut ring = Ring { map, next };
        ring.run(MAX_WARM_UP_LOADS.min(places));
        ring
    }

    /// Times `count` loads, rounded up to a multiple of [`LOADS_PER_ITERATION`]. The loop does not
    /// depend on the loads, so its cost is hidden behind them.
    pub fn run(&mut self, count: u64) -> BatchTime {
        let (mut at, turns) = (self.next, count.div_ceil(LOADS_PER_ITERATION));
        let batch = BatchTime::of_block((turns * LOADS_PER_ITERATION) as f64, || {
            for _ in 0..turns {
                // SAFETY: every slot of the ring holds the address of another slot.
                unsafe { loads(&mut at) };
            }
        });
        self.next = at;
        batch
    }

    pub fn bytes(&self) -> usize {
        self.map.len()
    }
}

/// Loads of the warm-up walk, 32 MiB of cache lines: in a larger ring the first slots are evicted
/// again before the last are reached.
const MAX_WARM_UP_LOADS: u64 = 1 << 19;

/// Loads per iteration of the loop.
const LOADS_PER_ITERATION: u64 = 16;

/// # Safety
/// `at` must be the address of a slot of a ring.
#[inline(always)]
unsafe fn loads(at: &mut usize) {
    // SAFETY: by the caller's contract `at` is a slot of the ring, and each slot holds the address
    // of another; nothing is written.
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
    // SAFETY: each load is from a slot of the ring and returns the next slot; nothing is written.
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
    for _ in 0..LOADS_PER_ITERATION {
        // SAFETY: `at` is a slot of the ring, whose word is readable and holds the next slot.
        *at = unsafe { std::ptr::read_volatile(*at as *const usize) };
    }
}

/// Returns the numbers below `count` in an order that no prefetcher predicts.
pub(super) fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
    let mut random = seed;
    for last in (1..order.len()).rev() {
        random = mix(random);
        // The modulo bias is below 2^-32.
        order.swap(last, (random % (last as u64 + 1)) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_visited_once_per_turn() {
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
        assert_eq!(seen[3], first, "64 slots, 64 loads");
        assert!(seen[..3].iter().all(|place| *place != first));
    }
}
