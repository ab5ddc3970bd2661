//! The less common system calls of lanes, inlined for the same reason as in [`raw`](super::raw).
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;

use super::raw::call6;

/// Reads only cached data: EAGAIN if it would wait for a device (Linux 4.14).
pub const RWF_NOWAIT: u32 = libc::RWF_NOWAIT as u32;
/// Waits until the data of the write is durable (Linux 4.7).
pub const RWF_DSYNC: u32 = libc::RWF_DSYNC as u32;
/// Leaves nothing in the page cache that was not already there (Linux 6.14).
pub const RWF_DONTCACHE: u32 = 0x80;

/// Reads into `count` vectors, or writes from them; returns the bytes, or -errno.
/// # Safety
/// Each vector of `parts` must be writable, or readable for a write, for its length.
#[inline(always)]
pub unsafe fn vectored<const WRITE: bool, const FILL: bool>(
    fd: RawFd,
    parts: *const libc::iovec,
    count: usize,
    offset: u64,
) -> isize {
    let number = if WRITE { libc::SYS_pwritev } else { libc::SYS_preadv };
    // SAFETY: the call touches the vectors only. On 64 bit the whole position is in its low part.
    unsafe { call6::<FILL>(number, [fd as usize, parts as usize, count, offset as usize, 0, 0]) }
}

/// Reads into one block, or writes from it, with RWF_* `flags`; returns the bytes, or -errno.
/// # Safety
/// `at` must be writable, or readable for a write, for `len` bytes.
#[inline(always)]
pub unsafe fn flagged<const WRITE: bool, const FILL: bool>(
    fd: RawFd,
    at: *mut u8,
    len: usize,
    offset: u64,
    flags: u32,
) -> isize {
    let number = if WRITE { libc::SYS_pwritev2 } else { libc::SYS_preadv2 };
    let part = libc::iovec { iov_base: at.cast(), iov_len: len };
    // SAFETY: one vector, valid by the caller's contract and alive until the call returns.
    unsafe {
        call6::<FILL>(
            number,
            [fd as usize, &raw const part as usize, 1, offset as usize, 0, flags as usize],
        )
    }
}

/// Returns the address of a new shared, read-only mapping of a file, or -errno.
#[inline(always)]
pub fn map<const FILL: bool>(fd: RawFd, len: usize, offset: u64) -> isize {
    let (protection, flags) = (libc::PROT_READ as usize, libc::MAP_SHARED as usize);
    // SAFETY: the kernel chooses the address, so no existing memory is replaced.
    unsafe {
        call6::<FILL>(libc::SYS_mmap, [0, len, protection, flags, fd as usize, offset as usize])
    }
}

/// Unmaps the range; returns 0 or -errno.
/// # Safety
/// The range must be a mapping that nothing points into any more.
#[inline(always)]
pub unsafe fn unmap<const FILL: bool>(at: usize, len: usize) -> isize {
    // SAFETY: by the caller's contract the range is a mapping that nothing points into any more.
    unsafe { call6::<FILL>(libc::SYS_munmap, [at, len, 0, 0, 0, 0]) }
}

/// Returns the id of this process.
#[inline(always)]
pub fn getpid<const FILL: bool>() -> isize {
    // SAFETY: getpid(2) takes no argument and touches no memory.
    unsafe { call6::<FILL>(libc::SYS_getpid, [0; 6]) }
}

/// Returns the id of the parent process; 0 if it is outside this pid namespace.
#[inline(always)]
pub fn getppid<const FILL: bool>() -> isize {
    // SAFETY: getppid(2) takes no argument and touches no memory.
    unsafe { call6::<FILL>(libc::SYS_getppid, [0; 6]) }
}

/// Writes the attributes of the file to `to`; returns 0 or -errno.
#[inline(always)]
pub fn stat<const FILL: bool>(path: &CStr, to: &mut MaybeUninit<libc::stat>) -> isize {
    let (path, to) = (path.as_ptr() as usize, to.as_mut_ptr() as usize);
    // SAFETY: `path` ends with a zero, and the kernel writes one stat to `to`.
    unsafe { call6::<FILL>(libc::SYS_newfstatat, [libc::AT_FDCWD as usize, path, to, 0, 0, 0]) }
}

/// Returns a new descriptor, or -errno.
#[inline(always)]
pub fn open<const FILL: bool>(path: &CStr, flags: i32) -> isize {
    // SAFETY: `path` ends with a zero and outlives the call.
    unsafe {
        call6::<FILL>(
            libc::SYS_openat,
            [libc::AT_FDCWD as usize, path.as_ptr() as usize, flags as usize, 0, 0, 0],
        )
    }
}

/// Closes a descriptor that nothing else uses.
#[inline(always)]
pub fn close<const FILL: bool>(fd: RawFd) -> isize {
    // SAFETY: close(2) touches no memory; by the caller's contract nothing else uses the
    // descriptor.
    unsafe { call6::<FILL>(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]) }
}

/// Returns the bytes moved from a file at `offset` into a pipe, or -errno.
#[inline(always)]
pub fn splice_in<const FILL: bool>(file: RawFd, offset: u64, pipe: RawFd, len: usize) -> isize {
    let mut at = offset as libc::loff_t;
    // SAFETY: `at` outlives the call; no other memory is touched.
    unsafe {
        call6::<FILL>(
            libc::SYS_splice,
            [file as usize, &raw mut at as usize, pipe as usize, 0, len, 0],
        )
    }
}

/// Returns the bytes moved from a pipe to the file position of `to`, or -errno.
#[inline(always)]
pub fn splice_out<const FILL: bool>(pipe: RawFd, to: RawFd, len: usize) -> isize {
    // SAFETY: no positions are passed and no memory is touched.
    unsafe { call6::<FILL>(libc::SYS_splice, [pipe as usize, 0, to as usize, 0, len, 0]) }
}

/// Returns the bytes sent from a file at `offset`, or -errno.
#[inline(always)]
pub fn sendfile<const FILL: bool>(to: RawFd, file: RawFd, offset: u64, len: usize) -> isize {
    let mut at = offset as libc::off64_t;
    // SAFETY: `at` outlives the call; no other memory is touched.
    unsafe {
        call6::<FILL>(
            libc::SYS_sendfile,
            [to as usize, file as usize, &raw mut at as usize, len, 0, 0],
        )
    }
}

/// Returns the bytes copied between two files at the same offset, or -errno.
#[inline(always)]
pub fn copy_range<const FILL: bool>(from: RawFd, to: RawFd, offset: u64, len: usize) -> isize {
    let (mut at, mut there) = (offset as libc::loff_t, offset as libc::loff_t);
    let (at, there) = (&raw mut at as usize, &raw mut there as usize);
    // SAFETY: both positions outlive the call; no other memory is touched.
    unsafe {
        call6::<FILL>(libc::SYS_copy_file_range, [from as usize, at, to as usize, there, len, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    fn both<const FILL: bool>() {
        let (mut file, other) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        file.write_all(b"0123456789").unwrap();
        let (fd, mut buffer) = (file.as_raw_fd(), [0u8; 6]);
        let half = |at: usize, base: *mut u8| libc::iovec {
            iov_base: base.wrapping_add(at).cast(),
            iov_len: 3,
        };
        let parts = [half(3, buffer.as_mut_ptr()), half(0, buffer.as_mut_ptr())];
        // SAFETY: buffers and vectors are as long as the lengths passed; the mapping is read before
        // it is unmapped.
        unsafe {
            assert_eq!(vectored::<false, FILL>(fd, parts.as_ptr(), 2, 1), 6);
            assert_eq!(&buffer, b"456123");
            assert_eq!(vectored::<true, FILL>(other.as_raw_fd(), parts.as_ptr(), 2, 2), 6);
            assert_eq!(flagged::<false, FILL>(other.as_raw_fd(), buffer.as_mut_ptr(), 6, 0, 0), 6);
            assert_eq!(&buffer, b"\0\x001234");
            assert_eq!(flagged::<true, FILL>(fd, b"ab".as_ptr().cast_mut(), 2, 8, 0), 2);
            let at = map::<FILL>(fd, 4096, 0);
            assert_eq!(std::slice::from_raw_parts(at as *const u8, 10), b"01234567ab");
            assert_eq!(unmap::<FILL>(at as usize, 4096), 0);
            assert_eq!(map::<FILL>(-1, 4096, 0), -(libc::EBADF as isize));
        }
        assert_eq!(getpid::<FILL>(), std::process::id() as isize);
        let mut found = MaybeUninit::uninit();
        assert_eq!(stat::<FILL>(c"/", &mut found), 0);
        assert_eq!(stat::<FILL>(c"/no such file", &mut found), -(libc::ENOENT as isize));
        let null = open::<FILL>(c"/dev/null", libc::O_RDONLY | libc::O_CLOEXEC) as RawFd;
        assert_eq!(
            (null > 2, close::<FILL>(null), close::<FILL>(-1)),
            (true, 0, -(libc::EBADF as isize))
        );
        let (from, to) = nix::unistd::pipe().unwrap();
        assert_eq!(splice_in::<FILL>(fd, 4, to.as_raw_fd(), 100), 6);
        assert_eq!(splice_out::<FILL>(from.as_raw_fd(), other.as_raw_fd(), 100), 6);
        assert_eq!(sendfile::<FILL>(to.as_raw_fd(), fd, 9, 100), 1);
        assert_eq!(copy_range::<FILL>(fd, other.as_raw_fd(), 7, 100), 3);
    }

    #[test]
    fn calls_do_what_manuals_say() {
        both::<false>();
        if crate::sys::raw::fill() {
            both::<true>();
        }
    }
}
