//! Drops and fills the page cache of a file, and verifies the result.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::unistd::{AccessFlags, access, fdatasync, sync};

use super::cpu_cache;
use super::fd;
use super::residency::{Residency, residency_if_known};
use crate::facts::ResidencyMethod;

/// One pass drops any file that is not mapped; pages still cached after this time stay (measured).
const DROP_TIMEOUT: Duration = Duration::from_millis(200);
/// Pages that the device is still reading, as readahead does after a trial was ended, cannot be
/// dropped: they are waited for at most this long.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// Consecutive checks, 31 ms in all, that find the same number of clean pages before giving up:
/// those pages are in a memory file system or mapped by other processes.
const MAX_UNCHANGED: u32 = 5;
/// Share of a file that must be resident to call it warm: a kernel may evict a little.
pub const WARM: f64 = 0.99;
const WARM_PASSES: u32 = 3;
/// Size of reads: large enough for the largest page-cache folios, and small enough for a slow disk
/// to complete one within 100 ms.
const PIECE: u64 = 2 << 20;

thread_local! {
    /// The buffer that warming reads into.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The result of [`make_cold`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cold {
    /// Pages that are still cached; `None` if no method can measure them. With
    /// [`ResidencyMethod::Sampled`] the state before the last drop, which removed the pages that
    /// sampling read.
    pub left: Option<Residency>,
    /// Nanoseconds in total, including writeback.
    pub nanos: u64,
    /// Number of times the cache was dropped.
    pub passes: u32,
}

impl Cold {
    /// Returns whether the file is verified to be completely uncached.
    pub fn is_cold(&self) -> bool {
        self.left.is_some_and(|left| left.is_cold())
    }
}

/// Writes back and drops the cached pages of `file`, and checks that `[0, len)` is gone, for up to
/// 200 ms after the first attempt or until nothing changes any more; for up to 2 s while the device
/// is still reading pages.
///
/// Unmap the file in this process first: pages that any process has mapped and touched stay, and
/// [`Cold::left`] counts them (see [`super::mappers`]). A regular file is dropped completely, since
/// a large folio across the end of a range would stay; a device up to `len`.
///
/// # Errors
/// The errno of fdatasync(2) (EIO: the device failed), of posix_fadvise(2), or of measuring the
/// residency.
pub fn make_cold(file: &File, len: u64) -> io::Result<Cold> {
    make_cold_by(file, 0..len, None, &|| false)
}

/// Drops the pages like [`make_cold`], and checks that a part of the file is gone; `stop` ends the
/// waiting.
///
/// # Errors
/// `Interrupted` when stopped; else the same as [`make_cold`].
pub fn make_cold_within(
    file: &File,
    part: Range<u64>,
    stop: &dyn Fn() -> bool,
) -> io::Result<Cold> {
    make_cold_by(file, part, None, stop)
}

/// Drops the pages, checking only by `method` if one is given.
fn make_cold_by(
    file: &File,
    part: Range<u64>,
    method: Option<ResidencyMethod>,
    stop: &dyn Fn() -> bool,
) -> io::Result<Cold> {
    let start = Instant::now();
    write_back(file)?;
    drop_pages(file, part.end)?;
    let mut passes = 1;
    let mut left = residency_if_known(file, part.clone(), method)?;
    let dropped = Instant::now();
    let mut pause = Duration::from_millis(1);
    let mut patience = Patience::default();
    while let Some(state) = left {
        if state.method == ResidencyMethod::Sampled {
            // Another sample would only find the pages that the first one read.
            drop_pages(file, part.end)?;
            passes += 1;
            break;
        }
        let waited = dropped.elapsed();
        if state.is_cold() || patience.ends(waited, || has_unread(file, part.clone(), &state)) {
            break;
        }
        if stop() {
            return Err(fd::stop_error());
        }
        super::pause::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
        if state.dirty.unwrap_or(0) > 0 {
            write_back(file)?;
        }
        drop_pages(file, part.end)?;
        passes += 1;
        left = residency_if_known(file, part.clone(), method)?;
        let clean = state.dirty.unwrap_or(0) + state.writeback.unwrap_or(0) == 0;
        let unchanged = clean && left.is_some_and(|l| l.cached == state.cached);
        patience.unchanged = if unchanged { patience.unchanged + 1 } else { 0 };
    }
    Ok(Cold { left, nanos: start.elapsed().as_nanos() as u64, passes })
}

/// Decides how long to drop pages again that stay.
#[derive(Default)]
struct Patience {
    /// Consecutive checks that found the same.
    unchanged: u32,
    /// Before the last drop no page was being read.
    all_read: bool,
}

impl Patience {
    /// Returns whether to give up, `waited` after the first drop. `has_unread` returns whether
    /// pages are still being read; they can be dropped afterwards.
    fn ends(&mut self, waited: Duration, has_unread: impl FnOnce() -> bool) -> bool {
        let is_over = self.unchanged >= MAX_UNCHANGED || waited >= DROP_TIMEOUT;
        if is_over && self.all_read || waited >= READ_TIMEOUT {
            return true;
        }
        // If so, once more: the last page may have been read since they were counted.
        self.all_read = is_over && !has_unread();
        false
    }
}

/// Returns whether the page cache holds pages that have not been read yet: cachestat(2) counts
/// them, mincore(2) does not.
fn has_unread(file: &File, part: Range<u64>, state: &Residency) -> bool {
    state.method == ResidencyMethod::Cachestat
        && residency_if_known(file, part, Some(ResidencyMethod::Mincore))
            .is_ok_and(|read| read.is_some_and(|read| read.cached < state.cached))
}

/// Drops the cached pages of a part of `file` that are clean and not mapped; large folios that
/// straddle its ends stay.
///
/// # Errors
/// The errno of posix_fadvise(2).
pub fn drop_part(file: &File, offset: u64, len: u64) -> io::Result<()> {
    fn clip(bytes: u64) -> i64 {
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }
    Ok(posix_fadvise(
        file.as_fd(),
        clip(offset),
        clip(len),
        PosixFadviseAdvice::POSIX_FADV_DONTNEED,
    )?)
}

/// Reads a part of `file`, up to 3 times, until 99 % of it is in the page cache. Returns what is
/// cached, or `None` if no method can measure it.
///
/// Reads only the end of a part that is fully cached: the CPU caches then hold the same data as
/// after a complete read.
///
/// Calls `stop` every 2 MiB. Uses a separate file description: `file` may be open for direct I/O.
///
/// # Errors
/// `Interrupted` when stopped; else the errno of reading or of measuring the residency.
pub fn make_warm_within(
    file: &File,
    part: Range<u64>,
    stop: &dyn Fn() -> bool,
) -> io::Result<Option<Residency>> {
    let reopened = fd::reopen(file)?;
    let len = fd::clip(file, part.start, part.end - part.start)?;
    let part = part.start..part.start + len;
    // Kept for the next call: allocating it takes as long as a short trial.
    let mut buffer = BUFFER.take();
    if buffer.is_empty() {
        buffer = super::buffer::zeroed(PIECE as usize)?;
    }
    let cache = cpu_cache::last_cache();
    // A small file is always read completely.
    let known = len / 2 > cache;
    let state = if known { residency_if_known(file, part.clone(), None)? } else { None };
    let mut from = part.start + first_read_offset(state, len, cache);
    let mut pass = 0;
    loop {
        read_range(&reopened, from..part.end, &mut buffer, stop)?;
        (from, pass) = (part.start, pass + 1);
        let state = residency_if_known(file, part.clone(), None)?;
        let enough = state.is_none_or(|s| s.share() >= WARM || s.pages == 0);
        if enough || pass == WARM_PASSES {
            BUFFER.set(buffer);
            return Ok(state);
        }
    }
}

/// Returns where to start reading: twice the size of the CPU caches before the end if every page is
/// known to be cached, else 0.
fn first_read_offset(state: Option<Residency>, len: u64, cpu_cache: u64) -> u64 {
    let all = state.is_some_and(|state| {
        state.method != ResidencyMethod::Sampled && state.cached >= state.pages
    });
    if all { len.saturating_sub(cpu_cache.saturating_mul(2)) } else { 0 }
}

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Checks whether [`drop_caches`] is possible here.
///
/// # Errors
/// The reason, worded to follow "this" or "--cold LEVEL".
pub fn check_drop_caches() -> Result<(), String> {
    access(DROP_CACHES, AccessFlags::W_OK).map_err(|errno| {
        format!(
            "needs write access to {DROP_CACHES}, as root has ({}): use sudo, or --cold data",
            errno.desc()
        )
    })
}

/// Drops the kernel's caches of all files, after sync(2), because dirty pages would stay. `what` is
/// the value written to drop_caches, see proc_sys_vm(5): 1 page cache, 2 directory entries and
/// inodes, 3 both.
///
/// # Errors
/// The errno of writing to drop_caches: EACCES or EROFS without permission.
pub fn drop_caches(what: u8) -> io::Result<()> {
    sync();
    std::fs::write(DROP_CACHES, format!("{what}\n"))
}

fn read_range(
    file: &File,
    part: Range<u64>,
    buffer: &mut [u8],
    stop: &dyn Fn() -> bool,
) -> io::Result<()> {
    let mut at = part.start;
    while at < part.end {
        if stop() {
            return Err(fd::stop_error());
        }
        let want = PIECE.min(part.end - at) as usize;
        match file.read_at(&mut buffer[..want], at) {
            Ok(0) => return Ok(()),
            Ok(n) => at += n as u64,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn write_back(file: &File) -> io::Result<()> {
    match fdatasync(file) {
        // There is nothing to write back: a read-only file system, or a special file.
        Ok(()) | Err(Errno::EROFS | Errno::EINVAL) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn drop_pages(file: &File, len: u64) -> io::Result<()> {
    let is_file = !file.metadata()?.file_type().is_block_device();
    let end = if is_file {
        0
    } else {
        len.checked_next_multiple_of(PIECE).and_then(|end| i64::try_from(end).ok()).unwrap_or(0)
    };
    Ok(posix_fadvise(file, 0, end, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?)
}

#[cfg(test)]
mod tests;
