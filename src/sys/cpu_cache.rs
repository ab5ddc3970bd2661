//! Emptying the caches of the CPUs of a file's data, and showing by the time of loads that it
//! worked.
#![allow(unsafe_code)]

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::sync::LazyLock;

use memmap2::{Advice, MmapOptions};

use super::allowance::free_memory;
use super::buffer::Buffer;
use super::clock::Clock;
use super::fd::page_size;
use super::guard::Guard;
use super::random::mix;
use super::text;
use crate::units;

/// What flushing did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flushed {
    /// Time of one dependent load of the sampled bytes just after they were used, nanoseconds.
    pub before: f64,
    /// The same after the flush.
    pub after: f64,
    /// Bytes flushed line by line; 0 = pushed out by reading other memory.
    pub bytes: u64,
}

/// The most memory that is taken to push out what the caches hold.
const MOST_PUSHED: u64 = 512 << 20;
/// A line of 64 bytes is the least that any cache here holds; flushing a larger one twice does no
/// harm.
const LINE: usize = 64;
/// Pages of one chain: their translations fit into the first level of any TLB.
const PAGES: usize = 32;
/// Chains, of which the median counts: an interrupt hits one.
const CHAINS: usize = 16;
/// More than this is not flushed line by line: at 5 ns a line it would take a fifth of a second.
const MOST_LINES: u64 = 2 << 30;

/// Empties the CPU caches of the first bytes of a file, all of which are in the page cache; of
/// everything where there is no such file.
///
/// A cached file is mapped and each of its lines flushed (clflushopt, clflush, dc civac), which
/// every CPU obeys. Else a buffer of four times the last cache (at most 512 MiB, and a quarter of
/// the memory that is free) is read, which empties what CPUs share and the caller's own.
///
/// # Errors
/// Of mmap(2), or of the memory for the buffer.
pub fn flush(file: Option<(&File, u64)>) -> io::Result<Flushed> {
    match file.filter(|(_, len)| LINES && (page_size()..=MOST_LINES).contains(len)) {
        Some((file, len)) => flush_lines(file, len),
        None => push_out(),
    }
}

fn flush_lines(file: &File, len: u64) -> io::Result<Flushed> {
    let len = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let map = MmapOptions::new().len(len).map_raw_read_only(file)?;
    // SAFETY: the range is this mapping, which is dropped after the guard.
    let guard = unsafe { Guard::new(map.as_ptr(), len, false) }?;
    // Before Linux 5.14 the flushes themselves touch the pages.
    let _ = map.advise(Advice::PopulateRead);
    let sample = Sample::of(map.as_ptr(), len);
    let before = sample.used();
    let all = || flush_range(map.as_ptr(), len);
    all();
    let after = sample.nanos();
    // The sample is in the caches again.
    all();
    drop(guard);
    Ok(Flushed { before, after, bytes: len as u64 })
}

fn push_out() -> io::Result<Flushed> {
    // In its own memory: what is sampled must not be what pushes it out.
    let sampled = Buffer::new(4 * PAGES * CHAINS * page_size() as usize)?;
    let free = free_memory().unwrap_or(MOST_PUSHED);
    let others = Buffer::new(usize::try_from(pushed(last_cache(), free)).unwrap_or(usize::MAX))?;
    let sample = Sample::of(sampled.ptr(), sampled.len());
    let before = sample.used();
    let read_all = || {
        for at in (0..others.len()).step_by(LINE) {
            // SAFETY: within the buffer.
            black_box(unsafe { others.at(at).read_volatile() });
        }
    };
    read_all();
    Ok(Flushed { before, after: sample.nanos(), bytes: 0 })
}

/// Bytes that are read to push out what a cache of that size holds. Where memory is scarce it is
/// less than that takes, and the loads that are timed afterwards tell so; nobody is killed for it.
fn pushed(cache: u64, free: u64) -> u64 {
    cache.saturating_mul(4).min(MOST_PUSHED).min(free / 4).max(1 << 20)
}

/// Bytes of the largest cache of the first CPU; 32 MiB where it is not told. At most 256 MiB: a
/// virtual machine may be told of the whole host's.
pub fn last_cache() -> u64 {
    // Asked before each part of a trial.
    static SIZE: LazyLock<u64> = LazyLock::new(|| {
        let size = |index| {
            let text = text::line(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size"))?;
            units::parse_bytes(text.trim()).ok()
        };
        (0..8).filter_map(size).max().unwrap_or(32 << 20).clamp(8 << 20, 256 << 20)
    });
    *SIZE
}

/// Addresses whose loads are timed: chains of lines by chance, each in a page of its own, whose
/// first line is loaded before.
///
/// Not the same line of every page: a CPU that has seen some such pairs (a Xeon with 48 KiB of L1,
/// 2 MiB of L2 and AMX-FP16) loads the second with the first, and what was flushed seems to be
/// cached; and all of them compete for a few sets of the L1.
struct Sample {
    chains: Vec<Vec<*const u8>>,
}

impl Sample {
    fn of(start: *const u8, len: usize) -> Sample {
        let page = page_size() as usize;
        let pages = (len / page).max(1);
        // No page twice: the second time it would have been loaded already. One by chance of each
        // of as many equal parts.
        let (each, chains) = (pages.min(PAGES), (pages / PAGES).clamp(1, CHAINS));
        let part = pages / (each * chains);
        let one = |index: usize| {
            let chance = mix(index as u64);
            // Out of the reach of prefetchers that fetch the lines beside the first, or beside the
            // next page's.
            let line = page / 8 + (chance >> 32) as usize % (page * 3 / 4 / LINE) * LINE;
            start.wrapping_add((index * part + (chance % part as u64) as usize) * page + line)
        };
        Sample {
            chains: (0..chains)
                .map(|chain| (0..each).map(|n| one(n * chains + chain)).collect())
                .collect(),
        }
    }

    /// Time of a load when its line was just used: the least of some, since whoever else uses the
    /// CPU makes it longer.
    fn used(&self) -> f64 {
        self.nanos();
        (0..5).map(|_| self.nanos()).fold(f64::INFINITY, f64::min)
    }

    /// The median over the chains of the time of a load.
    fn nanos(&self) -> f64 {
        let mut times: Vec<f64> = self.chains.iter().map(|chain| time(chain)).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}

/// Nanoseconds of one of these loads, each of which waits for the one before.
fn time(chain: &[*const u8]) -> f64 {
    let (clock, page) = (Clock::best(), page_size() as usize);
    // The first line of each page: then the translation is known.
    for line in chain {
        // SAFETY: the beginning of a page of the sampled range, which begins at a page and is
        // mapped.
        black_box(unsafe { line.map_addr(|at| at / page * page).read_volatile() });
    }
    // Nobody can know that it is 0.
    let nothing = black_box(0usize);
    let mut last = 0usize;
    let start = clock.alone();
    for line in chain {
        // SAFETY: within the sampled range: `last` is always 0.
        last = usize::from(unsafe { line.wrapping_add(last).read_volatile() }) & nothing;
    }
    black_box(last);
    clock.nanos(start, clock.alone()) as f64 / chain.len() as f64
}

/// Whether lines can be flushed from a program here.
const LINES: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[cfg(target_arch = "x86_64")]
fn flush_range(start: *const u8, len: usize) {
    use std::arch::x86_64::{__cpuid_count, _mm_clflush, _mm_mfence};
    // CPUID leaf 7, EBX bit 23: clflushopt, whose lines do not wait for each other.
    let free = std::arch::x86_64::__cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx & (1 << 23) != 0;
    for at in (0..len).step_by(LINE) {
        let line = start.wrapping_add(at);
        // SAFETY: a line of the range, which is mapped; a flush changes no contents; clflushopt
        // only where CPUID names it.
        unsafe {
            if free {
                std::arch::asm!("clflushopt [{}]", in(reg) line, options(nostack, preserves_flags));
            } else {
                _mm_clflush(line);
            }
        }
    }
    // SAFETY: mfence is part of SSE2, which every x86-64 CPU has; it orders accesses and makes
    // none.
    unsafe { _mm_mfence() };
}

#[cfg(target_arch = "aarch64")]
fn flush_range(start: *const u8, len: usize) {
    for at in (0..len).step_by(LINE) {
        // SAFETY: a line of the range, which is mapped; Linux lets programs clean and drop lines
        // (SCTLR_EL1.UCI).
        unsafe {
            std::arch::asm!("dc civac, {}", in(reg) start.wrapping_add(at), options(nostack, preserves_flags))
        };
    }
    // SAFETY: a barrier that programs may use; it orders accesses and makes none.
    unsafe { std::arch::asm!("dsb ish", options(nostack, preserves_flags)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn flush_range(_: *const u8, _: usize) {}

#[cfg(test)]
mod tests;
