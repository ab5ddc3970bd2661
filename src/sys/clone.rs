//! Whether a file system shares blocks between files instead of copying them.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;

/// Bytes tried: a multiple of every block size of file systems.
const TRIED: u64 = 64 << 10;

/// As `struct file_clone_range` of linux/fs.h.
#[repr(C)]
struct CloneRange {
    from: i64,
    offset: u64,
    len: u64,
    to: u64,
}

/// Tries to share the first blocks of `from` with `to` (FICLONERANGE), which is empty and is empty
/// again afterwards.
pub fn clones(from: &File, to: &File) -> bool {
    let size = from.metadata().map_or(0, |meta| meta.len());
    // 0 is all of it: the end of a small file need not be that of a block.
    let len = if size < TRIED { 0 } else { TRIED };
    let range = CloneRange { from: from.as_raw_fd().into(), offset: 0, len, to: 0 };
    // SAFETY: the kernel reads the struct, which lives until the call returns.
    let done = unsafe { libc::ioctl(to.as_raw_fd(), libc::FICLONERANGE as _, &raw const range) };
    // Undone, whatever came of it.
    let _ = to.set_len(0);
    done == 0 && size > 0
}
