//! Page-aligned memory for I/O, on huge pages if it is large, and touched before it is used.
#![allow(unsafe_code)]

use std::hint::black_box;
use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, copy_nonoverlapping};

use super::usage::Usage;
use crate::stats::random;

/// Anonymous memory that is already populated, so that none of its page faults falls into a timed
/// window.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    len: usize,
    /// Length of the mapping: more than `len` where a huge page is larger than the buffer.
    mapped: usize,
    /// It is on huge pages: these were requested, and it took few page faults to touch it.
    pub huge: bool,
}

// SAFETY: this value is the only owner of the memory; users of raw pointers into it synchronise
// their own accesses.
unsafe impl Send for Buffer {}

const HUGE: usize = 2 << 20;
/// Smallest buffer for direct I/O on a huge page.
const MIN_DIRECT_HUGE: usize = 64 << 10;
/// Pages of 4 KiB that a page fault maps at least, on average, where memory comes in huge pages:
/// 512, or 16 of the smallest buffer, less for a fault or two of something else.
const MIN_PAGES: usize = 4;

/// Allocates zeros; returns an error where `vec!` would abort the process.
///
/// # Errors
/// `OutOfMemory`.
pub fn zeroed(len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| io::Error::from_raw_os_error(libc::ENOMEM))?;
    bytes.resize(len, 0);
    Ok(bytes)
}

impl Buffer {
    /// Allocates at least `len` bytes; from 2 MiB on, on huge pages.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(len: usize) -> io::Result<Buffer> {
        Self::allocate(len, HUGE)
    }

    /// Allocates at least `len` bytes for direct I/O; from 64 KiB on, on huge pages: a device
    /// transfers to one piece of memory up to 3 times as fast as to many pages.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn for_direct(len: usize) -> io::Result<Buffer> {
        Self::allocate(len, MIN_DIRECT_HUGE)
    }

    /// Allocates at least `len` bytes. From `min_huge` on they are aligned to 2 MiB and advised to
    /// use huge pages.
    fn allocate(len: usize, min_huge: usize) -> io::Result<Buffer> {
        let rounded =
            |to| len.max(1).checked_next_multiple_of(to).ok_or(io::ErrorKind::OutOfMemory);
        let len = rounded(4096)?;
        let large = len >= min_huge;
        let mapped = if large { rounded(HUGE)? } else { len };
        // Extra space for alignment; the unused ends are unmapped immediately.
        let room =
            if large { mapped.checked_add(HUGE).ok_or(io::ErrorKind::OutOfMemory)? } else { len };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), room, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = base as usize;
        let start = if large { base.next_multiple_of(HUGE) } else { base };
        trim(base, start);
        trim(start + mapped, base + room);
        // SAFETY: the range was just mapped; advice changes no contents.
        let advised = large
            && unsafe { libc::madvise(start as *mut libc::c_void, mapped, libc::MADV_HUGEPAGE) }
                == 0;
        let start = NonNull::new(start as *mut u8).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut buffer = Buffer { start, len, mapped, huge: false };
        let faults = buffer.touch();
        // The advice is accepted where the system never makes huge pages, too.
        buffer.huge = advised && faults.is_some_and(|faults| faults <= len / 4096 / MIN_PAGES);
        Ok(buffer)
    }

    /// Allocates a buffer of incompressible bytes, for writes.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn random(len: usize, seed: u64) -> io::Result<Buffer> {
        Ok(Buffer::new(len)?.filled(seed))
    }

    /// Fills the buffer with incompressible bytes.
    pub fn filled(self, seed: u64) -> Buffer {
        let mut buffer = self;
        random::fill(seed, 0, buffer.bytes_mut());
        buffer
    }

    /// Returns the number of page faults that it took; `None` if that is unknown.
    fn touch(&self) -> Option<usize> {
        let before = Usage::thread().ok();
        for at in (0..self.len).step_by(4096) {
            // SAFETY: within the mapping.
            unsafe { self.address(at).write_volatile(0) };
        }
        let used = Usage::thread().ok()? - before?;
        usize::try_from(used.minor_faults).ok()
    }

    #[inline(always)]
    pub fn ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Returns the address at `offset`, which must not be past the end.
    #[inline(always)]
    pub fn address(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset <= self.len);
        self.start.as_ptr().wrapping_add(offset)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns all bytes, to fill them before anything else uses the memory.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes from its start are mapped and initialised, and the buffer is borrowed
        // exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.ptr(), self.len) }
    }

    /// Returns whether direct I/O with it gains from huge pages.
    pub fn should_be_huge(&self) -> bool {
        self.len >= MIN_DIRECT_HUGE
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns a copy of the first `len` bytes, or of all if there are fewer.
    pub fn to_vec(&self, len: usize) -> Vec<u8> {
        // SAFETY: within the mapping; nothing writes during the copy.
        unsafe { std::slice::from_raw_parts(self.ptr(), len.min(self.len)) }.to_vec()
    }
}

/// A page-aligned slice. malloc returns addresses 16 bytes past a page, where on some CPUs the
/// kernel copies at half the speed.
#[derive(Debug)]
pub struct Aligned {
    buffer: Buffer,
    len: usize,
}

impl Aligned {
    /// Allocates `len` bytes, all set to `value`.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn filled(len: usize, value: u8) -> io::Result<Aligned> {
        let mut made = Aligned { buffer: Buffer::new(len)?, len };
        made.fill(value);
        Ok(made)
    }
}

impl Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` bytes from its start are mapped and initialised, and no other pointer
        // into the buffer exists.
        unsafe { std::slice::from_raw_parts(self.buffer.ptr(), self.len) }
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes from its start are mapped and initialised, and `self` is borrowed
        // exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.ptr(), self.len) }
    }
}

fn trim(from: usize, to: usize) {
    if to > from {
        // SAFETY: the range is an unused end of a new mapping that nothing points into.
        unsafe { libc::munmap(from as *mut libc::c_void, to - from) };
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: start and mapped are the mapping that remains after trimming.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.mapped) };
    }
}

/// Copies all of `from` into `window`, piece by piece to the same place, like reads into one
/// buffer. Uses the CPU's string instruction if `string`, as kernels do on x86-64, else the C
/// library's memcpy.
pub fn copy(from: &Buffer, window: &Buffer, string: bool) {
    for at in (0..from.len()).step_by(window.len()) {
        let len = window.len().min(from.len() - at);
        // SAFETY: at + len <= from.len(), len <= window.len(), and the two are separate mappings.
        unsafe {
            if string {
                copy_string(from.address(at), window.ptr(), len)
            } else {
                copy_nonoverlapping(from.address(at), window.ptr(), len)
            }
        };
        black_box(window.ptr());
    }
}

/// # Safety
/// Same as [`copy_nonoverlapping`].
#[cfg(target_arch = "x86_64")]
unsafe fn copy_string(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the direction flag is clear by the calling convention; the caller guarantees that
    // both ranges are valid and do not overlap.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") len => _, inout("rsi") from => _, inout("rdi") to => _,
            options(nostack, preserves_flags)
        )
    };
}

/// # Safety
/// Same as [`copy_nonoverlapping`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_string(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller guarantees that both ranges are valid and do not overlap.
    unsafe { copy_nonoverlapping(from, to, len) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing;

    #[test]
    fn buffers_are_aligned_and_writable() {
        for len in [1, 4096, 4097, HUGE, HUGE + 1, 5 * HUGE] {
            let buffer = Buffer::random(len, 1).unwrap();
            assert!(
                buffer.len() >= len
                    && (buffer.ptr() as usize).is_multiple_of(if len >= HUGE {
                        HUGE
                    } else {
                        4096
                    })
            );
            // SAFETY: within the buffer.
            unsafe { buffer.address(len - 1).write(7) };
        }
        assert!(Buffer::new(usize::MAX).is_err() && Buffer::new(1 << 60).is_err());
    }

    #[test]
    fn large_direct_buffers_use_huge_pages() {
        for len in [1, 4096, 64 << 10, 1 << 20, HUGE - 1, HUGE + 1] {
            let buffer = Buffer::for_direct(len).unwrap().filled(1);
            assert!(buffer.len() >= len && buffer.len() < len + 4096);
            assert!(len < 64 << 10 || (buffer.ptr() as usize).is_multiple_of(HUGE), "{len}");
            // SAFETY: within the buffer.
            unsafe { buffer.address(len - 1).write(7) };
        }
        assert!(Buffer::for_direct(usize::MAX).is_err() && Buffer::for_direct(1 << 60).is_err());
    }

    /// Runs in its own process, which then has no huge pages.
    #[test]
    fn refused_huge_pages_are_noticed() {
        const NAME: &str = "sys::buffer::tests::refused_huge_pages_are_noticed";
        if !testing::is_alone(NAME, "small pages") {
            return;
        }
        // SAFETY: takes numbers only.
        assert_eq!(unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) }, 0);
        for len in [64 << 10, 1 << 20, 8 << 20] {
            assert!(!Buffer::for_direct(len).unwrap().huge, "{len}");
        }
        // SAFETY: as above.
        assert_eq!(unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 0, 0, 0, 0) }, 0);
        let offered =
            |path| std::fs::read_to_string(path).is_ok_and(|text| !text.contains("[never]"));
        if offered("/sys/kernel/mm/transparent_hugepage/enabled")
            && offered("/sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled")
        {
            // Some of ten are, unless memory is fragmented all over.
            let huge = (0..10).filter(|_| Buffer::for_direct(64 << 10).unwrap().huge);
            assert!(huge.count() > 0);
        }
    }

    #[test]
    fn a_slice_begins_at_a_page() {
        for len in [0, 1, 4097, 64 << 10] {
            let bytes = Aligned::filled(len, 0x5a).unwrap();
            assert!(
                bytes.len() == len
                    && bytes.iter().all(|byte| *byte == 0x5a)
                    && bytes.as_ptr().addr().is_multiple_of(4096)
            );
        }
        assert!(Aligned::filled(usize::MAX, 0).is_err());
    }

    #[test]
    fn the_last_piece_ends_the_window() {
        for string in [false, true] {
            let (from, window) =
                (Buffer::random(5 * 4096, 3).unwrap(), Buffer::new(2 * 4096).unwrap());
            copy(&from, &window, string);
            let all = from.to_vec(5 * 4096);
            // 8192 + 8192 + 4096: the second half still holds data of the previous piece.
            assert_eq!(window.to_vec(4096), all[16384..]);
            assert_eq!(window.to_vec(8192)[4096..], all[12288..16384]);
        }
    }
}
