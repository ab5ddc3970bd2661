//! `readv`: preadv(2) and pwritev(2), one block scattered over several vectors.
#![allow(unsafe_code)]

use std::os::fd::RawFd;

use super::block_call::{Block, BlockCall, BlockLane};
use super::{Backend, BackendError, Lane, Target, Unsupported};
use crate::catalog::{self, MAX_PARTS};
use crate::plan::{Info, Job};
use crate::sys::calls;

pub struct Readv;

/// Default number of vectors: the most that the kernel takes without allocating memory for the list
/// (UIO_FASTIOV).
const DEFAULT_PARTS: u64 = 8;

impl Backend for Readv {
    fn info(&self) -> &'static Info {
        &catalog::READV
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        if let Some(parts) = job.backend.size("parts").filter(|parts| *parts > MAX_PARTS) {
            return Err(Unsupported(format!(
                "readv+parts={parts}: the kernel takes at most {MAX_PARTS} vectors"
            )));
        }
        target.check(job)
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let max = job.backend.size("parts").unwrap_or(DEFAULT_PARTS).clamp(1, MAX_PARTS) as usize;
        let (unit, list) = (target.align(job) as usize, Vec::with_capacity(MAX_PARTS as usize));
        BlockLane::open(target, job, lane, Vectors { max, unit, list, covered: (0, 0) })
    }
}

/// The vectors of a block, rebuilt only where a block differs in size or place from the one before.
#[derive(Default)]
struct Vectors {
    max: usize,
    /// Every vector but the last is a multiple of this many bytes.
    unit: usize,
    list: Vec<libc::iovec>,
    /// Address and number of the bytes that the list covers.
    covered: (usize, usize),
}

impl Vectors {
    #[inline(always)]
    fn cover(&mut self, at: *mut u8, len: usize) -> (*const libc::iovec, usize) {
        if self.covered != (at as usize, len) {
            self.rebuild(at, len);
        }
        (self.list.as_ptr(), self.list.len())
    }

    #[cold]
    #[inline(never)]
    fn rebuild(&mut self, at: *mut u8, len: usize) {
        let each = len.div_ceil(self.max).next_multiple_of(self.unit).max(1);
        self.list.clear();
        for from in (0..len).step_by(each) {
            let base = at.wrapping_add(from);
            self.list.push(libc::iovec { iov_base: base.cast(), iov_len: each.min(len - from) });
        }
        self.covered = (at as usize, len);
    }
}

impl BlockCall for Vectors {
    #[inline(always)]
    unsafe fn make<const WRITE: bool, const FILL: bool>(
        &mut self,
        fd: RawFd,
        Block { offset, at, len }: Block,
    ) -> (isize, u32) {
        let (list, count) = self.cover(at, len);
        // SAFETY: the list divides the memory, which is readable or writable by the caller's
        // contract.
        (unsafe { calls::vectored::<WRITE, FILL>(fd, list, count, offset) }, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_divide_a_block_in_order() {
        for (max, unit, at, len) in [
            (8, 1, 0, 1),
            (8, 1, 3, 7),
            (8, 1, 0, 4096),
            (8, 512, 512, 4096),
            (1000, 512, 0, 65536),
            (1, 1, 0, 9),
        ] {
            let mut buffer = vec![0u8; 1 << 17];
            let start = buffer.as_mut_ptr().wrapping_add(at);
            let mut vectors = Vectors { max, unit, ..Vectors::default() };
            let (_, count) = vectors.cover(start, len);
            assert!(count >= 1 && count <= max, "{count} of {max}");
            let mut next = start;
            for (index, part) in vectors.list.iter().enumerate() {
                assert_eq!(part.iov_base.cast(), next);
                assert!(
                    part.iov_len > 0 && (index + 1 == count || part.iov_len.is_multiple_of(unit))
                );
                next = next.wrapping_add(part.iov_len);
            }
            assert_eq!(next, start.wrapping_add(len));
        }
    }
}
