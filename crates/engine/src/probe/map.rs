//! Memory mappings of probes, with control over their pages.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr;

use nix::sys::memfd::{MFdFlags, memfd_create};

use super::ProbeError;
use crate::sys::fd::page_size;

/// Returns the page size in bytes.
pub(super) fn page() -> usize {
    page_size() as usize
}

/// A mapping; unmapped when dropped.
#[derive(Debug)]
pub(super) struct Map {
    start: usize,
    len: usize,
}

/// Size of a huge page, and the alignment of anonymous mappings.
pub(super) const HUGE: usize = 2 << 20;

impl Map {
    /// Maps untouched anonymous memory, aligned to 2 MiB: with huge pages if `huge` and if the
    /// kernel allows them, else always without.
    pub fn anonymous(len: usize, huge: bool) -> Result<Map, ProbeError> {
        let whole = Map::new(
            len + HUGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            None,
        )?;
        let map = whole.aligned(len);
        map.advise(if huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE });
        Ok(map)
    }

    /// Maps `file` from its start; writes to a private mapping do not reach the file.
    pub fn file(file: &File, len: usize, private: bool) -> Result<Map, ProbeError> {
        let flags = if private { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
        let write = if private { libc::PROT_WRITE } else { 0 };
        Map::new(len, libc::PROT_READ | write, flags, Some((file, 0)))
    }

    /// Maps the pages of `file` in reverse order: neighbours in memory are not neighbours in the
    /// file, so each page is a separate mapping.
    pub fn scattered(file: &File, len: usize) -> Result<Map, ProbeError> {
        let (map, page) = (
            Map::new(
                len,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                None,
            )?,
            page(),
        );
        for (at, offset) in (0..len).step_by(page).zip((0..len).step_by(page).rev()) {
            let there = (map.start + at) as *mut libc::c_void;
            // SAFETY: replaces a page of the mapping created above, into which nothing points.
            let made = unsafe {
                libc::mmap(
                    there,
                    page,
                    libc::PROT_READ,
                    libc::MAP_SHARED | libc::MAP_FIXED,
                    file.as_raw_fd(),
                    offset as libc::off_t,
                )
            };
            if made == libc::MAP_FAILED {
                return Err(ProbeError::last_os_error("mmap"));
            }
        }
        Ok(map)
    }

    fn new(
        len: usize,
        protection: i32,
        flags: i32,
        file: Option<(&File, i64)>,
    ) -> Result<Map, ProbeError> {
        let (fd, offset) = file.map_or((-1, 0), |(file, offset)| (file.as_raw_fd(), offset));
        // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
        let base = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, fd, offset) };
        if base == libc::MAP_FAILED {
            Err(ProbeError::last_os_error("mmap"))
        } else {
            Ok(Map { start: base as usize, len })
        }
    }

    /// Keeps `len` bytes that start on a huge-page boundary and unmaps the rest.
    fn aligned(self, len: usize) -> Map {
        let (start, end) = (self.start.next_multiple_of(HUGE), self.start + self.len);
        unmap(self.start, start - self.start);
        unmap(
            start + len.next_multiple_of(page()),
            end.saturating_sub(start + len.next_multiple_of(page())),
        );
        std::mem::forget(self);
        Map { start, len: len.next_multiple_of(page()) }
    }

    /// Passes `advice` to madvise(2). A refusal is ignored: it changes what is measured, which the
    /// counters show.
    pub fn advise(&self, advice: i32) {
        // SAFETY: the range is this mapping; no caller passes advice that drops contents still in
        // use.
        unsafe { libc::madvise(self.start as *mut libc::c_void, self.len, advice) };
    }

    /// Sets the protection of the first `len` bytes; returns whether that succeeded.
    pub fn protect(&self, len: usize, write: bool) -> bool {
        let protection = libc::PROT_READ | if write { libc::PROT_WRITE } else { 0 };
        // SAFETY: the range is within this mapping, and nothing writes to it while it is read-only.
        unsafe {
            libc::mprotect(self.start as *mut libc::c_void, len.min(self.len), protection) == 0
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the address of the byte at `offset` modulo the length of the mapping.
    pub fn address(&self, offset: usize) -> *mut u8 {
        // Divides only where it must: a 64-bit DIV would add 14 to 90 cycles to a timed load or
        // fault.
        let offset = if offset < self.len { offset } else { offset % self.len };
        (self.start + offset) as *mut u8
    }

    /// Loads the byte at `offset`.
    #[inline(always)]
    pub fn load(&self, offset: usize) -> u8 {
        // SAFETY: the address is within the mapping, which is readable.
        unsafe { ptr::read_volatile(self.address(offset)) }
    }

    /// Stores a byte at `offset`; the mapping must be writable.
    #[inline(always)]
    pub fn store(&self, offset: usize, byte: u8) {
        // SAFETY: the address is within the mapping, and callers store only to writable mappings.
        unsafe { ptr::write_volatile(self.address(offset), byte) }
    }

    /// Stores to every page, so that all of them are backed by memory.
    pub fn touch(&self) {
        (0..self.len).step_by(page()).for_each(|at| self.store(at, 1));
    }
}

fn unmap(start: usize, len: usize) {
    if len > 0 {
        // SAFETY: the range belongs to a mapping of this module, into which nothing points any
        // more.
        unsafe { libc::munmap(start as *mut libc::c_void, len) };
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        unmap(self.start, self.len);
    }
}

/// Creates an in-memory file of `len` bytes.
pub(super) fn cached_file(len: usize) -> Result<File, ProbeError> {
    let file = memfd_create(c"iotui", MFdFlags::MFD_CLOEXEC)
        .map(File::from)
        .map_err(ProbeError::in_call("memfd_create"))?;
    let block = vec![0x5a; 1 << 20];
    for at in (0..len).step_by(block.len()) {
        let part = block.len().min(len - at);
        std::os::unix::fs::FileExt::write_all_at(&file, &block[..part], at as u64)
            .map_err(ProbeError::in_call("write"))?;
    }
    Ok(file)
}
