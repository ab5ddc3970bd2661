//! `pread`: pread(2) and pwrite(2) at the block's offset.
#![allow(unsafe_code)]

use std::os::fd::RawFd;

use super::block_call::{Block, BlockCall, BlockLane, or_errno};
use super::{Backend, BackendError, Lane, Target};
use crate::catalog;
use crate::plan::{Info, Job};
use crate::sys::raw;

pub struct Pread;

impl Backend for Pread {
    fn info(&self) -> &'static Info {
        &catalog::PREAD
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        if job.backend.has("libc") {
            BlockLane::open(target, job, lane, PreadCall::<true>)
        } else {
            BlockLane::open(target, job, lane, PreadCall::<false>)
        }
    }
}

/// Inlined, or through the C library.
#[derive(Default)]
struct PreadCall<const LIBC: bool>;

impl<const LIBC: bool> BlockCall for PreadCall<LIBC> {
    const MIXES: bool = true;
    const COMMITS: bool = true;
    const LIBC: bool = LIBC;

    #[inline(always)]
    unsafe fn make<const WRITE: bool, const FILL: bool>(
        &mut self,
        fd: RawFd,
        Block { offset, at, len }: Block,
    ) -> (isize, u32) {
        let from = offset as libc::off64_t;
        // SAFETY: the memory is readable or writable for `len` bytes by the caller's contract.
        let result = unsafe {
            match (WRITE, LIBC) {
                (false, false) => raw::pread::<FILL>(fd, at, len, offset),
                (false, true) => or_errno(libc::pread64(fd, at.cast(), len, from)),
                (true, false) => raw::pwrite::<FILL>(fd, at, len, offset),
                (true, true) => or_errno(libc::pwrite64(fd, at.cast(), len, from)),
            }
        };
        (result, 1)
    }
}
