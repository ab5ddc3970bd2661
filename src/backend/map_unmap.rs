//! `map-unmap`: mmap(2) and munmap(2) of one block per operation.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;

use super::drive::each;
use super::work::Request;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::plan::{DataPath, Depth, Info, Job, Op, Opt};
use crate::sys::calls;
use crate::sys::fd::page_size;
use crate::sys::guard::Guard;
use crate::with_fill;

pub struct MapUnmap;

impl Backend for MapUnmap {
    fn info(&self) -> &'static Info {
        &Info {
            id: "map-unmap",
            title: "mmap(2) + munmap(2)",
            about: "maps a block and takes the mapping away again: the price of a mapping, without its data",
            doc: "For each block one mmap of the pages that hold it and one munmap: two system calls, and no data. Nothing is read, whether the file is \
                  cached or not: a mapping is only a promise. +touch reads one byte of every page before the munmap, so page faults and the clearing \
                  of page tables and TLBs are in it, and cold pages come from the device; no other byte is looked at, so its figure is operations, \
                  not bytes, per second. Against mmap (mapped once) it shows when mapping anew is dearer than copying with pread.",
            data_path: DataPath::CallOnly,
            relative_cost: 30.0,
            ops: &[Op::Read],
            depth: Depth::Synchronous,
            direct: false,
            cached: true,
            mixes: false,
            appends: false,
            options: &[Opt {
                name: "touch",
                value: None,
                about: "reads one byte of every page of the block while it is mapped",
            }],
            ..Info::MOVES_NOTHING
        }
    }

    fn check(&self, _: &Target, _: &Job) -> Result<(), Unsupported> {
        Ok(())
    }

    fn open(&self, target: &Target, job: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(MapUnmapLane {
            file: target.open(job)?,
            guard: job
                .backend
                .has("touch")
                .then(Guard::vacant)
                .transpose()
                .map_err(BackendError::Map)?,
            block: job.block,
            span: job.span,
            page: page_size(),
        }))
    }
}

struct MapUnmapLane {
    file: File,
    /// Where pages are touched: the file may shrink.
    guard: Option<Guard>,
    block: u64,
    span: u64,
    page: u64,
}

impl MapUnmapLane {
    /// The pages that hold the request's block: where they begin in the file, and their bytes up to
    /// the block's end.
    #[inline(always)]
    fn pages(&self, request: Request) -> (u64, usize) {
        let before = request.offset & (self.page - 1);
        let len = self.block.min(self.span - request.offset);
        (request.offset - before, (before + len) as usize)
    }

    fn go<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let fd = self.file.as_raw_fd();
        each(work, std::ptr::null(), 2, |request| {
            let (offset, len) = self.pages(request);
            let at = calls::map::<FILL>(fd, len, offset);
            if failed(at) {
                return at;
            }
            // SAFETY: just mapped, and nothing points into it.
            unsafe { calls::unmap::<FILL>(at as usize, len) }
        })
    }

    fn go_touching<const FILL: bool>(
        &self,
        work: &mut Work,
        guard: &Guard,
    ) -> Result<(), BackendError> {
        let fd = self.file.as_raw_fd();
        let result = each(work, std::ptr::null(), 2, |request| {
            let (offset, len) = self.pages(request);
            let at = calls::map::<FILL>(fd, len, offset);
            if failed(at) {
                return at;
            }
            let start = at as *const u8;
            // SAFETY: the range is this mapping until it is uncovered; each byte that is read lies
            // in it, and the guard backs pages that a shrinking file takes away.
            unsafe {
                guard.cover(start, len);
                for page in (0..len).step_by(self.page as usize) {
                    std::hint::black_box(start.wrapping_add(page).read_volatile());
                }
                guard.uncover();
                let done = calls::unmap::<FILL>(at as usize, len);
                if guard.hit() { -(libc::EIO as isize) } else { done }
            }
        });
        match guard.first_fault() {
            // The error knows the block; the guard knows where in it.
            Some(at) => Err(BackendError::Mapped {
                offset: place(&result) / self.page * self.page + at,
                size: None,
            }),
            None => result,
        }
    }
}

fn place(result: &Result<(), BackendError>) -> u64 {
    match result {
        Err(BackendError::Io { offset, .. }) => *offset,
        _ => 0,
    }
}

/// An address as the kernel returns it, or -errno.
#[inline(always)]
fn failed(address: isize) -> bool {
    (-4095..0).contains(&address)
}

impl Lane for MapUnmapLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        match &self.guard {
            Some(guard) => with_fill!(FILL => self.go_touching::<FILL>(work, guard)),
            None => with_fill!(FILL => self.go::<FILL>(work)),
        }
    }
}
