//! `latency` and `tlb`: the time of one load by working-set size and by the number of pages. Each
//! slot in memory holds the address of the next one, so each load depends on the one before.
#![allow(unsafe_code)]

use super::map::{Map, page};
use super::{BatchTime, Gauge, KnownCell, Opened, ParamSource, ProbeContext, ProbeError};
use crate::record::Estimate;
use crate::stats::random::shuffle;
use crate::units::show_bytes;

/// Distance between slots without a stride: one slot per cache line.
const LINE: usize = 64;

pub(super) fn ask_latency(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let stride = usize::try_from(source.number_or("stride", 0)?).ok()?;
    let bytes = usize::try_from(source.number("bytes")?).ok()?;
    if stride > bytes {
        // One slot is not a ring.
        return None;
    }
    Some(Box::new(WorkingSet { bytes, stride: Some(stride).filter(|stride| *stride > 0) }))
}

struct WorkingSet {
    bytes: usize,
    stride: Option<usize>,
}

impl KnownCell for WorkingSet {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        context.check_memory(self.bytes as u64)
    }

    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        let mut caches: Vec<_> =
            context.host.caches.iter().filter(|cache| cache.kind != "instruction").collect();
        caches.sort_by_key(|cache| cache.size);
        let (low, high) = match caches
            .iter()
            .find(|cache| cache.size >= self.bytes as u64)
            .map(|cache| (cache.level, cache.size))
        {
            Some((1, size)) => {
                return context.estimate_cycles(
                    3.0,
                    6.0,
                    &format!("the L1 cache of {} holds it", show_bytes(size)),
                );
            }
            Some((2, size)) => {
                return context.estimate_cycles(
                    if self.stride.is_some() { 3.0 } else { 11.0 },
                    20.0,
                    &format!("the L2 cache of {} holds it", show_bytes(size)),
                );
            }
            Some((level, size)) => {
                let low = if self.stride.is_some() { 3.0 } else { 30.0 };
                return context.estimate_cycles(
                    low,
                    90.0,
                    &format!(
                        "the L{level} cache of {} holds it; page walks add to that",
                        show_bytes(size)
                    ),
                );
            }
            None if self.stride.is_some() => (1.0, 150.0),
            None => (60.0, 200.0),
        };
        let why = match self.stride {
            Some(_) => {
                "no cache holds it; a prefetcher that detects the stride hides much of the memory \
                 latency"
            }
            None => "no cache holds it: 60-150 ns of memory latency, and a page walk",
        };
        Some(Estimate { low, high, reason: why.into() })
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let map = Map::anonymous(self.bytes, false)?;
        map.touch();
        context.check_stop()?;
        let ring = match self.stride {
            Some(stride) => {
                LoadRing::through(map, &mut (0..self.bytes / stride).map(|slot| slot * stride))
            }
            None => {
                let order = shuffled(self.bytes / LINE, self.bytes as u64);
                LoadRing::through(map, &mut order.into_iter().map(|slot| slot as usize * LINE))
            }
        };
        Ok(Box::new(RingLoads(ring)))
    }
}

struct RingLoads(LoadRing);

impl Gauge for RingLoads {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        Ok(self.0.run(count))
    }

    fn evidence(&self) -> Vec<String> {
        let (bytes, page) = (self.0.map.len() as u64, page() as u64);
        vec![format!("{} in pages of {}", show_bytes(bytes), show_bytes(page))]
    }
}

pub(super) fn ask_tlb(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    Some(Box::new(Pages(usize::try_from(source.number("pages")?).ok()?)))
}

/// The number of pages; each has one slot.
struct Pages(usize);

impl KnownCell for Pages {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        context.check_memory((self.0 * page()) as u64)
    }

    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        match self.0 {
            ..=64 => {
                let why = "a first-level TLB of about 64 entries holds them all";
                context.estimate_cycles(3.0, 7.0, why)
            }
            65..=1024 => context.estimate_cycles(
                9.0,
                35.0,
                "a second-level TLB of 1024 to 3072 entries holds them; the lines are in the L2 \
                 cache",
            ),
            _ => context.estimate_cycles(
                15.0,
                250.0,
                "beyond the second-level TLB: a page walk, through two sets of page tables on a \
                 virtual machine",
            ),
        }
    }

    fn open(&self, _: &ProbeContext) -> Opened {
        let page = page();
        let map = Map::anonymous(self.0 * page, false)?;
        map.touch();
        let lines = (page / LINE).max(1);
        let mut slots = shuffled(self.0, self.0 as u64).into_iter().map(|number| {
            let number = number as usize;
            number * page + number % lines * LINE
        });
        let mut ring = LoadRing::through(map, &mut slots);
        Ok(Box::new(move |count| Ok(ring.run(count))))
    }
}

/// A ring of addresses in its own mapping.
pub(super) struct LoadRing {
    map: Map,
    next: usize,
}

impl LoadRing {
    /// Links the slots at `offsets` (word-aligned, within the mapping) into a ring that visits each
    /// once per turn, in the given order. The ring is walked once, so that the first timed load
    /// finds the caches in the same state as any other.
    pub fn through(map: Map, offsets: &mut dyn Iterator<Item = usize>) -> LoadRing {
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
        let mut ring = LoadRing { map, next };
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
    shuffle(&mut order, seed);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_visit_every_slot_once() {
        let order = shuffled(64, 7);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..64).collect::<Vec<_>>());
        assert_ne!(order, sorted);
        let map = Map::anonymous(64 * 64, false).unwrap();
        let mut ring = LoadRing::through(map, &mut order.iter().map(|place| *place as usize * 64));
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
