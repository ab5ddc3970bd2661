//! The lane of `read`, `pread`, `readv` and `preadv2`, which read and write a block by one system
//! call. Such a backend is its description and a [`BlockCall`].
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;

use super::advice;
use super::buffers::{lane_buffer, note_small_pages, reading_buffer};
use super::commit::{Committer, sync_file};
use super::drive::run_each_counted;
use super::work::Request;
use super::written::LaneBuffer;
use super::{BackendError, Lane, Target, Work};
use crate::catalog;
use crate::plan::{Job, Op};
use crate::sys::buffer::Buffer;
use crate::with_fill;

/// A block of a file and its memory.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub offset: u64,
    pub at: *mut u8,
    pub len: usize,
}

/// The system call of a backend, for reads and for writes.
pub(super) trait BlockCall: Default + 'static {
    /// Whether the backend mixes reads and writes, and whether it syncs after writes. Loops that no
    /// job needs are left out.
    const MIXES: bool = false;
    const COMMITS: bool = false;
    /// Whether it makes its calls through the C library, which leaves nothing to fill.
    const LIBC: bool = false;

    /// Forgets the position in the file before: this one is another.
    fn turn_to_file(&mut self) {}

    /// Reads or writes a block; returns the bytes, or -errno, and the number of system calls.
    ///
    /// It must be inlined: a call between the loop and `syscall` costs 140 ns.
    ///
    /// # Safety
    /// The memory of the block must be readable for a write, and writable for a read.
    unsafe fn make<const WRITE: bool, const FILL: bool>(
        &mut self,
        fd: RawFd,
        block: Block,
    ) -> (isize, u32);
}

/// An open file and the buffer for one block at a time.
pub(super) struct BlockLane<C> {
    call: C,
    file: Rc<File>,
    buffer: LaneBuffer,
    /// The buffer that reads fill where they are mixed with writes.
    into: Option<Buffer>,
    committer: Option<Committer>,
    /// Alignment - 1: a shorter last block is requested rounded up with direct I/O, and returns
    /// short.
    mask: usize,
    write: bool,
    will_need: bool,
}

impl<C: BlockCall> BlockLane<C> {
    pub fn open(
        target: &Target,
        job: &Job,
        lane: u32,
        call: C,
    ) -> Result<Box<dyn Lane>, BackendError> {
        let align = target.align(job);
        Ok(Box::new(BlockLane {
            call,
            file: target.open_advised(job)?.into(),
            buffer: lane_buffer(job, align, lane, target.data())?,
            into: reading_buffer(job, align, 1)?,
            committer: Committer::for_job(job),
            mask: align as usize - 1,
            write: job.op == Op::Write,
            will_need: job.backend.has(catalog::WILL_NEED.name),
        }))
    }

    #[inline(always)]
    fn run_loop<const FILL: bool>(
        &mut self,
        work: &mut Work,
        call: &mut C,
    ) -> Result<(), BackendError> {
        let (fd, buffer, mask) = (self.file.as_raw_fd(), &self.buffer, self.mask);
        let to_write = |r: Request| {
            let (at, len) = (buffer.address(r.at as usize), r.len as usize);
            Block { offset: r.offset, at, len }
        };
        let to_read = |r: Request, into: &Buffer| {
            let (at, len) = (into.address(r.at as usize), (r.len as usize + mask) & !mask);
            Block { offset: r.offset, at, len }
        };
        match (&mut self.committer, &self.into) {
            (Some(committer), _) if C::COMMITS => {
                let method = committer.method();
                // SAFETY: the buffer holds the largest block, rounded up, here and below.
                let write = |r| unsafe { call.make::<true, FILL>(fd, to_write(r)) }.0;
                committer.run(work, buffer.ptr(), 1, write, || sync_file::<FILL>(method, fd))
            }
            (_, Some(into)) if C::MIXES => {
                // SAFETY: as above, of each buffer.
                run_each_counted(work, std::ptr::null(), |r| unsafe {
                    if r.write {
                        call.make::<true, FILL>(fd, to_write(r))
                    } else {
                        call.make::<false, FILL>(fd, to_read(r, into))
                    }
                })
            }
            // SAFETY: as above.
            _ if self.write => run_each_counted(work, buffer.ptr(), |r| unsafe {
                call.make::<true, FILL>(fd, to_write(r))
            }),
            // SAFETY: as above.
            _ => run_each_counted(work, buffer.ptr(), |r| unsafe {
                call.make::<false, FILL>(fd, to_read(r, buffer))
            }),
        }
    }
}

impl<C: BlockCall> Lane for BlockLane<C> {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        work.set_alignment_mask(self.mask as u32);
        work.write_from(&self.buffer);
        note_small_pages(work, &self.buffer, self.mask > 0);
        advice::will_need(&self.file, self.will_need, work);
        // The fields of a local variable stay in registers.
        let mut call = std::mem::take(&mut self.call);
        let ended = if C::LIBC {
            self.run_loop::<false>(work, &mut call)
        } else {
            with_fill!(FILL => self.run_loop::<FILL>(work, &mut call))
        };
        self.call = call;
        ended
    }

    fn turn_to(&mut self, file: Rc<File>, _: &Job) -> Result<u32, BackendError> {
        self.call.turn_to_file();
        self.file = file;
        Ok(0)
    }
}

/// Converts a result of libc to the kernel's convention: -errno instead of -1.
#[inline(always)]
pub(super) fn or_errno(result: isize) -> isize {
    if result < 0 {
        -(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) as isize)
    } else {
        result
    }
}
