//! Samples the page cache page by page with `RWF_NOWAIT`: needs only read permission, but disturbs
//! the cache a little.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use super::{fd, process_io::ProcessIo};
use crate::stats::random::mix;

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
pub(crate) fn cached_pages(file: &File, first: u64, pages: u64) -> io::Result<u64> {
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
mod tests {
    use super::*;

    #[test]
    fn strata_cover_everything_once() {
        for (pages, samples) in [(1, 1), (255, 255), (256, 256), (257, 256), (1 << 50, 256)] {
            assert_eq!(stratum(pages, 0, samples), 0);
            assert_eq!(stratum(pages, samples, samples), pages);
            assert!(
                (0..samples).all(|i| stratum(pages, i, samples) < stratum(pages, i + 1, samples))
            );
        }
    }

    #[test]
    fn seeds_differ() {
        assert_ne!(fresh_seed(), fresh_seed());
    }
}
