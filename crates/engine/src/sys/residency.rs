//! The share of a file in the page cache: by cachestat(2), or the next best method if that is
//! refused or sees nothing.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use memmap2::{Mmap, MmapOptions};
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::sys::statfs::{FUSE_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, fstatfs};
use serde::{Deserialize, Serialize};

use super::fd;
use super::process_io::ProcessIo;
use crate::facts::ResidencyMethod;
use crate::stats::random::mix;

/// The system call number on every architecture (Linux 6.5); libc lacks it for x86-64.
const SYS_CACHESTAT: libc::c_long = 451;

/// Pages of a range by their state in the page cache, in pages of [`fd::page_size`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residency {
    /// Pages in the range, cached or not.
    pub pages: u64,
    /// Pages in the cache; extrapolated from the sample for [`ResidencyMethod::Sampled`].
    pub cached: u64,
    /// Dirty cached pages. `None` unless measured by cachestat.
    pub dirty: Option<u64>,
    /// Cached pages under writeback. `None` unless measured by cachestat.
    pub writeback: Option<u64>,
    /// Pages that were evicted, as far as the kernel remembers. `None` unless measured by
    /// cachestat.
    pub evicted: Option<u64>,
    pub method: ResidencyMethod,
}

impl Residency {
    /// Returns the cached share, 0 to 1; 0 for an empty range.
    pub fn share(&self) -> f64 {
        if self.pages == 0 { 0.0 } else { self.cached as f64 / self.pages as f64 }
    }

    /// Returns whether nothing is cached or under writeback.
    pub fn is_cold(&self) -> bool {
        self.cached == 0 && self.writeback.unwrap_or(0) == 0
    }
}

/// Returns the residency of `[offset, offset + len)` bytes, truncated at the end of the file, by
/// the best method that works.
///
/// cachestat and mincore take 0.1 to 20 ms per GiB, depending on folio size.
///
/// # Errors
/// The errno of the last method tried, e.g. EPERM for another user's file on an overlay.
pub fn residency(file: &File, offset: u64, len: u64) -> io::Result<Residency> {
    residency_by(file, offset, len, None)
}

/// Returns the residency like [`residency_by`], or `None` if no method works: another user's file
/// on an overlay, or a sandbox.
///
/// # Errors
/// Any other errno, such as EIO.
pub fn residency_if_known(
    file: &File,
    part: Range<u64>,
    method: Option<ResidencyMethod>,
) -> io::Result<Option<Residency>> {
    match residency_by(file, part.start, part.end - part.start, method) {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_refusal(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the residency like [`residency`], but only by `method` if one is given.
///
/// # Errors
/// The errno of the method: cachestat returns ENOSYS before Linux 6.5, EPERM for a file that the
/// user neither owns nor may write.
pub fn residency_by(
    file: &File,
    offset: u64,
    len: u64,
    method: Option<ResidencyMethod>,
) -> io::Result<Residency> {
    let len = fd::clip(file, offset, len)?;
    let page = fd::page_size();
    let first = offset / page;
    let pages = if len == 0 { 0 } else { (offset + len).div_ceil(page) - first };
    let measure = |method| match method {
        ResidencyMethod::Cachestat => cachestat(file, offset, len, pages),
        ResidencyMethod::Sampled => {
            Ok(from_count(method, pages, sampled_pages(file, first, pages)?))
        }
        ResidencyMethod::Mincore => {
            Ok(from_count(method, pages, mapped_pages(file, first, pages)?))
        }
    };
    let methods = method.map_or_else(|| methods(file), |method| vec![method]);
    let mut refusal = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
    for method in methods {
        match measure(method) {
            Err(error) if is_refusal(&error) => refusal = error,
            answer => return answer,
        }
    }
    Err(refusal)
}

/// Returns the methods to try, best first. Files of an overlay (and of FUSE with passthrough) have
/// no pages of their own: queried directly they always look cold, while a mapping leads to the file
/// that has the pages.
fn methods(file: &File) -> Vec<ResidencyMethod> {
    match fstatfs(file).map(|stat| stat.filesystem_type()) {
        Ok(OVERLAYFS_SUPER_MAGIC) => vec![ResidencyMethod::Mincore],
        Ok(FUSE_SUPER_MAGIC) => {
            vec![ResidencyMethod::Mincore, ResidencyMethod::Cachestat, ResidencyMethod::Sampled]
        }
        // Before Linux 6.5 a mapping is used, which is exact; sampling only estimates and causes
        // reads. It is used if both are refused.
        _ => vec![ResidencyMethod::Cachestat, ResidencyMethod::Mincore, ResidencyMethod::Sampled],
    }
}

/// Returns whether the method does not work here but another may.
fn is_refusal(error: &io::Error) -> bool {
    // ENOENT: no /proc to reopen the file. ENODEV: cannot be mapped.
    let codes =
        [libc::EPERM, libc::EACCES, libc::ENOSYS, libc::EOPNOTSUPP, libc::ENODEV, libc::ENOENT];
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

fn from_count(method: ResidencyMethod, pages: u64, cached: u64) -> Residency {
    Residency { pages, cached, dirty: None, writeback: None, evicted: None, method }
}

fn cachestat(file: &File, offset: u64, len: u64, pages: u64) -> io::Result<Residency> {
    let mut stat = [0u64; 5]; // nr_cache, nr_dirty, nr_writeback, nr_evicted, nr_recently_evicted
    // The kernel interprets a length of 0 as "to the end of the file".
    if len > 0 {
        let range = [offset, len];
        // SAFETY: both arrays have the layout of struct cachestat_range and struct cachestat and
        // outlive the call.
        let done = unsafe {
            libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), range.as_ptr(), stat.as_mut_ptr(), 0)
        };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let [cached, dirty, writeback, evicted, _] = stat;
    // A folio that straddles an end of the range may count in full: never report more pages than
    // the range has.
    let cached = cached.min(pages);
    Ok(Residency {
        pages,
        cached,
        dirty: Some(dirty.min(cached)),
        writeback: Some(writeback.min(cached)),
        evicted: Some(evicted),
        method: ResidencyMethod::Cachestat,
    })
}

/// Pages per call: 256 MiB of address space and a result of 64 KiB.
const CHUNK: u64 = 1 << 16;
/// The last folio may extend past the end of the file, but never by more than this.
const LARGEST_FOLIO: u64 = 1 << 30;

/// Counts the cached pages among `pages` pages of a regular file or block device, starting at page
/// number `first`.
///
/// For files that the user neither owns nor may write, the kernel reports every page as resident. A
/// page past the end of the file reveals this.
///
/// # Errors
/// EPERM in that case; the errno of mmap(2) (ENODEV: cannot be mapped) or mincore(2).
fn mapped_pages(file: &File, first: u64, pages: u64) -> io::Result<u64> {
    if pages == 0 {
        return Ok(0);
    }
    let behind = fd::size(file)?.checked_next_multiple_of(LARGEST_FOLIO);
    let refused = match behind {
        Some(behind) => count_resident(file, behind / fd::page_size(), 1)? != 0,
        None => true,
    };
    if refused {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    let mut cached = 0;
    let mut done = 0;
    while done < pages {
        let now = CHUNK.min(pages - done);
        cached += count_resident(file, first + done, now)?;
        done += now;
    }
    Ok(cached)
}

fn count_resident(file: &File, first: u64, pages: u64) -> io::Result<u64> {
    let page = fd::page_size();
    let map = map(file, first * page, pages * page)?;
    let mut answer = super::buffer::zeroed(pages as usize)?;
    // SAFETY: the range is our mapping, `answer` has one byte per page, and no page is touched.
    let done =
        unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), answer.as_mut_ptr()) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer.iter().map(|byte| u64::from(byte & 1)).sum())
}

fn map(file: &File, offset: u64, len: u64) -> io::Result<Mmap> {
    // SAFETY: nothing reads through this mapping, so changes or truncation of the file are
    // harmless.
    unsafe { MmapOptions::new().offset(offset).len(len as usize).map(file) }
}

/// Enough for a standard error of 3 %, and few enough to warm at most 1 MiB of a cold file.
const SAMPLES: u64 = 256;
/// Time limit for the reads started by misses to end, since pages being read survive a drop.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(2);

/// Estimates the number of cached pages among `pages` pages, starting at page number `first`. Pages
/// in holes count as cached: reading them needs no device.
///
/// # Errors
/// The errno of open(2) for its own descriptor, of posix_fadvise(2) or of preadv2(2): EOPNOTSUPP on
/// tmpfs.
fn sampled_pages(file: &File, first: u64, pages: u64) -> io::Result<u64> {
    if pages == 0 {
        return Ok(0);
    }
    // Its own description, because the advice would otherwise change the caller's readahead.
    let reopened = fd::reopen(file)?;
    // Without it a miss would read a whole readahead window.
    posix_fadvise(&reopened, 0, 0, PosixFadviseAdvice::POSIX_FADV_RANDOM)?;
    let page = fd::page_size();
    let samples = pages.min(SAMPLES);
    let seed = fresh_seed();
    let mut missed = Vec::new();
    let mut charged = charge();
    for i in 0..samples {
        let (low, high) = (stratum(pages, i, samples), stratum(pages, i + 1, samples));
        let offset = (first + low + mix(seed.wrapping_add(i)) % (high - low)) * page;
        let answered = is_cached(&reopened, offset)?;
        // The read started by a miss may complete before the kernel checks again (a device in
        // memory, a preempted thread).
        let before = std::mem::replace(&mut charged, charge());
        if !answered || charged != before {
            missed.push(offset);
        }
    }
    settle(&reopened, &missed);
    let share = 1.0 - missed.len() as f64 / samples as f64;
    Ok((share * pages as f64).round() as u64)
}

/// Returns the bytes that devices have transferred for this thread; 0 if the kernel does not count
/// them.
fn charge() -> u64 {
    ProcessIo::thread().map_or(0, |io| io.read_bytes)
}

/// Waits for the reads started by misses, so that the next drop finds nothing in flight.
fn settle(file: &File, missed: &[u64]) {
    let start = Instant::now();
    for offset in missed.iter().take_while(|_| start.elapsed() < SETTLE_TIMEOUT) {
        // The result does not matter: a failed read has ended too.
        let _ = file.read_at(&mut [0], *offset);
    }
}

/// Returns the start of part `i`: one sample per equal part of the file, so no page is sampled
/// twice.
fn stratum(pages: u64, i: u64, samples: u64) -> u64 {
    (u128::from(pages) * u128::from(i) / u128::from(samples)) as u64
}

/// Returns a new seed for each call: the pages of the last sample are now cached and would all be
/// hits.
fn fresh_seed() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    mix(now) ^ mix(CALLS.fetch_add(1, Relaxed))
}

fn is_cached(file: &File, offset: u64) -> io::Result<bool> {
    let offset =
        libc::off_t::try_from(offset).map_err(|_| io::Error::from_raw_os_error(libc::EOVERFLOW))?;
    let mut byte = 0u8;
    let vector = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    loop {
        // SAFETY: one vector of one byte, both alive during the call.
        let got = unsafe {
            libc::preadv2(file.as_raw_fd(), &raw const vector, 1, offset, libc::RWF_NOWAIT)
        };
        if got >= 0 {
            return Ok(got == 1);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EAGAIN) => return Ok(false),
            Some(libc::EINTR) => {}
            _ => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
