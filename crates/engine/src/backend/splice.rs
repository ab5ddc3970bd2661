//! `splice`: splice(2) from the file into a pipe, and out of the pipe to /dev/null.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use super::advice;
use super::drive::run_each_counted;
use super::{Backend, BackendError, Lane, Target, Work};
use crate::catalog;
use crate::plan::{Info, Job};
use crate::sys::calls;
use crate::sys::fd::page_size;
use crate::with_fill;

pub struct Splice;

impl Backend for Splice {
    fn info(&self) -> &'static Info {
        &catalog::SPLICE
    }

    fn open(&self, target: &Target, job: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        let (from, to) = nix::unistd::pipe2(OFlag::O_CLOEXEC)
            .map_err(|error| BackendError::Open(error.into()))?;
        enlarge_pipe(&to, job.block);
        Ok(Box::new(SpliceLane {
            file: target.open_advised(job)?.into(),
            pipe: (from, to),
            sink: open_null()?,
            will_need: job.backend.has(catalog::WILL_NEED.name),
        }))
    }
}

/// Opens /dev/null.
pub(super) fn open_null() -> Result<File, BackendError> {
    OpenOptions::new().write(true).open("/dev/null").map_err(BackendError::Open)
}

/// Enlarges the pipe to hold a block that begins within a page, or as far as the system allows.
fn enlarge_pipe(pipe: &OwnedFd, block: u64) {
    let wanted = block.saturating_add(page_size()).min(1 << 30);
    let most = std::fs::read_to_string("/proc/sys/fs/pipe-max-size")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    for size in [wanted, wanted.min(most.unwrap_or(1 << 20))] {
        // Never shrinks the pipe; a refusal does not change it.
        let now = fcntl(pipe, FcntlArg::F_GETPIPE_SZ).map_or(0, |size| size as u64);
        if size <= now || fcntl(pipe, FcntlArg::F_SETPIPE_SZ(size as i32)).is_ok() {
            return;
        }
    }
}

struct SpliceLane {
    file: Rc<File>,
    /// Read end and write end; empty between operations.
    pipe: (OwnedFd, OwnedFd),
    sink: File,
    will_need: bool,
}

impl SpliceLane {
    fn run_loop<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let (file, sink) = (self.file.as_raw_fd(), self.sink.as_raw_fd());
        let (from, to) = (self.pipe.0.as_raw_fd(), self.pipe.1.as_raw_fd());
        run_through(
            work,
            |offset, len| calls::splice_in::<FILL>(file, offset, to, len),
            |_, len| calls::splice_out::<FILL>(from, sink, len),
        )
    }
}

/// Moves every block into a pipe or a socket by `push(offset in the file, len)`, and out of it by
/// `pop(offset in the block, len)`; each makes one system call and returns the bytes or -errno.
#[inline(always)]
pub(super) fn run_through(
    work: &mut Work,
    push: impl Fn(u64, usize) -> isize,
    pop: impl Fn(usize, usize) -> isize,
) -> Result<(), BackendError> {
    run_each_counted(work, std::ptr::null(), |request| {
        let (len, mut done, mut calls) = (request.len as usize, 0, 0);
        while done < len {
            let moved = push(request.offset + done as u64, len - done);
            calls += 1;
            if moved <= 0 {
                // The bytes moved so far count; the remainder is requested again.
                return (if done > 0 { done as isize } else { moved }, calls);
            }
            let end = done + moved as usize;
            while done < end {
                let out = pop(done, end - done);
                calls += 1;
                match out {
                    1.. => done += out as usize,
                    // Something is left, so this cannot be the end.
                    0 => return (-(libc::EIO as isize), calls),
                    _ if out == -(libc::EINTR as isize) => {}
                    _ => return (out, calls),
                }
            }
        }
        (done as isize, calls)
    })
}

impl Lane for SpliceLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        advice::will_need(&self.file, self.will_need, work);
        with_fill!(FILL => self.run_loop::<FILL>(work))
    }

    fn turn_to(&mut self, file: Rc<File>, _: &Job) -> Result<u32, BackendError> {
        self.file = file;
        Ok(0)
    }
}
