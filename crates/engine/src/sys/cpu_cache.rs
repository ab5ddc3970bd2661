//! Flushes a file's data from the CPU caches, and verifies by timed loads that it worked.
#![allow(unsafe_code)]

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::sync::LazyLock;

use memmap2::{Advice, MmapOptions};

use super::buffer::Buffer;
use super::clock::Clock;
use super::fd::page_size;
use super::memory::free_memory;
use super::sigbus::Guard;
use super::text;
use crate::stats::random::mix;
use crate::units;

/// The result of a flush.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlushResult {
    /// Nanoseconds of one dependent load of the sampled bytes right after they were used.
    pub before: f64,
    /// The same after the flush.
    pub after: f64,
    /// Bytes flushed line by line; 0 = evicted by reading other memory.
    pub bytes: u64,
}

/// Maximum memory for evicting the caches, bytes.
const MAX_EVICTION_BYTES: u64 = 512 << 20;
/// 64 bytes is the smallest line size of these CPUs; flushing a larger line twice is harmless.
const LINE: usize = 64;
/// Pages per chain: their translations fit in the first level of any TLB.
const PAGES: usize = 32;
/// Number of chains, of which the median counts: an interrupt affects only one.
const CHAINS: usize = 16;
/// A larger file is not flushed line by line: at 5 ns per line that would take a fifth of a second.
const MAX_FLUSH_BYTES: u64 = 2 << 30;

/// Flushes the first bytes of a file that is in the page cache from the CPU caches; without such a
/// file, evicts everything.
///
/// A cached file is mapped and each of its lines flushed (clflushopt, clflush, dc civac), which
/// every CPU obeys. Otherwise a buffer of four times the last-level cache (at most 512 MiB, and a
/// quarter of free memory) is read, which evicts the shared caches and the caches of the calling
/// CPU.
///
/// # Errors
/// The errno of mmap(2), or of allocating the buffer.
pub fn flush(file: Option<(&File, u64)>) -> io::Result<FlushResult> {
    match file.filter(|(_, len)| CAN_FLUSH_LINES && (page_size()..=MAX_FLUSH_BYTES).contains(len)) {
        Some((file, len)) => flush_lines(file, len),
        None => evict(),
    }
}

/// Flushes the lines of a part of a buffer, so that it is read from memory next; does nothing on
/// CPUs without such an instruction. Bytes beyond the buffer are ignored.
pub fn flush_part(buffer: &Buffer, part: Range<usize>) {
    let end = part.end.min(buffer.len());
    if let Some(len) = end.checked_sub(part.start) {
        flush_range(buffer.ptr().wrapping_add(part.start), len);
    }
}

fn flush_lines(file: &File, len: u64) -> io::Result<FlushResult> {
    let len = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let map = MmapOptions::new().len(len).map_raw_read_only(file)?;
    // SAFETY: the range is this mapping, which is dropped after the guard.
    let guard = unsafe { Guard::new(map.as_ptr(), len, false) }?;
    // Before Linux 5.14 the flushes touch the pages themselves.
    let _ = map.advise(Advice::PopulateRead);
    let sample = LoadSample::take(map.as_ptr(), len);
    let before = sample.nanos_after_use();
    let all = || flush_range(map.as_ptr(), len);
    all();
    let after = sample.nanos();
    // Measuring brought the sample back into the caches.
    all();
    drop(guard);
    Ok(FlushResult { before, after, bytes: len as u64 })
}

fn evict() -> io::Result<FlushResult> {
    // Separate memory: the sample must not be part of the buffer that evicts it.
    let sampled = Buffer::new(4 * PAGES * CHAINS * page_size() as usize)?;
    let free = free_memory().unwrap_or(MAX_EVICTION_BYTES);
    let others =
        Buffer::new(usize::try_from(eviction_bytes(last_cache(), free)).unwrap_or(usize::MAX))?;
    let sample = LoadSample::take(sampled.ptr(), sampled.len());
    let before = sample.nanos_after_use();
    let read_all = || {
        for at in (0..others.len()).step_by(LINE) {
            // SAFETY: within the buffer.
            black_box(unsafe { others.address(at).read_volatile() });
        }
    };
    read_all();
    Ok(FlushResult { before, after: sample.nanos(), bytes: 0 })
}

/// Returns the bytes to read to evict a cache of that size. If memory is scarce this may be too
/// few, which the timed loads reveal; no process is killed for it.
fn eviction_bytes(cache: u64, free: u64) -> u64 {
    cache.saturating_mul(4).min(MAX_EVICTION_BYTES).min(free / 4).max(1 << 20)
}

/// Returns the size of the largest cache of the first CPU, or 32 MiB if it is unknown. At most 256
/// MiB: a virtual machine may report the cache of the whole host.
pub fn last_cache() -> u64 {
    // Determined once, as it is needed before each part of a trial.
    static SIZE: LazyLock<u64> = LazyLock::new(|| {
        let size = |index| {
            let text = text::line(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size"))?;
            units::parse_bytes(text.trim()).ok()
        };
        (0..8).filter_map(size).max().unwrap_or(32 << 20).clamp(8 << 20, 256 << 20)
    });
    *SIZE
}

/// Addresses whose loads are timed: chains of random lines, each in its own page whose first line
/// is loaded beforehand.
///
/// The line varies from page to page: some CPUs (a Xeon with 48 KiB of L1, 2 MiB of L2 and
/// AMX-FP16) learn such pairs and load the second line with the first, so that flushed lines seem
/// cached. A fixed line would also make all of them compete for a few sets of the L1.
struct LoadSample {
    chains: Vec<Vec<*const u8>>,
}

impl LoadSample {
    fn take(start: *const u8, len: usize) -> LoadSample {
        let page = page_size() as usize;
        let pages = (len / page).max(1);
        // No page twice, as it would already be loaded: the range is divided into equal parts, with
        // one random page from each.
        let (each, chains) = (pages.min(PAGES), (pages / PAGES).clamp(1, CHAINS));
        let part = pages / (each * chains);
        let address = |index: usize| {
            let random = mix(index as u64);
            // Away from the lines that prefetchers fetch: those next to the first line and to the
            // next page.
            let line = page / 8 + (random >> 32) as usize % (page * 3 / 4 / LINE) * LINE;
            start.wrapping_add((index * part + (random % part as u64) as usize) * page + line)
        };
        LoadSample {
            chains: (0..chains)
                .map(|chain| (0..each).map(|n| address(n * chains + chain)).collect())
                .collect(),
        }
    }

    /// Returns the time of a load of a line that was just used: the minimum of several, since
    /// interference only adds time.
    fn nanos_after_use(&self) -> f64 {
        self.nanos();
        (0..5).map(|_| self.nanos()).fold(f64::INFINITY, f64::min)
    }

    /// Returns the time of a load, as the median over the chains.
    fn nanos(&self) -> f64 {
        let mut times: Vec<f64> = self.chains.iter().map(|chain| time(chain)).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}

/// Returns the nanoseconds per load of one chain, in which each load depends on the one before.
fn time(chain: &[*const u8]) -> f64 {
    let (clock, page) = (Clock::best(), page_size() as usize);
    // Loads the first line of each page, which caches the address translation.
    for line in chain {
        // SAFETY: the address is the start of a page of the sampled range, which is page-aligned
        // and mapped.
        black_box(unsafe { line.map_addr(|at| at / page * page).read_volatile() });
    }
    // Hides the value from the compiler and the CPU.
    let nothing = black_box(0usize);
    let mut last = 0usize;
    let start = clock.now_ordered();
    for line in chain {
        // SAFETY: within the sampled range, since `last` is always 0.
        last = usize::from(unsafe { line.wrapping_add(last).read_volatile() }) & nothing;
    }
    black_box(last);
    clock.nanos(start, clock.now_ordered()) as f64 / chain.len() as f64
}

/// Returns whether user space can flush lines on this architecture.
const CAN_FLUSH_LINES: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[cfg(target_arch = "x86_64")]
fn flush_range(start: *const u8, len: usize) {
    use std::arch::x86_64::{__cpuid_count, _mm_clflush, _mm_mfence};
    // CPUID leaf 7, EBX bit 23: clflushopt, whose lines do not wait for each other.
    let free = std::arch::x86_64::__cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx & (1 << 23) != 0;
    for at in (0..len).step_by(LINE) {
        let line = start.wrapping_add(at);
        // SAFETY: a line of the mapped range; a flush changes no contents; clflushopt is used only
        // if CPUID reports it.
        unsafe {
            if free {
                std::arch::asm!("clflushopt [{}]", in(reg) line, options(nostack, preserves_flags));
            } else {
                _mm_clflush(line);
            }
        }
    }
    // SAFETY: mfence is part of SSE2, which every x86-64 CPU has; it only orders accesses.
    unsafe { _mm_mfence() };
}

#[cfg(target_arch = "aarch64")]
fn flush_range(start: *const u8, len: usize) {
    for at in (0..len).step_by(LINE) {
        // SAFETY: a line of the mapped range; Linux lets programs clean and invalidate lines
        // (SCTLR_EL1.UCI).
        unsafe {
            std::arch::asm!(
                "dc civac, {}",
                in(reg) start.wrapping_add(at),
                options(nostack, preserves_flags)
            )
        };
    }
    // SAFETY: an unprivileged barrier, which only orders accesses.
    unsafe { std::arch::asm!("dsb ish", options(nostack, preserves_flags)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn flush_range(_: *const u8, _: usize) {}

#[cfg(test)]
mod tests;
