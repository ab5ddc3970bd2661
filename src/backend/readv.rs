//! `readv`: preadv(2) and pwritev(2), one block scattered over several buffers.
#![allow(unsafe_code)]

use std::os::fd::AsRawFd;

use super::drive::each;
use super::one_block::OneBlock;
use super::target::ATIME;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work, advice};
use crate::plan::{DataPath, Depth, Fio, FioEngine, Info, Job, Op, Opt};
use crate::sys::calls;
use crate::with_fill;

pub struct Readv;

/// The most that the kernel takes without memory of its own for the list (UIO_FASTIOV).
const PARTS: u64 = 8;
/// The most that the kernel takes at all (UIO_MAXIOV).
const MOST_PARTS: u64 = 1024;

/// In the words of fio.
const FIO: Fio = Fio::Engine(
    FioEngine::new("pvsync", Some(1), advice::FIO_OPTIONS)
        .with_note("fio reads into one vector for each block"),
);

impl Backend for Readv {
    fn info(&self) -> &'static Info {
        &Info {
            id: "readv",
            title: "preadv(2)",
            about: "copies a block at an offset into 8 parts of a buffer with one call",
            doc: "One preadv (or pwritev) per block, into 8 vectors of an eighth of the block each (fewer where a block has fewer bytes, or with \
                  --direct fewer sectors): what a program pays that reads into many small buffers, such as the pages of a database. 8 is the most \
                  that the kernel takes without asking for memory for the list; +parts=N takes another number. The parts lie side by side in \
                  one buffer, which changes nothing for the kernel: it walks the list, and never joins neighbours.",
            data_path: DataPath::CopiedByCall,
            ops: &[Op::Read, Op::Write],
            depth: Depth::Synchronous,
            direct: true,
            cached: true,
            mixes: false,
            appends: true,
            options: &[
                Opt { name: "parts", value: Some("N"), about: "so many vectors, 1 to 1024" },
                ATIME,
                advice::SEQUENTIAL,
                advice::RANDOM,
                advice::WILL_NEED,
            ],
            fio: FIO,
            ..Info::COPIES_BY_CALL
        }
    }

    fn writes_by(&self) -> &'static str {
        "pwritev(2)"
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        if let Some(parts) = job.backend.size("parts").filter(|parts| *parts > MOST_PARTS) {
            return Err(Unsupported(format!(
                "readv+parts={parts}: the kernel takes at most {MOST_PARTS} vectors"
            )));
        }
        target.check(job)
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let one = OneBlock::open(target, job, lane)?;
        Ok(Box::new(ReadvLane {
            parts: Parts {
                base: one.buffer.ptr(),
                most: job.backend.size("parts").unwrap_or(PARTS).clamp(1, MOST_PARTS) as usize,
                unit: one.mask + 1,
                list: Vec::with_capacity(MOST_PARTS as usize),
                made: (0, 0),
            },
            one,
        }))
    }
}

/// The list of vectors, made anew only where a block is not as the one before.
struct Parts {
    base: *mut u8,
    most: usize,
    /// Every part but the last is a multiple of so many bytes.
    unit: usize,
    list: Vec<libc::iovec>,
    /// Where in the buffer the listed bytes begin, and how many they are.
    made: (usize, usize),
}

impl Parts {
    #[inline(always)]
    fn of(&mut self, at: usize, len: usize) -> (*const libc::iovec, usize) {
        if self.made != (at, len) {
            self.make(at, len);
        }
        (self.list.as_ptr(), self.list.len())
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, at: usize, len: usize) {
        let each = len.div_ceil(self.most).next_multiple_of(self.unit).max(1);
        self.list.clear();
        for from in (0..len).step_by(each) {
            let base = self.base.wrapping_add(at + from);
            self.list.push(libc::iovec { iov_base: base.cast(), iov_len: each.min(len - from) });
        }
        self.made = (at, len);
    }
}

struct ReadvLane {
    one: OneBlock,
    parts: Parts,
}

impl ReadvLane {
    fn go<const FILL: bool>(&mut self, work: &mut Work) -> Result<(), BackendError> {
        let (fd, data, mask, parts) =
            (self.one.file.as_raw_fd(), self.one.buffer.ptr(), self.one.mask, &mut self.parts);
        if self.one.write {
            each(work, data, 1, |r| {
                let (list, count) = parts.of(r.at as usize, r.len as usize);
                // SAFETY: the buffer holds the largest block, which the list divides.
                unsafe { calls::pwritev::<FILL>(fd, list, count, r.offset) }
            })
        } else {
            each(work, data, 1, |r| {
                let (list, count) = parts.of(r.at as usize, (r.len as usize + mask) & !mask);
                // SAFETY: the buffer holds the largest block, rounded up, which the list divides.
                unsafe { calls::preadv::<FILL>(fd, list, count, r.offset) }
            })
        }
    }
}

impl Lane for ReadvLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        self.one.begin(work);
        with_fill!(FILL => self.go::<FILL>(work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_block_in_order_none_empty_none_odd_but_the_last() {
        for (most, unit, at, len) in [
            (8, 1, 0, 1),
            (8, 1, 3, 7),
            (8, 1, 0, 4096),
            (8, 512, 512, 4096),
            (1000, 512, 0, 65536),
            (1, 1, 0, 9),
        ] {
            let mut buffer = vec![0u8; 1 << 17];
            let base = buffer.as_mut_ptr();
            let mut parts = Parts { base, most, unit, list: Vec::new(), made: (0, 0) };
            let (_, count) = parts.of(at, len);
            assert!(count >= 1 && count <= most, "{count} of {most}");
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
