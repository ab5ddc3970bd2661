//! Space of a file that is not written: allocated, or shared with another file.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};

/// Allocates `bytes` from the start of an empty file, which has that size then. File systems mark
/// the space as unwritten: it reads as zeros, and the first write of each block changes metadata.
///
/// # Errors
/// The errno of fallocate(2): EOPNOTSUPP, ENOSPC, EFBIG ...
pub fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    call(file, FallocateFlags::empty(), bytes)
}

/// Checks whether the file system can allocate space, without changing the size of `file`: its
/// first block is allocated.
///
/// # Errors
/// The errno of fallocate(2).
pub fn check_allocation(file: &File) -> io::Result<()> {
    call(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, 1)
}

fn call(file: &File, flags: FallocateFlags, bytes: u64) -> io::Result<()> {
    let bytes = i64::try_from(bytes).map_err(|_| io::Error::from(Errno::EFBIG))?;
    loop {
        match fallocate(file, flags, 0, bytes) {
            Err(Errno::EINTR) => {}
            done => return Ok(done?),
        }
    }
}

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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::sys::testing::skip;

    #[test]
    fn a_check_leaves_the_size() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        if let Err(error) = check_allocation(&file) {
            return skip(&format!("fallocate(2) here: {error}"));
        }
        assert_eq!(file.metadata().unwrap().size(), 0);
        allocate(&file, 1 << 20).unwrap();
        let meta = file.metadata().unwrap();
        assert_eq!(meta.size(), 1 << 20);
        assert!(meta.blocks() * 512 >= 1 << 20, "{} blocks", meta.blocks());
        assert_eq!(allocate(&file, u64::MAX).unwrap_err().raw_os_error(), Some(libc::EFBIG));
    }
}
