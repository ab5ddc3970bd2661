//! Detects file systems that share blocks between files instead of copying them.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;

/// Length of the test, bytes: a multiple of every file system's block size.
const CLONE_LEN: u64 = 64 << 10;

/// `struct file_clone_range` of linux/fs.h.
#[repr(C)]
struct CloneRange {
    from: i64,
    offset: u64,
    len: u64,
    to: u64,
}

/// Returns whether the first blocks of `from` can be shared with `to` (FICLONERANGE), which is
/// empty before and after.
pub fn shares_blocks(from: &File, to: &File) -> bool {
    let size = from.metadata().map_or(0, |meta| meta.len());
    // 0 means the whole file: the end of a small file need not be aligned.
    let len = if size < CLONE_LEN { 0 } else { CLONE_LEN };
    let range = CloneRange { from: from.as_raw_fd().into(), offset: 0, len, to: 0 };
    // SAFETY: the kernel reads the struct, which lives until the call returns.
    let done = unsafe { libc::ioctl(to.as_raw_fd(), libc::FICLONERANGE as _, &raw const range) };
    // Undone in either case.
    let _ = to.set_len(0);
    done == 0 && size > 0
}
