//! `map-unmap`: mmap(2) and munmap(2) of one block per operation.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::rc::Rc;

use super::drive::run_each;
use super::work::Request;
use super::{Backend, BackendError, Lane, Target, Work};
use crate::catalog;
use crate::plan::{Info, Job};
use crate::sys::calls;
use crate::sys::fd::page_size;
use crate::sys::sigbus::Guard;
use crate::with_fill;

pub struct MapUnmap;

impl Backend for MapUnmap {
    fn info(&self) -> &'static Info {
        &catalog::MAP_UNMAP
    }

    fn open(&self, target: &Target, job: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        let mut guard = None;
        if job.backend.has("touch") {
            guard = Some(Guard::vacant().map_err(BackendError::Map)?);
        }
        Ok(Box::new(MapUnmapLane {
            file: target.open(job)?.into(),
            guard,
            block: job.block,
            span: job.span,
            page: page_size(),
        }))
    }
}

struct MapUnmapLane {
    file: Rc<File>,
    /// For `+touch`: the file may shrink.
    guard: Option<Guard>,
    block: u64,
    span: u64,
    page: u64,
}

impl MapUnmapLane {
    /// Returns the pages of the request's block: their offset in the file, and their bytes up to
    /// the block's end.
    #[inline(always)]
    fn pages(&self, request: Request) -> (u64, usize) {
        let before = request.offset & (self.page - 1);
        let len = self.block.min(self.span - request.offset);
        (request.offset - before, (before + len) as usize)
    }

    fn run_loop<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let fd = self.file.as_raw_fd();
        let result = run_each(work, std::ptr::null(), 2, |request| {
            let (offset, len) = self.pages(request);
            let at = calls::map::<FILL>(fd, len, offset);
            if is_errno(at) {
                return at;
            }
            if let Some(guard) = &self.guard {
                self.touch(at as *const u8, len, guard);
            }
            // SAFETY: the range was just mapped, and nothing points into it.
            let done = unsafe { calls::unmap::<FILL>(at as usize, len) };
            match &self.guard {
                Some(guard) if guard.hit() => -(libc::EIO as isize),
                _ => done,
            }
        });
        match self.guard.as_ref().and_then(Guard::first_fault) {
            // The error has the block's offset; the guard has that within its mapping.
            Some(at) => Err(BackendError::Mapped {
                offset: error_offset(&result) / self.page * self.page + at,
                size: None,
            }),
            None => result,
        }
    }

    /// Reads a byte of each page.
    #[inline(always)]
    fn touch(&self, start: *const u8, len: usize, guard: &Guard) {
        // SAFETY: the range is a mapping until it is uncovered; each byte that is read lies in it,
        // and the guard backs pages that a shrinking file takes away.
        unsafe {
            guard.cover(start, len);
            for page in (0..len).step_by(self.page as usize) {
                std::hint::black_box(start.wrapping_add(page).read_volatile());
            }
            guard.uncover();
        }
    }
}

fn error_offset(result: &Result<(), BackendError>) -> u64 {
    match result {
        Err(BackendError::Io { offset, .. }) => *offset,
        _ => 0,
    }
}

/// Returns whether the kernel returned -errno instead of an address.
#[inline(always)]
fn is_errno(address: isize) -> bool {
    (-4095..0).contains(&address)
}

impl Lane for MapUnmapLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        with_fill!(FILL => self.run_loop::<FILL>(work))
    }

    fn turn_to(&mut self, file: Rc<File>, job: &Job) -> Result<u32, BackendError> {
        (self.file, self.span) = (file, job.span);
        Ok(0)
    }
}
