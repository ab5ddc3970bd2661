//! A file and the buffer that its blocks go through one at a time: what the lanes of `read`,
//! `pread`, `readv` and `preadv2` share.

use std::fs::File;

use super::{BackendError, Target, Work, advice, lane_buffer, tell_small_pages};
use crate::plan::{Job, Op};
use crate::sys::buffer::Buffer;

pub(super) struct OneBlock {
    pub file: File,
    pub buffer: Buffer,
    /// Alignment - 1: the odd last block of direct I/O is asked for rounded up and comes back
    /// short.
    pub mask: usize,
    pub write: bool,
    will_need: bool,
}

impl OneBlock {
    pub fn open(target: &Target, job: &Job, lane: u32) -> Result<OneBlock, BackendError> {
        let align = target.align(job);
        Ok(OneBlock {
            file: target.open_advised(job)?,
            buffer: lane_buffer(job, align, lane)?,
            mask: align as usize - 1,
            write: job.op == Op::Write,
            will_need: job.backend.has(advice::WILL_NEED.name),
        })
    }

    /// What the work has to know, and is told or asked of the kernel, before the first request.
    /// Timed.
    pub fn begin(&self, work: &mut Work) {
        work.rounds_up(self.mask as u32);
        tell_small_pages(work, &self.buffer, self.mask > 0);
        advice::will_need(&self.file, self.will_need, work);
    }
}
