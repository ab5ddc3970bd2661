//! `preadv2`: preadv2(2) and pwritev2(2), the calls that take flags per operation.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsRawFd;

use super::block_io::BlockIo;
use super::commit::Committer;
use super::drive::{run_each, run_each_counted};
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::catalog::{self};
use crate::plan::{Info, Job, Op, Sync};
use crate::sys::calls::{self, RWF_DONTCACHE, RWF_DSYNC, RWF_NOWAIT};
use crate::sys::{fd, raw};
use crate::with_fill;

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
        Ok(Box::new(Preadv2Lane {
            io: BlockIo::open(target, job, lane)?,
            flags: flags(job),
            committer: Committer::for_job(job),
        }))
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
    match unsafe { calls::preadv2::<false>(file.as_raw_fd(), &raw mut byte, 1, end, flag) } {
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

struct Preadv2Lane {
    io: BlockIo,
    flags: u32,
    committer: Option<Committer>,
}

impl Preadv2Lane {
    fn run_loop<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let (fd, buffer, mask, flags) =
            (self.io.file.as_raw_fd(), &self.io.buffer, self.io.mask, self.flags);
        let round = |len: u32| (len as usize + mask) & !mask;
        let address = |at: u32| buffer.address(at as usize);
        if self.io.write {
            // SAFETY: the buffer holds the largest block, rounded up.
            run_each(work, buffer.ptr(), 1, |r| unsafe {
                calls::pwritev2::<FILL>(fd, address(r.at), r.len as usize, r.offset, flags)
            })
        } else if flags & RWF_NOWAIT == 0 {
            // SAFETY: the buffer holds the largest block, rounded up.
            run_each(work, buffer.ptr(), 1, |r| unsafe {
                calls::preadv2::<FILL>(fd, address(r.at), round(r.len), r.offset, flags)
            })
        } else {
            let rest = flags & !RWF_NOWAIT;
            run_each_counted(work, buffer.ptr(), |r| {
                let (at, len) = (address(r.at), round(r.len));
                // SAFETY: the buffer holds the largest block, rounded up.
                unsafe {
                    match calls::preadv2::<FILL>(fd, at, len, r.offset, flags) {
                        NOT_CACHED if rest == 0 => (raw::pread::<FILL>(fd, at, len, r.offset), 2),
                        NOT_CACHED => (calls::preadv2::<FILL>(fd, at, len, r.offset, rest), 2),
                        done => (done, 1),
                    }
                }
            })
        }
    }

    /// Writes, and makes what was written durable.
    fn run_commits<const FILL: bool>(
        io: &BlockIo,
        flags: u32,
        work: &mut Work,
        committer: &mut Committer,
    ) -> Result<(), BackendError> {
        let (fd, buffer) = (io.file.as_raw_fd(), &io.buffer);
        // SAFETY: the buffer holds the largest block.
        io.run_commits::<FILL>(work, committer, |r| unsafe {
            let at = buffer.address(r.at as usize);
            calls::pwritev2::<FILL>(fd, at, r.len as usize, r.offset, flags)
        })
    }
}

/// The result where nothing of the block is cached.
const NOT_CACHED: isize = -(libc::EAGAIN as isize);

impl Lane for Preadv2Lane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        self.io.begin(work);
        let (io, flags) = (&self.io, self.flags);
        if let Some(committer) = &mut self.committer {
            return with_fill!(FILL => Self::run_commits::<FILL>(io, flags, work, committer));
        }
        with_fill!(FILL => self.run_loop::<FILL>(work))
    }
}

#[cfg(test)]
mod tests;
