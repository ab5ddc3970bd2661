//! `simd-copy`: the file as memory, each block copied with the widest loads and stores of this CPU.
#![allow(unsafe_code)]

use super::mmap::{self, Mapping};
use super::wide::{self, CopyFn};
use super::{Backend, BackendError, Lane, Target, Unsupported, Work, advice, lane_buffer};
use crate::plan::{DataPath, Depth, Fio, Info, Job, Op, Opt};
use crate::sys::buffer::Buffer;

pub struct SimdCopy;

impl Backend for SimdCopy {
    fn info(&self) -> &'static Info {
        &Info {
            id: "simd-copy",
            title: "mmap(2) + wide copy",
            about: "the file as memory, each block copied with AVX-512, AVX2 or 64-bit words",
            doc: "As mmap-copy, with a copy of its own instead of the C library's: the widest loads and stores that this CPU has, found at run time \
                  (AVX-512, AVX2, else 64-bit words, of which a compiler for arm64 makes NEON). +nt stores around the caches (non-temporal; \
                  x86-64): the line that is written is not read from memory first and does not push others out, which pays where blocks are \
                  much larger than the last cache and are not used soon, and costs where they are: the XOR then reads them back from memory. \
                  The C library changes to such stores by itself above about 3/4 of the last cache.",
            data_path: DataPath::Copied,
            ops: &[Op::Read, Op::Write],
            depth: Depth::Synchronous,
            direct: false,
            cached: true,
            mixes: false,
            appends: false,
            options: &[
                Opt {
                    name: "nt",
                    value: None,
                    about: "non-temporal stores: around the caches (x86-64)",
                },
                mmap::POPULATE,
                mmap::HUGE,
                advice::SEQUENTIAL,
                advice::RANDOM,
                advice::WILL_NEED,
            ],
            fio: Fio::Unavailable(
                "fio copies with the C library's memcpy: it has no engine of wide stores",
            ),
            ..Info::COPIES_BY_CALL
        }
    }

    fn check(&self, _: &Target, job: &Job) -> Result<(), Unsupported> {
        copy(job)?;
        mmap::check_options(job)
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let map = Mapping::new(&target.open(job)?, job)?;
        Ok(Box::new(SimdLane {
            map,
            buffer: lane_buffer(job, 1, lane)?,
            write: job.op == Op::Write,
            copy: copy(job)?,
        }))
    }
}

fn copy(job: &Job) -> Result<CopyFn, Unsupported> {
    if !job.backend.has("nt") {
        return Ok(wide::widest());
    }
    wide::widest_streaming().ok_or_else(|| {
        Unsupported("+nt: this program has non-temporal stores for x86-64 only".into())
    })
}

struct SimdLane {
    map: Mapping,
    buffer: Buffer,
    write: bool,
    copy: CopyFn,
}

impl Lane for SimdLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        let copy = self.copy;
        // SAFETY: `copy_each` hands over two ranges of `len` bytes that do not overlap, one in the
        // mapping and one in the buffer.
        mmap::copy_each(&self.map, &self.buffer, self.write, work, |to, from, len| unsafe {
            copy(to, from, len)
        })
    }
}
