//! Finds holes by SEEK_DATA and SEEK_HOLE, if FIEMAP is refused (tmpfs, NFS, FUSE).

use std::fs::File;

use nix::errno::Errno;
use nix::unistd::{Whence, lseek};

use super::extent_list::Extents;
use super::fd;
use crate::facts::ExtentMethod;

/// Returns the holes of `[0, len)`; `None` if the file system does not support it.
pub(super) fn walk(file: &File, len: u64) -> Option<Extents> {
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
