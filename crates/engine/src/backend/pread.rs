//! `pread`: pread(2) and pwrite(2) at the block's offset.
#![allow(unsafe_code)]

use std::os::fd::AsRawFd;

use super::block_io::BlockIo;
use super::buffers::reading_buffer;
use super::commit::Committer;
use super::drive::run_each;
use super::{Backend, BackendError, Lane, Target, Work};
use crate::catalog::{self};
use crate::plan::{Info, Job};
use crate::sys::buffer::Buffer;
use crate::sys::raw;
use crate::with_fill;

pub struct Pread;

impl Backend for Pread {
    fn info(&self) -> &'static Info {
        &catalog::PREAD
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let align = target.align(job);
        let lane = PreadLane {
            io: BlockIo::open(target, job, lane)?,
            into: reading_buffer(job, align, 1)?,
            libc: job.backend.has("libc"),
            committer: Committer::for_job(job),
        };
        Ok(Box::new(lane))
    }
}

struct PreadLane {
    io: BlockIo,
    /// Where reads and writes are mixed, the buffer that reads fill.
    into: Option<Buffer>,
    libc: bool,
    committer: Option<Committer>,
}

impl PreadLane {
    fn run_loop<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let (fd, buffer, mask) = (self.io.file.as_raw_fd(), &self.io.buffer, self.io.mask);
        if let Some(into) = &self.into {
            let round = |len: u32| (len as usize + mask) & !mask;
            run_each(work, std::ptr::null(), 1, |r| {
                let at = r.at as usize;
                // SAFETY: each buffer holds the largest block, rounded up.
                unsafe {
                    if r.write {
                        raw::pwrite::<FILL>(fd, buffer.address(at), r.len as usize, r.offset)
                    } else {
                        raw::pread::<FILL>(fd, into.address(at), round(r.len), r.offset)
                    }
                }
            })
        } else if self.io.write {
            // SAFETY: the buffer holds the largest block, rounded up.
            run_each(work, buffer.ptr(), 1, |r| unsafe {
                raw::pwrite::<FILL>(fd, buffer.address(r.at as usize), r.len as usize, r.offset)
            })
        } else {
            let round = |len: u32| (len as usize + mask) & !mask;
            // SAFETY: the buffer holds the largest block, rounded up.
            run_each(work, buffer.ptr(), 1, |r| unsafe {
                raw::pread::<FILL>(fd, buffer.address(r.at as usize), round(r.len), r.offset)
            })
        }
    }

    /// Writes, and makes what was written durable.
    fn run_commits<const FILL: bool>(
        io: &BlockIo,
        libc: bool,
        work: &mut Work,
        committer: &mut Committer,
    ) -> Result<(), BackendError> {
        let (fd, buffer) = (io.file.as_raw_fd(), &io.buffer);
        // SAFETY: the buffer holds the largest block.
        io.run_commits::<FILL>(work, committer, |r| unsafe {
            let (at, len) = (buffer.address(r.at as usize), r.len as usize);
            if libc {
                or_errno(libc::pwrite64(fd, at.cast(), len, r.offset as libc::off64_t))
            } else {
                raw::pwrite::<FILL>(fd, at, len, r.offset)
            }
        })
    }

    fn run_libc_loop(&self, work: &mut Work) -> Result<(), BackendError> {
        let (fd, from, mask, mixed) =
            (self.io.file.as_raw_fd(), &*self.io.buffer, self.io.mask, self.into.is_some());
        let into = self.into.as_ref().unwrap_or(from);
        let data = if mixed { std::ptr::null() } else { from.ptr() };
        run_each(work, data, 1, |r| {
            let (offset, write) =
                (r.offset as libc::off64_t, if mixed { r.write } else { self.io.write });
            // SAFETY: each buffer holds the largest block, rounded up.
            let result = unsafe {
                if write {
                    libc::pwrite64(fd, from.address(r.at as usize).cast(), r.len as usize, offset)
                } else {
                    libc::pread64(
                        fd,
                        into.address(r.at as usize).cast(),
                        (r.len as usize + mask) & !mask,
                        offset,
                    )
                }
            };
            or_errno(result)
        })
    }
}

/// Converts a libc result to the kernel's convention: -errno instead of -1.
#[inline(always)]
pub(super) fn or_errno(result: isize) -> isize {
    if result < 0 {
        -(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) as isize)
    } else {
        result
    }
}

impl Lane for PreadLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        self.io.begin(work);
        let (io, libc) = (&self.io, self.libc);
        if let Some(committer) = &mut self.committer {
            with_fill!(FILL => Self::run_commits::<FILL>(io, libc, work, committer))
        } else if self.libc {
            self.run_libc_loop(work)
        } else {
            with_fill!(FILL => self.run_loop::<FILL>(work))
        }
    }
}
