//! How much of a file is in the page cache: cachestat(2), or a sample where that is refused.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use serde::{Deserialize, Serialize};

use super::{fd, sample};

/// The same on every architecture (Linux 6.5); libc lacks it for x86-64.
const SYS_CACHESTAT: libc::c_long = 451;

/// How a residency was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// cachestat(2): every page counted, nothing disturbed.
    Cachestat,
    /// At most 256 pages tried with `RWF_NOWAIT`: an estimate, and each miss starts a read. Drop the cache again after it if cold is wanted.
    Sampled,
}

/// Pages of a range by their state in the page cache, in pages of [`fd::page_size`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residency {
    /// Pages in the range, cached or not.
    pub pages: u64,
    /// Pages in the cache; scaled up from the sample for [`Method::Sampled`].
    pub cached: u64,
    /// Cached pages newer than the device. `None`: a sample cannot tell.
    pub dirty: Option<u64>,
    /// Cached pages being written now. `None`: a sample cannot tell.
    pub writeback: Option<u64>,
    /// Pages that were cached and thrown out, as far as the kernel remembers. `None`: a sample cannot tell.
    pub evicted: Option<u64>,
    pub method: Method,
}

impl Residency {
    /// Cached share, 0 to 1; 0 for an empty range.
    pub fn share(&self) -> f64 {
        if self.pages == 0 {
            0.0
        } else {
            self.cached as f64 / self.pages as f64
        }
    }

    /// Nothing cached and nothing under writeback.
    pub fn is_cold(&self) -> bool {
        self.cached == 0 && self.writeback.unwrap_or(0) == 0
    }
}

/// Residency of `[offset, offset + len)` bytes, cut at the end of a regular file, by the best method that works here.
///
/// cachestat costs 0.1 to 13 ms per GiB, by folio size. mincore is never used: refused, it reports everything resident.
///
/// # Errors
/// The errno of the last method tried, e.g. EOPNOTSUPP on tmpfs before Linux 6.5.
pub fn residency(file: &File, offset: u64, len: u64) -> io::Result<Residency> {
    residency_by(file, offset, len, None)
}

/// As [`residency`], by `method` only when one is given.
///
/// # Errors
/// The errno of the method: cachestat says ENOSYS before Linux 6.5, EPERM for a file that one neither owns nor may write.
pub fn residency_by(
    file: &File,
    offset: u64,
    len: u64,
    method: Option<Method>,
) -> io::Result<Residency> {
    let len = fd::clip(file, offset, len)?;
    let page = fd::page_size();
    let first = offset / page;
    let pages = if len == 0 {
        0
    } else {
        (offset + len).div_ceil(page) - first
    };
    match method {
        Some(Method::Cachestat) => cachestat(file, offset, len, pages),
        Some(Method::Sampled) => sampled(file, first, pages),
        None => cachestat(file, offset, len, pages).or_else(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::ENOSYS | libc::EOPNOTSUPP) => sampled(file, first, pages),
            _ => Err(error),
        }),
    }
}

fn sampled(file: &File, first: u64, pages: u64) -> io::Result<Residency> {
    let cached = sample::cached_pages(file, first, pages)?;
    Ok(Residency {
        pages,
        cached,
        dirty: None,
        writeback: None,
        evicted: None,
        method: Method::Sampled,
    })
}

fn cachestat(file: &File, offset: u64, len: u64, pages: u64) -> io::Result<Residency> {
    let mut stat = [0u64; 5]; // nr_cache, nr_dirty, nr_writeback, nr_evicted, nr_recently_evicted
    // A length of 0 would mean "to the end of the file" to the kernel.
    if len > 0 {
        let range = [offset, len];
        // SAFETY: both arrays have the layout of struct cachestat_range and struct cachestat and outlive the call.
        let done = unsafe {
            libc::syscall(
                SYS_CACHESTAT,
                file.as_raw_fd(),
                range.as_ptr(),
                stat.as_mut_ptr(),
                0,
            )
        };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let [cached, dirty, writeback, evicted, _] = stat;
    // A folio that straddles an end of the range may count whole: never report more than there is.
    let cached = cached.min(pages);
    Ok(Residency {
        pages,
        cached,
        dirty: Some(dirty.min(cached)),
        writeback: Some(writeback.min(cached)),
        evicted: Some(evicted),
        method: Method::Cachestat,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_dirty_file_is_resident_and_dirty() {
        let Some(file) = testing::file_on_disk(1 << 20) else {
            return;
        };
        let state = residency(&file, 0, u64::MAX).unwrap();
        assert_eq!(state.pages, (1 << 20) / fd::page_size());
        if state.method == Method::Cachestat {
            assert_eq!(state.cached, state.pages);
            assert!(state.dirty.unwrap() + state.writeback.unwrap() <= 2 * state.pages);
            assert_eq!(state.share(), 1.0);
        }
    }

    #[test]
    fn both_methods_agree_on_all_and_on_nothing() {
        let Some(file) = testing::file_on_disk(8 << 20) else {
            return;
        };
        for (wanted, prepare) in [(1.0, true), (0.0, false)] {
            if !prepare
                && !crate::sys::cold::make_cold(&file, 8 << 20)
                    .unwrap()
                    .is_cold()
            {
                return testing::skip("the cache of this file cannot be emptied");
            }
            for method in [Method::Cachestat, Method::Sampled] {
                match residency_by(&file, 0, 8 << 20, Some(method)) {
                    Ok(state) => assert_eq!((state.share(), state.method), (wanted, method)),
                    Err(error) => testing::skip(&format!("{method:?}: {error}")),
                }
            }
        }
    }

    #[test]
    fn sampling_twice_does_not_meet_its_own_pages() {
        let Some(file) = testing::file_on_disk(16 << 20) else {
            return;
        };
        if !crate::sys::cold::make_cold(&file, 16 << 20)
            .unwrap()
            .is_cold()
        {
            return testing::skip("the cache of this file cannot be emptied");
        }
        for _ in 0..2 {
            match residency_by(&file, 0, 16 << 20, Some(Method::Sampled)) {
                Ok(state) => assert!(state.share() < 0.5, "{state:?}"),
                Err(error) => testing::skip(&format!("sampling: {error}")),
            }
        }
    }

    #[test]
    fn odd_ranges() {
        let Some(file) = testing::file_on_disk(10_000) else {
            return;
        };
        let page = fd::page_size();
        assert_eq!(residency(&file, 0, 0).unwrap().pages, 0);
        assert_eq!(residency(&file, 20_000, 5).unwrap().share(), 0.0);
        assert_eq!(residency(&file, page - 1, 2).unwrap().pages, 2);
        assert_eq!(residency(&file, u64::MAX, u64::MAX).unwrap().pages, 0);
        assert_eq!(
            residency_by(&file, 0, 0, Some(Method::Sampled))
                .unwrap()
                .cached,
            0
        );
        file.write_all_at(b"x", 10_000).unwrap();
        assert_eq!(
            residency(&file, 0, 10_001).unwrap().pages,
            10_001u64.div_ceil(page)
        );
    }

    #[test]
    fn methods_are_lower_case() {
        assert_eq!(
            serde_json::to_string(&Method::Cachestat).unwrap(),
            "\"cachestat\""
        );
    }
}
