//! Allocates space for a file without writing it.

use std::fs::File;
use std::io;

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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::sys::testing::skip;

    #[test]
    fn it_allocates_and_a_check_leaves_the_size() {
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
