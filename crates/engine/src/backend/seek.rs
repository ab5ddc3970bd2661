//! `seek`: lseek(2) alone, the cheapest system call on a file.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;

use super::drive::run_each;
use super::pread::or_errno;
use super::{Backend, BackendError, Lane, Target, Work};
use crate::catalog::{self};
use crate::plan::{Info, Job};
use crate::sys::raw;
use crate::with_fill;

pub struct Seek;

impl Backend for Seek {
    fn info(&self) -> &'static Info {
        &catalog::SEEK
    }

    fn open(&self, target: &Target, job: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(SeekLane { file: target.open(job)?, libc: job.backend.has("libc") }))
    }
}

struct SeekLane {
    file: File,
    libc: bool,
}

/// Converts the returned position to a result: 0 bytes, or -errno.
#[inline(always)]
fn to_result(position: isize, wanted: u64) -> isize {
    if position == wanted as isize { 0 } else { position.min(-1) }
}

impl SeekLane {
    fn run_loop<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let fd = self.file.as_raw_fd();
        run_each(work, std::ptr::null(), 1, |request| {
            to_result(raw::seek::<FILL>(fd, request.offset), request.offset)
        })
    }

    fn run_libc_loop(&self, work: &mut Work) -> Result<(), BackendError> {
        let fd = self.file.as_raw_fd();
        run_each(work, std::ptr::null(), 1, |request| {
            // SAFETY: lseek takes no pointer.
            let position =
                unsafe { libc::lseek64(fd, request.offset as libc::off64_t, libc::SEEK_SET) };
            to_result(or_errno(position as isize), request.offset)
        })
    }
}

impl Lane for SeekLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        if self.libc {
            self.run_libc_loop(work)
        } else {
            with_fill!(FILL => self.run_loop::<FILL>(work))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::{Choice, Op};

    #[test]
    fn both_forms_set_the_position_of_every_block() {
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
