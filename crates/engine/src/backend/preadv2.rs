//! `preadv2`: preadv2(2) and pwritev2(2), the calls that take flags per operation.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::block_call::{Block, BlockCall, BlockLane};
use super::{Backend, BackendError, Lane, Target, Unsupported};
use crate::catalog;
use crate::plan::{Info, Job, Op, Sync};
use crate::sys::calls::{self, RWF_DONTCACHE, RWF_DSYNC, RWF_NOWAIT};
use crate::sys::{fd, raw};

pub struct Preadv2;

impl Backend for Preadv2 {
    fn info(&self) -> &'static Info {
        &catalog::PREADV2
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)?;
        let flags = flags(job);
        if flags & (RWF_NOWAIT | RWF_DONTCACHE) != 0 && job.direct {
            return Err(Unsupported(
                "+nowait and +dontcache apply to the page cache, which direct I/O bypasses".into(),
            ));
        }
        if flags & RWF_NOWAIT != 0 && job.op != Op::Read {
            return Err(Unsupported("+nowait applies only to reads".into()));
        }
        let names = [
            (RWF_NOWAIT, "RWF_NOWAIT (+nowait)"),
            (RWF_DONTCACHE, "RWF_DONTCACHE (+dontcache, Linux 6.14)"),
            (RWF_DSYNC, "RWF_DSYNC (--sync rwf-dsync)"),
        ];
        for (flag, name) in names.into_iter().filter(|(flag, _)| flags & flag != 0) {
            check_flag(target, flag).map_err(|error| Unsupported(refusal(name, &error)))?;
        }
        Ok(())
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        BlockLane::open(target, job, lane, FlaggedCall { flags: flags(job) })
    }
}

fn flags(job: &Job) -> u32 {
    let of = |option, flag| if job.backend.has(option) { flag } else { 0 };
    let dsync = if job.op == Op::Write && job.sync == Sync::RwfDsync { RWF_DSYNC } else { 0 };
    of("nowait", RWF_NOWAIT) | of("dontcache", RWF_DONTCACHE) | dsync
}

/// Tries the flag at the end of the file, where there is nothing to read: file systems differ.
fn check_flag(target: &Target, flag: u32) -> io::Result<()> {
    let file = target.open_for_check()?;
    let (mut byte, end) = (0u8, fd::size(&file)?);
    // SAFETY: `byte` is writable for one byte and outlives the call.
    match unsafe { calls::flagged::<false, false>(file.as_raw_fd(), &raw mut byte, 1, end, flag) } {
        errno @ ..0 if errno != -(libc::EAGAIN as isize) => {
            Err(io::Error::from_raw_os_error(-errno as i32))
        }
        _ => Ok(()),
    }
}

fn refusal(flag: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP) => {
            format!("{flag}: EOPNOTSUPP, not supported by this file system or kernel")
        }
        Some(libc::ENOSYS) => {
            "preadv2: ENOSYS, not supported by this kernel, or blocked by a seccomp filter".into()
        }
        _ => format!("{flag}: {error}"),
    }
}

/// The result where nothing of the block is cached.
const NOT_CACHED: isize = -(libc::EAGAIN as isize);

/// A call with RWF_* flags.
#[derive(Default)]
struct FlaggedCall {
    flags: u32,
}

impl BlockCall for FlaggedCall {
    const COMMITS: bool = true;

    #[inline(always)]
    unsafe fn make<const WRITE: bool, const FILL: bool>(
        &mut self,
        fd: RawFd,
        Block { offset, at, len }: Block,
    ) -> (isize, u32) {
        let flags = self.flags;
        // SAFETY: the memory is readable or writable for `len` bytes by the caller's contract.
        unsafe {
            let rest = flags & !RWF_NOWAIT;
            match calls::flagged::<WRITE, FILL>(fd, at, len, offset, flags) {
                NOT_CACHED if WRITE || rest == flags => (NOT_CACHED, 1),
                NOT_CACHED if rest == 0 => (raw::pread::<FILL>(fd, at, len, offset), 2),
                NOT_CACHED => (calls::flagged::<false, FILL>(fd, at, len, offset, rest), 2),
                done => (done, 1),
            }
        }
    }
}

#[cfg(test)]
mod tests;
