//! `read`: read(2) and write(2) at the file position, with an lseek(2) where the order jumps.
#![allow(unsafe_code)]

use std::os::fd::AsRawFd;

use super::block_io::BlockIo;
use super::drive::run_each_counted;
use super::pread::or_errno;
use super::work::Request;
use super::{Backend, BackendError, Lane, Target, Work};
use crate::catalog::{self};
use crate::plan::{Info, Job};
use crate::sys::raw;
use crate::with_fill;

pub struct Read;

impl Backend for Read {
    fn info(&self) -> &'static Info {
        &catalog::READ
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let lane = ReadLane {
            io: BlockIo::open(target, job, lane)?,
            libc: job.backend.has("libc"),
            position: 0,
        };
        Ok(Box::new(lane))
    }
}

struct ReadLane {
    io: BlockIo,
    libc: bool,
    position: u64,
}

/// Runs every operation at the file position; an lseek is made only where the next block is
/// elsewhere.
#[inline(always)]
fn run_each_at(
    work: &mut Work,
    data: *const u8,
    position: &mut u64,
    seek: impl Fn(u64) -> isize,
    mut op: impl FnMut(Request) -> isize,
) -> Result<(), BackendError> {
    // A local variable stays in a register.
    let mut here = *position;
    let done = run_each_counted(work, data, |request| {
        let mut calls = 1;
        if request.offset != here {
            let to = seek(request.offset);
            if to < 0 {
                return (to, 1);
            }
            calls = 2;
        }
        let result = op(request);
        here = request.offset + result.max(0) as u64;
        (result, calls)
    });
    *position = here;
    done
}

impl ReadLane {
    fn run_loop<const FILL: bool>(&mut self, work: &mut Work) -> Result<(), BackendError> {
        let (fd, buffer, mask) = (self.io.file.as_raw_fd(), &self.io.buffer, self.io.mask);
        let seek = |offset| raw::seek::<FILL>(fd, offset);
        if self.io.write {
            // SAFETY: the buffer holds the largest block, rounded up.
            run_each_at(work, buffer.ptr(), &mut self.position, seek, |r| unsafe {
                raw::write::<FILL>(fd, buffer.address(r.at as usize), r.len as usize)
            })
        } else {
            // SAFETY: the buffer holds the largest block, rounded up.
            run_each_at(work, buffer.ptr(), &mut self.position, seek, |r| unsafe {
                raw::read::<FILL>(
                    fd,
                    buffer.address(r.at as usize),
                    (r.len as usize + mask) & !mask,
                )
            })
        }
    }

    fn run_libc_loop(&mut self, work: &mut Work) -> Result<(), BackendError> {
        let (fd, buffer, mask, write) =
            (self.io.file.as_raw_fd(), &self.io.buffer, self.io.mask, self.io.write);
        let seek = |offset: u64| {
            let offset = offset as libc::off64_t;
            // SAFETY: lseek takes no pointer.
            or_errno(unsafe { libc::lseek64(fd, offset, libc::SEEK_SET) } as isize)
        };
        run_each_at(work, buffer.ptr(), &mut self.position, seek, |r| {
            let at = buffer.address(r.at as usize);
            // SAFETY: the buffer holds the largest block, rounded up.
            or_errno(unsafe {
                if write {
                    libc::write(fd, at.cast(), r.len as usize)
                } else {
                    libc::read(fd, at.cast(), (r.len as usize + mask) & !mask)
                }
            })
        })
    }
}

impl Lane for ReadLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        self.io.begin(work);
        if self.libc {
            self.run_libc_loop(work)
        } else {
            with_fill!(FILL => self.run_loop::<FILL>(work))
        }
    }
}
