//! `read`: read(2) and write(2) at the file position, with an lseek(2) where the order jumps.
#![allow(unsafe_code)]

use std::os::fd::RawFd;

use super::block_call::{Block, BlockCall, BlockLane, or_errno};
use super::no_data::seek;
use super::{Backend, BackendError, Lane, Target};
use crate::catalog;
use crate::plan::{Info, Job};
use crate::sys::raw;

pub struct Read;

impl Backend for Read {
    fn info(&self) -> &'static Info {
        &catalog::READ
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        if job.backend.has("libc") {
            BlockLane::open(target, job, lane, ReadCall::<true>::default())
        } else {
            BlockLane::open(target, job, lane, ReadCall::<false>::default())
        }
    }
}

/// Inlined, or through the C library.
#[derive(Default)]
struct ReadCall<const LIBC: bool> {
    /// The file position.
    position: u64,
}

impl<const LIBC: bool> BlockCall for ReadCall<LIBC> {
    const LIBC: bool = LIBC;

    fn turn_to_file(&mut self) {
        // Unknown: earlier passes have moved it.
        self.position = u64::MAX;
    }

    #[inline(always)]
    unsafe fn make<const WRITE: bool, const FILL: bool>(
        &mut self,
        fd: RawFd,
        Block { offset, at, len }: Block,
    ) -> (isize, u32) {
        let mut calls = 1;
        if offset != self.position {
            let to = seek::<LIBC, FILL>(fd, offset);
            if to < 0 {
                return (to, 1);
            }
            calls = 2;
        }
        // SAFETY: the memory is readable or writable for `len` bytes by the caller's contract.
        let result = unsafe {
            match (WRITE, LIBC) {
                (false, false) => raw::read::<FILL>(fd, at, len),
                (false, true) => or_errno(libc::read(fd, at.cast(), len)),
                (true, false) => raw::write::<FILL>(fd, at, len),
                (true, true) => or_errno(libc::write(fd, at.cast(), len)),
            }
        };
        self.position = offset + result.max(0) as u64;
        (result, calls)
    }
}
