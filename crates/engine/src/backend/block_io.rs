//! A file and the buffer for one block at a time: shared by the lanes of `read`, `pread`, `readv`
//! and `preadv2`.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::advice;
use super::buffers::{lane_buffer, note_small_pages};
use super::commit::{Committer, sync_file};
use super::work::Request;
use super::written::LaneBuffer;
use super::{BackendError, Target, Work};
use crate::catalog;
use crate::plan::{Job, Op};

pub(super) struct BlockIo {
    pub file: File,
    pub buffer: LaneBuffer,
    /// Alignment - 1: a shorter last block is requested rounded up with direct I/O, and returns
    /// short.
    pub mask: usize,
    pub write: bool,
    will_need: bool,
}

impl BlockIo {
    pub fn open(target: &Target, job: &Job, lane: u32) -> Result<BlockIo, BackendError> {
        let align = target.align(job);
        Ok(BlockIo {
            file: target.open_advised(job)?,
            buffer: lane_buffer(job, align, lane, target.data())?,
            mask: align as usize - 1,
            write: job.op == Op::Write,
            will_need: job.backend.has(catalog::WILL_NEED.name),
        })
    }

    /// Sets the alignment, notes a slow buffer and gives `+willneed` advice, before the first
    /// request. Timed.
    pub fn begin(&self, work: &mut Work) {
        work.set_alignment_mask(self.mask as u32);
        work.write_from(&self.buffer);
        note_small_pages(work, &self.buffer, self.mask > 0);
        advice::will_need(&self.file, self.will_need, work);
    }

    /// Runs every write by `write`, which makes one system call, and makes what was written
    /// durable.
    #[inline(always)]
    pub fn run_commits<const FILL: bool>(
        &self,
        work: &mut Work,
        committer: &mut Committer,
        write: impl FnMut(Request) -> isize,
    ) -> Result<(), BackendError> {
        let (fd, method) = (self.file.as_raw_fd(), committer.method());
        committer.run(work, self.buffer.ptr(), 1, write, || sync_file::<FILL>(method, fd))
    }
}
