//! How much of a file is in the page cache: by cachestat(2), or the next best method if that is
//! refused or sees nothing.
#![allow(unsafe_code)]

use crate::facts::ResidencyMethod;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

use nix::sys::statfs::{FUSE_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, fstatfs};
use serde::{Deserialize, Serialize};

use super::{fd, mincore, sample};

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
            Ok(from_count(method, pages, sample::cached_pages(file, first, pages)?))
        }
        ResidencyMethod::Mincore => {
            Ok(from_count(method, pages, mincore::cached_pages(file, first, pages)?))
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

#[cfg(test)]
mod tests;
