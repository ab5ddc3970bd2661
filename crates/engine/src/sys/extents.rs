//! Which bytes of a file are stored: holes and preallocated extents read as zeros at memory speed.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;

use nix::errno::Errno;
use nix::unistd::{Whence, lseek};

use super::fd;
pub use crate::facts::ExtentMethod;

/// Returns the extents of the first `len` bytes of `file`, truncated at the end of the file. Writes
/// dirty pages back (FIEMAP_FLAG_SYNC).
///
/// # Errors
/// The errno of fstat(2), or of the ioctl if it failed for a reason other than missing support
/// (EIO: the device failed).
pub fn extents(file: &File, len: u64) -> io::Result<Extents> {
    let len = fd::clip(file, 0, len)?;
    if file.metadata()?.file_type().is_block_device() {
        return Ok(Extents::new(ExtentMethod::Assumed, len));
    }
    extents_by(file, len, ExtentMethod::Fiemap)
}

/// Tries `method` and the ones after it until one works.
fn extents_by(file: &File, len: u64, method: ExtentMethod) -> io::Result<Extents> {
    if method == ExtentMethod::Fiemap
        && let Some(found) = walk_fiemap(file, len)?
    {
        return Ok(found);
    }
    if method != ExtentMethod::Assumed
        && let Some(found) = walk_data(file, len)
    {
        return Ok(found);
    }
    Ok(Extents::new(ExtentMethod::Assumed, len))
}

/// Maximum number of holes (24 MiB of memory); a file with more is [`Extents::truncated`].
const MAX_HOLES: usize = 1 << 20;

/// Maximum number of places that are listed.
const MAX_PLACES: usize = 1 << 12;

/// The stored parts of `[0, len)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extents {
    pub method: ExtentMethod,
    /// Bytes examined.
    pub len: u64,
    /// Number of extents (or data ranges).
    pub count: u64,
    /// Bytes of extents that are allocated but were never written. 0 if the method cannot tell them
    /// from holes.
    pub unwritten: u64,
    /// Some extent is compressed or otherwise encoded: the device transfers a different number of
    /// bytes.
    pub encoded: bool,
    /// Some extent lies inside metadata, without its own block.
    pub inline: bool,
    /// Some extent is shared with another file (reflink, snapshot).
    pub shared: bool,
    /// The file is too fragmented to list: everything after the last hole counts as stored.
    pub truncated: bool,
    /// Places of the stored bytes on the device of the file system: the offset in the file, and the
    /// bytes on the device; `None` if an extent has no place, or there are too many.
    places: Option<Vec<(u64, Range<u64>)>>,
    /// Sorted, not empty, not adjacent.
    holes: Vec<Range<u64>>,
    /// Total bytes of the holes before the one with the same index.
    before: Vec<u64>,
}

impl Extents {
    fn new(method: ExtentMethod, len: u64) -> Self {
        Self {
            method,
            len,
            count: 0,
            unwritten: 0,
            encoded: false,
            inline: false,
            shared: false,
            truncated: false,
            places: None,
            holes: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Appends a hole that starts at or after the end of the last one; returns false if the list is
    /// full.
    fn add_hole(&mut self, hole: Range<u64>) -> bool {
        let hole = hole.start.min(self.len)..hole.end.min(self.len);
        if hole.is_empty() {
            return true;
        }
        if let Some(last) = self.holes.last_mut()
            && last.end >= hole.start
        {
            last.end = last.end.max(hole.end);
            return true;
        }
        if self.holes.len() == MAX_HOLES {
            self.truncated = true;
            return false;
        }
        self.before.push(self.hole_bytes());
        self.holes.push(hole);
        true
    }

    /// Adds the place of an extent, adjacent ones as one.
    fn add_place(&mut self, logical: u64, place: Range<u64>) {
        let Some(places) = &mut self.places else { return };
        let is_full = places.len() == MAX_PLACES;
        let continued = places.last_mut().filter(|(at, last)| {
            last.end == place.start && *at + (last.end - last.start) == logical
        });
        match continued {
            Some((_, last)) => last.end = place.end,
            None if is_full => self.places = None,
            None => places.push((logical, place)),
        }
    }

    /// Returns the places of the stored bytes of a part on the device of the file system, if known.
    pub fn places_of(&self, part: &Range<u64>) -> Option<Vec<Range<u64>>> {
        let within = |(logical, place): &(u64, Range<u64>)| {
            let end = logical.saturating_add(place.end - place.start);
            let (from, to) = (part.start.max(*logical), part.end.min(end));
            (from < to).then(|| place.start + (from - logical)..place.start + (to - logical))
        };
        Some(self.places.as_ref()?.iter().filter_map(within).collect())
    }

    /// Returns the extents of a part, as if it were a separate file.
    pub fn of_part(&self, part: Range<u64>) -> Extents {
        let len = self.len.min(part.end).saturating_sub(part.start);
        let mut own = Extents { count: self.count, ..Extents::new(self.method, len) };
        for hole in &self.holes {
            let at = |n: u64| n.max(part.start) - part.start;
            own.add_hole(at(hole.start)..at(hole.end));
        }
        own
    }

    /// Returns the byte ranges that are holes or were never written: sorted, merged, within `[0,
    /// len)`.
    #[cfg(test)]
    pub fn holes(&self) -> &[Range<u64>] {
        &self.holes
    }

    /// Returns the bytes in all holes.
    pub fn hole_bytes(&self) -> u64 {
        match (self.before.last(), self.holes.last()) {
            (Some(before), Some(last)) => before + (last.end - last.start),
            _ => 0,
        }
    }

    /// Returns the bytes of `range` that lie in holes, by binary search; bytes past `len` count as
    /// stored.
    pub fn hole_bytes_in(&self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            0
        } else {
            self.hole_bytes_below(range.end) - self.hole_bytes_below(range.start)
        }
    }

    fn hole_bytes_below(&self, at: u64) -> u64 {
        let next = self.holes.partition_point(|hole| hole.start < at);
        match next.checked_sub(1) {
            Some(i) => self.before[i] + (self.holes[i].end.min(at) - self.holes[i].start),
            None => 0,
        }
    }
}

/// _IOWR('f', 11, struct fiemap): the same number on x86-64 and aarch64.
const FS_IOC_FIEMAP: u32 = 0xc020_660b;
const FIEMAP_FLAG_SYNC: u32 = 1;
const LAST: u32 = 0x1;
const UNKNOWN: u32 = 0x2;
const DELALLOC: u32 = 0x4;
const ENCODED: u32 = 0x8;
const NOT_ALIGNED: u32 = 0x100;
const INLINE: u32 = 0x200;
const UNWRITTEN: u32 = 0x800;
const SHARED: u32 = 0x2000;

/// Extents per call: a result of 224 KiB, 3 ms.
const BATCH: usize = 4096;
/// Maximum number of extents examined, about 3 s of calls.
const MAX_EXTENTS: u64 = 1 << 22;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct FiemapRequest {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

/// Returns the holes of `[0, len)`; `None` if the file system does not support FIEMAP.
fn walk_fiemap(file: &File, len: u64) -> io::Result<Option<Extents>> {
    let mut walk = ExtentWalk { found: Extents::new(ExtentMethod::Fiemap, len), at: 0 };
    walk.found.places = Some(Vec::new());
    let mut request = Box::new(FiemapRequest {
        start: 0,
        length: 0,
        flags: 0,
        mapped: 0,
        room: 0,
        reserved: 0,
        extents: [Extent::default(); BATCH],
    });
    while walk.at < len {
        let start = walk.at;
        if !ask(file, &mut request, start, len - start)? {
            return Ok(None);
        }
        let got = (request.mapped as usize).min(BATCH);
        let end = request.extents[..got].iter().try_for_each(|extent| walk.take(extent));
        if end.is_break() {
            break;
        }
        // No extent is left, or the kernel made no progress.
        if got == 0 || walk.at <= start {
            walk.found.add_hole(walk.at..len);
            break;
        }
    }
    Ok(Some(walk.found))
}

struct ExtentWalk {
    found: Extents,
    /// Everything below this offset is examined.
    at: u64,
}

impl ExtentWalk {
    /// Adds one extent; breaks if it is the last.
    fn take(&mut self, extent: &Extent) -> ControlFlow<()> {
        let end = extent.logical.saturating_add(extent.length);
        let found = &mut self.found;
        if extent.logical >= found.len {
            found.add_hole(self.at..found.len);
            return ControlFlow::Break(());
        }
        let unwritten = extent.flags & UNWRITTEN != 0;
        let room = found.add_hole(self.at..extent.logical.max(self.at))
            && (!unwritten || found.add_hole(extent.logical.max(self.at)..end.max(self.at)));
        if !room || found.count == MAX_EXTENTS {
            (found.truncated, found.places) = (true, None);
            return ControlFlow::Break(());
        }
        found.count += 1;
        found.encoded |= extent.flags & ENCODED != 0;
        found.inline |= extent.flags & INLINE != 0;
        found.shared |= extent.flags & SHARED != 0;
        if extent.flags & (UNKNOWN | DELALLOC | ENCODED | NOT_ALIGNED | INLINE) != 0 {
            found.places = None;
        } else if !unwritten {
            let place = extent.physical..extent.physical.saturating_add(extent.length);
            found.add_place(extent.logical, place);
        }
        if unwritten {
            found.unwritten += end.min(found.len).saturating_sub(extent.logical.max(self.at));
        }
        self.at = self.at.max(end);
        if extent.flags & LAST != 0 {
            found.add_hole(self.at..found.len);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// Makes one call; returns false if it is not supported.
fn ask(file: &File, request: &mut FiemapRequest, start: u64, length: u64) -> io::Result<bool> {
    (request.start, request.length) = (start, length);
    (request.flags, request.mapped, request.room) = (FIEMAP_FLAG_SYNC, 0, BATCH as u32);
    // SAFETY: a struct fiemap followed by the number of extents in `room`, alive during the call.
    let done = unsafe {
        libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as libc::Ioctl, std::ptr::from_mut(request))
    };
    if done == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // EBADR: a flag is not supported. EPERM, EACCES: a security policy.
        Some(
            libc::EOPNOTSUPP
            | libc::ENOTTY
            | libc::EINVAL
            | libc::ENOSYS
            | libc::EBADR
            | libc::EPERM
            | libc::EACCES,
        ) => Ok(false),
        Some(libc::EINTR) => ask(file, request, start, length),
        _ => Err(error),
    }
}

/// Returns the holes of `[0, len)`; `None` if the file system does not support it.
fn walk_data(file: &File, len: u64) -> Option<Extents> {
    // Its own description, because seeking would move the caller's position.
    let reopened = fd::reopen(file).ok()?;
    let mut extents = Extents::new(ExtentMethod::SeekData, len);
    let mut at = 0;
    while at < len {
        let data = match lseek(&reopened, i64::try_from(at).ok()?, Whence::SeekData) {
            Ok(data) => u64::try_from(data).ok()?,
            Err(Errno::ENXIO) => len,
            Err(_) => return None,
        };
        if !extents.add_hole(at..data) || data >= len {
            break;
        }
        extents.count += 1;
        let hole = match lseek(&reopened, i64::try_from(data).ok()?, Whence::SeekHole) {
            Ok(hole) => u64::try_from(hole).ok()?,
            Err(Errno::ENXIO) => len,
            Err(_) => return None,
        };
        if hole <= data {
            return None; // no progress: the answers make no sense
        }
        at = hole;
    }
    Some(extents)
}

#[cfg(test)]
mod tests;
