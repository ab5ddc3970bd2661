//! Memory of a probe's own, whose pages it decides about.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr;

use nix::sys::memfd::{MFdFlags, memfd_create};

use super::ProbeError;

/// Bytes of a page; 4 KiB where the kernel does not say.
pub(super) fn page() -> usize {
    let size = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    size.and_then(|size| usize::try_from(size).ok())
        .filter(|size| size.is_power_of_two())
        .unwrap_or(4096)
}

/// A mapping; unmapped when dropped.
#[derive(Debug)]
pub(super) struct Map {
    start: usize,
    len: usize,
}

/// How much of its alignment a mapping wants: that of a huge page.
pub(super) const HUGE: usize = 2 << 20;

impl Map {
    /// Anonymous memory that nothing has touched, aligned to 2 MiB; with huge pages where that is
    /// wanted and allowed, and else surely without.
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

    /// `file` from its start; private: what is written is this mapping's own.
    pub fn file(file: &File, len: usize, private: bool) -> Result<Map, ProbeError> {
        let flags = if private { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
        let write = if private { libc::PROT_WRITE } else { 0 };
        Map::new(len, libc::PROT_READ | write, flags, Some((file, 0)))
    }

    /// The last page of `file` first: neighbours in memory are none in the file, so each page is a
    /// mapping of its own.
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
            // SAFETY: replaces a page of a mapping that is ours and that nothing points into.
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
                return Err(ProbeError::last("mmap"));
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
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, fd, offset) };
        if base == libc::MAP_FAILED {
            Err(ProbeError::last("mmap"))
        } else {
            Ok(Map { start: base as usize, len })
        }
    }

    /// The first `len` bytes on a boundary of huge pages; the rest is given back.
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

    /// Advice that is refused changes what is measured, and the counters tell.
    pub fn advise(&self, advice: i32) {
        // SAFETY: the range is ours; MADV_DONTNEED, which drops contents, is only asked for where
        // nothing is kept.
        unsafe { libc::madvise(self.start as *mut libc::c_void, self.len, advice) };
    }

    /// Whether the protection was set.
    pub fn protect(&self, len: usize, write: bool) -> bool {
        let protection = libc::PROT_READ | if write { libc::PROT_WRITE } else { 0 };
        // SAFETY: the range is ours, and nobody writes through it while it is read-only.
        unsafe {
            libc::mprotect(self.start as *mut libc::c_void, len.min(self.len), protection) == 0
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The address of a byte, wrapped into the mapping.
    pub fn at(&self, offset: usize) -> *mut u8 {
        // Divided only where it must be: that would be 14 to 90 cycles (DIV of 64 bits) of a load
        // or fault that is timed.
        let offset = if offset < self.len { offset } else { offset % self.len };
        (self.start + offset) as *mut u8
    }

    /// Loads the byte at `offset`.
    #[inline(always)]
    pub fn load(&self, offset: usize) -> u8 {
        // SAFETY: within the mapping, which can be read.
        unsafe { ptr::read_volatile(self.at(offset)) }
    }

    /// Stores a byte at `offset`; the mapping must be one that can be written.
    #[inline(always)]
    pub fn store(&self, offset: usize, byte: u8) {
        // SAFETY: within the mapping; only mappings that were made writable are stored to.
        unsafe { ptr::write_volatile(self.at(offset), byte) }
    }

    /// One store to each page: all of it is backed.
    pub fn touch(&self) {
        (0..self.len).step_by(page()).for_each(|at| self.store(at, 1));
    }
}

fn unmap(start: usize, len: usize) {
    if len > 0 {
        // SAFETY: a range of a mapping of ours that nothing points into any more.
        unsafe { libc::munmap(start as *mut libc::c_void, len) };
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        unmap(self.start, self.len);
    }
}

/// A file in memory whose pages are all cached.
pub(super) fn cached_file(len: usize) -> Result<File, ProbeError> {
    let file = memfd_create(c"iotui", MFdFlags::MFD_CLOEXEC)
        .map(File::from)
        .map_err(ProbeError::of("memfd_create"))?;
    let block = vec![0x5a; 1 << 20];
    for at in (0..len).step_by(block.len()) {
        let part = block.len().min(len - at);
        std::os::unix::fs::FileExt::write_all_at(&file, &block[..part], at as u64)
            .map_err(ProbeError::of("write"))?;
    }
    Ok(file)
}
