//! `seek`: lseek(2) alone, the cheapest system call on a file.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::drive::each;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::plan::{Info, Job};
use crate::sys::raw;
use crate::with_fill;

pub struct Seek;

impl Backend for Seek {
    fn info(&self) -> &'static Info {
        &Info {
            id: "seek",
            title: "lseek(2)",
            about: "sets the position and moves no byte: the price of a system call",
            doc: "One lseek per operation, to the block's offset. No data moves, so its rate shows what entering and leaving the kernel costs.",
            ..Info::MOVES_NOTHING
        }
    }

    fn check(&self, _: &Target, _: &Job) -> Result<(), Unsupported> {
        Ok(())
    }

    fn open(&self, target: &Target, job: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(SeekLane { file: target.open(job)? }))
    }
}

struct SeekLane {
    file: File,
}

impl SeekLane {
    fn go<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let fd = self.file.as_raw_fd();
        each(work, std::ptr::null(), 1, |request| {
            let position = raw::seek::<FILL>(fd, request.offset);
            // The position is the answer; as a result it is 0 bytes, or -errno.
            if position == request.offset as isize { 0 } else { position.min(-1) }
        })
    }
}

impl Lane for SeekLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        with_fill!(FILL => self.go::<FILL>(work))
    }
}
