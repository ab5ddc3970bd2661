//! `simd-copy`: a mapped file, each block copied with the widest loads and stores of this CPU.
#![allow(unsafe_code)]

use super::buffers::lane_buffer;
use super::mmap::{self, Mapping};
use super::wide_copy::{self, CopyFn};
use super::written::LaneBuffer;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::catalog;
use crate::plan::{Info, Job, Op};

pub struct SimdCopy;

impl Backend for SimdCopy {
    fn info(&self) -> &'static Info {
        &catalog::SIMD_COPY
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
