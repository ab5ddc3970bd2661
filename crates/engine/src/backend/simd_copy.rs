//! `simd-copy`: a mapped file, each block copied with the widest loads and stores of this CPU.
#![allow(unsafe_code)]

use super::advice;
use super::buffers::lane_buffer;
use super::mmap::{self, Mapping};
use super::wide_copy::{self, CopyFn};
use super::written::LaneBuffer;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::plan::{DataPath, Fio, Info, Job, Op, Opt};

pub struct SimdCopy;

const NON_TEMPORAL: Opt =
    Opt::flag("nt", "uses non-temporal stores, which bypass the caches (x86-64)");

impl Backend for SimdCopy {
    fn info(&self) -> &'static Info {
        &Info {
            id: "simd-copy",
            title: "mmap(2) + wide copy",
            about: "maps the file and copies each block with AVX-512, AVX2 or 64-bit words",
            doc: "Like mmap-copy, but with its own copy loop instead of the C library's: the \
                  widest loads and stores of this CPU, chosen at run time (AVX-512, AVX2, else \
                  64-bit words, which compile to NEON on arm64). +nt uses non-temporal stores, \
                  which bypass the caches (x86-64): the destination line is not read from memory \
                  first and evicts no other. That is faster for blocks much larger than the \
                  last-level cache that are not used again soon, and slower otherwise, as the XOR \
                  then reads them back from memory. The C library switches to such stores by \
                  itself above about 3/4 of the last-level cache.",
            data_path: DataPath::Copied,
            syncs: mmap::SYNCS,
            direct: false,
            appends: false,
            options: &[
                NON_TEMPORAL,
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

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        copy(job)?;
        mmap::check_options(target, job)
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let map = Mapping::new(target.open(job)?, job)?;
        Ok(Box::new(SimdLane {
            map,
            buffer: lane_buffer(job, 1, lane, target.data())?,
            write: job.op == Op::Write,
            copy: copy(job)?,
        }))
    }
}

fn copy(job: &Job) -> Result<CopyFn, Unsupported> {
    if !job.backend.has("nt") {
        return Ok(wide_copy::widest());
    }
    wide_copy::widest_streaming()
        .ok_or_else(|| Unsupported("+nt is supported only on x86-64".into()))
}

struct SimdLane {
    map: Mapping,
    buffer: LaneBuffer,
    write: bool,
    copy: CopyFn,
}

impl Lane for SimdLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        let copy = self.copy;
        // SAFETY: `copy_each` hands over two ranges of `len` bytes that do not overlap, one in the
        // mapping and one in the buffer.
        mmap::copy_each(&mut self.map, &self.buffer, self.write, work, |to, from, len| unsafe {
            copy(to, from, len)
        })
    }
}
