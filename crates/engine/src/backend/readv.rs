//! `readv`: preadv(2) and pwritev(2), one block scattered over several vectors.
#![allow(unsafe_code)]

use std::os::fd::AsRawFd;

use super::block_io::BlockIo;
use super::drive::run_each;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::catalog::{self, MAX_PARTS};
use crate::plan::{Info, Job};
use crate::sys::calls;
use crate::with_fill;

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
        let io = BlockIo::open(target, job, lane)?;
        Ok(Box::new(ReadvLane {
            parts: Parts {
                base: io.buffer.ptr(),
                max: job.backend.size("parts").unwrap_or(DEFAULT_PARTS).clamp(1, MAX_PARTS)
                    as usize,
                unit: io.mask + 1,
                list: Vec::with_capacity(MAX_PARTS as usize),
                covered: (0, 0),
            },
            io,
        }))
    }
}

/// The list of vectors, rebuilt only where a block differs in size or position from the one before.
struct Parts {
    base: *mut u8,
    max: usize,
    /// Every part but the last is a multiple of this many bytes.
    unit: usize,
    list: Vec<libc::iovec>,
    /// Offset in the buffer and number of the bytes that the list covers.
    covered: (usize, usize),
}

impl Parts {
    #[inline(always)]
    fn vectors(&mut self, at: usize, len: usize) -> (*const libc::iovec, usize) {
        if self.covered != (at, len) {
            self.rebuild(at, len);
        }
        (self.list.as_ptr(), self.list.len())
    }

    #[cold]
    #[inline(never)]
    fn rebuild(&mut self, at: usize, len: usize) {
        let each = len.div_ceil(self.max).next_multiple_of(self.unit).max(1);
        self.list.clear();
        for from in (0..len).step_by(each) {
            let base = self.base.wrapping_add(at + from);
            self.list.push(libc::iovec { iov_base: base.cast(), iov_len: each.min(len - from) });
        }
        self.covered = (at, len);
    }
}

struct ReadvLane {
    io: BlockIo,
    parts: Parts,
}

impl ReadvLane {
    fn run_loop<const FILL: bool>(&mut self, work: &mut Work) -> Result<(), BackendError> {
        let (fd, data, mask, parts) =
            (self.io.file.as_raw_fd(), self.io.buffer.ptr(), self.io.mask, &mut self.parts);
        if self.io.write {
            run_each(work, data, 1, |r| {
                let (list, count) = parts.vectors(r.at as usize, r.len as usize);
                // SAFETY: the buffer holds the largest block, which the list divides.
                unsafe { calls::pwritev::<FILL>(fd, list, count, r.offset) }
            })
        } else {
            run_each(work, data, 1, |r| {
                let (list, count) = parts.vectors(r.at as usize, (r.len as usize + mask) & !mask);
                // SAFETY: the buffer holds the largest block, rounded up, which the list divides.
                unsafe { calls::preadv::<FILL>(fd, list, count, r.offset) }
            })
        }
    }
}

impl Lane for ReadvLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        self.io.begin(work);
        with_fill!(FILL => self.run_loop::<FILL>(work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_block_in_order_none_empty_none_odd_but_the_last() {
        for (max, unit, at, len) in [
            (8, 1, 0, 1),
            (8, 1, 3, 7),
            (8, 1, 0, 4096),
            (8, 512, 512, 4096),
            (1000, 512, 0, 65536),
            (1, 1, 0, 9),
        ] {
            let mut buffer = vec![0u8; 1 << 17];
            let base = buffer.as_mut_ptr();
            let mut parts = Parts { base, max, unit, list: Vec::new(), covered: (0, 0) };
            let (_, count) = parts.vectors(at, len);
            assert!(count >= 1 && count <= max, "{count} of {max}");
            let mut next = base.wrapping_add(at);
            for (index, part) in parts.list.iter().enumerate() {
                assert_eq!(part.iov_base.cast(), next);
                assert!(
                    part.iov_len > 0 && (index + 1 == count || part.iov_len.is_multiple_of(unit))
                );
                next = next.wrapping_add(part.iov_len);
            }
            assert_eq!(next, base.wrapping_add(at + len));
        }
    }
}
