//! Holes and unwritten extents by the FIEMAP ioctl (linux/fiemap.h).
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsRawFd;

use super::extent_list::Extents;
use crate::facts::ExtentMethod;

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
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

/// Returns the holes of `[0, len)`; `None` if the file system does not support FIEMAP.
pub(super) fn walk(file: &File, len: u64) -> io::Result<Option<Extents>> {
    let mut walk = Walk { found: Extents::new(ExtentMethod::Fiemap, len), at: 0 };
    walk.found.places = Some(Vec::new());
    let mut request = Box::new(Request {
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
        // None left, or no progress although there should be some.
        if got == 0 || walk.at <= start {
            walk.found.add_hole(walk.at..len);
            break;
        }
    }
    Ok(Some(walk.found))
}

struct Walk {
    found: Extents,
    /// Everything below this offset is examined.
    at: u64,
}

impl Walk {
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
fn ask(file: &File, request: &mut Request, start: u64, length: u64) -> io::Result<bool> {
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

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // a list of one range is intended
mod tests {
    use super::*;

    fn walked(len: u64, extents: &[(u64, u64, u32)]) -> (Extents, bool) {
        let mut walk = Walk { found: Extents::new(ExtentMethod::Fiemap, len), at: 0 };
        let ended = extents.iter().try_for_each(|(logical, length, flags)| {
            walk.take(&Extent {
                logical: *logical,
                length: *length,
                flags: *flags,
                ..Extent::default()
            })
        });
        (walk.found, ended.is_break())
    }

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(size_of::<Extent>(), 56);
        assert_eq!(std::mem::offset_of!(Request, extents), 32);
    }

    #[test]
    fn gaps_and_unwritten_extents_are_holes() {
        let (found, ended) = walked(
            100,
            &[(10, 10, 0), (20, 20, UNWRITTEN), (50, 10, SHARED | ENCODED), (70, 10, LAST)],
        );
        assert!(ended && found.shared && found.encoded && !found.inline);
        assert_eq!(found.holes(), [0..10, 20..50, 60..70, 80..100]);
        assert_eq!((found.count, found.unwritten, found.hole_bytes()), (4, 20, 70));
    }

    #[test]
    fn odd_answers_do_no_harm() {
        let (found, _) = walked(100, &[(u64::MAX, u64::MAX, 0)]);
        assert_eq!(found.holes(), [0..100]);
        let (found, _) = walked(100, &[(0, u64::MAX, UNWRITTEN), (5, 5, UNWRITTEN | LAST)]);
        assert_eq!((found.holes(), found.unwritten), (&[0..100][..], 100));
        let (found, _) = walked(100, &[(50, 10, 0), (0, 10, UNWRITTEN), (40, 30, UNWRITTEN)]);
        assert_eq!(found.holes(), [0..50, 60..70]);
        assert_eq!(walked(0, &[(0, 1, LAST)]).0.holes(), []);
    }
}
