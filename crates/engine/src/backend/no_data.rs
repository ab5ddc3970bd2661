//! Backends that move no data: `null`, which measures iotui's own loop, `getpid`, a system call
//! that does nothing, and `seek`, lseek(2), the cheapest system call on a file.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::null;
use std::rc::Rc;

use super::block_call::or_errno;
use super::drive::run_each;
use super::{Backend, BackendError, Lane, Target, Work};
use crate::catalog;
use crate::plan::{Info, Job};
use crate::sys::{calls, raw};
use crate::with_fill;

pub struct Null;
pub struct Getpid;
pub struct Seek;

impl Backend for Null {
    fn info(&self) -> &'static Info {
        &catalog::NULL
    }

    fn open(&self, _: &Target, _: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(NullLane))
    }
}

impl Backend for Getpid {
    fn info(&self) -> &'static Info {
        &catalog::GETPID
    }

    fn open(&self, _: &Target, _: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(GetpidLane))
    }
}

impl Backend for Seek {
    fn info(&self) -> &'static Info {
        &catalog::SEEK
    }

    fn open(&self, target: &Target, job: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(SeekLane { file: target.open(job)?.into(), libc: job.backend.has("libc") }))
    }
}

struct NullLane;

impl Lane for NullLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        // Hidden from the optimiser, so that the loop stays a loop.
        run_each(work, null(), 0, |request| std::hint::black_box(request.len as isize))
    }

    fn turn_to(&mut self, _: Rc<File>, _: &Job) -> Result<u32, BackendError> {
        Ok(0)
    }
}

struct GetpidLane;

impl Lane for GetpidLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        // The process id is above 0; the result is 0 bytes, or -errno.
        with_fill!(FILL => run_each(work, null(), 1, |_| calls::getpid::<FILL>().min(0)))
    }

    fn turn_to(&mut self, _: Rc<File>, _: &Job) -> Result<u32, BackendError> {
        Ok(0)
    }
}

struct SeekLane {
    file: Rc<File>,
    libc: bool,
}

impl SeekLane {
    fn run_loop<const LIBC: bool, const FILL: bool>(
        &self,
        work: &mut Work,
    ) -> Result<(), BackendError> {
        let fd = self.file.as_raw_fd();
        run_each(work, null(), 1, |request| {
            let position = seek::<LIBC, FILL>(fd, request.offset);
            // 0 bytes, or -errno.
            if position == request.offset as isize { 0 } else { position.min(-1) }
        })
    }
}

impl Lane for SeekLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        if self.libc {
            self.run_loop::<true, false>(work)
        } else {
            with_fill!(FILL => self.run_loop::<false, FILL>(work))
        }
    }

    fn turn_to(&mut self, file: Rc<File>, _: &Job) -> Result<u32, BackendError> {
        self.file = file;
        Ok(0)
    }
}

/// Sets the file position, inlined or through the C library; returns it, or -errno.
#[inline(always)]
pub(super) fn seek<const LIBC: bool, const FILL: bool>(fd: RawFd, offset: u64) -> isize {
    if LIBC {
        // SAFETY: lseek takes no pointer.
        or_errno(unsafe { libc::lseek64(fd, offset as libc::off64_t, libc::SEEK_SET) } as isize)
    } else {
        raw::seek::<FILL>(fd, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::{Choice, Op};

    #[test]
    fn both_forms_seek_to_every_block() {
        let (_file, _, target) = testing::file(65_536, 1);
        for id in ["seek", "seek+libc"] {
            let job = Job {
                op: Op::Seek,
                xor: false,
                backend: Choice::parse(id).unwrap(),
                ..testing::job()
            };
            job.backend.check(Seek.info()).unwrap();
            let tally = testing::read_all(&Seek, &target, &job);
            assert_eq!((tally.ops, tally.syscalls, tally.bytes), (16, 16, 0), "{id}");
        }
    }
}
