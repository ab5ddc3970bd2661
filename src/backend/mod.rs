//! Ways to do I/O: one file each, listed once in [`BACKENDS`].

pub mod drive;
pub mod fold;
pub mod meter;
pub mod order;
pub mod shared;
pub mod work;

mod advice;
mod aio;
mod copy_range;
mod error;
mod getpid;
mod map_unmap;
mod mmap;
mod null;
mod one_block;
mod pread;
mod preadv2;
mod read;
mod readv;
mod seek;
mod sendfile;
mod simd_copy;
mod splice;
mod stdio;
mod target;
#[cfg(test)]
pub mod testing;
mod tokio;
mod uring;
mod wide;

pub use error::{BackendError, IoFault, Unsupported};
pub use target::Target;
pub use work::Work;

use crate::plan::{Info, Job, Op, Unknown, nearest};
use crate::record::Note;
use crate::sys::buffer::Buffer;

/// A way to do I/O.
pub trait Backend: Sync {
    fn info(&self) -> &'static Info;

    /// The call that writes, as errors name it; the title names the one that reads.
    fn writes_by(&self) -> &'static str {
        self.info().title
    }

    /// Whether this kernel and target can do `job` by this backend; probed at run time, the reason
    /// is shown.
    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported>;

    /// Opens lane `lane`, on the worker thread that will run it.
    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError>;
}

/// One worker's open handle of a backend.
pub trait Lane {
    /// Pulls requests until there are none and nothing is in flight.
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError>;

    /// CPU time so far, in nanoseconds, of a kernel thread that works for this lane; `None` where
    /// that is not known.
    fn helper_nanos(&self) -> Option<u64> {
        Some(0)
    }
}

/// Every backend, in the order of lists.
pub static BACKENDS: &[&dyn Backend] = &[
    &null::Null,
    &read::Read,
    &pread::Pread,
    &stdio::Stdio,
    &mmap::Mmap,
    &mmap::MmapCopy,
    &uring::Uring,
    &seek::Seek,
    &readv::Readv,
    &preadv2::Preadv2,
    &simd_copy::SimdCopy,
    &aio::Aio,
    &sendfile::Sendfile,
    &splice::Splice,
    &copy_range::CopyRange,
    &tokio::Tokio,
    &map_unmap::MapUnmap,
    &getpid::Getpid,
];

/// The backend of that name.
pub fn backend(id: &str) -> Result<&'static dyn Backend, Unknown> {
    let found = BACKENDS.iter().find(|b| b.info().id == id);
    found.copied().ok_or_else(|| nearest("backend", id, BACKENDS.iter().map(|b| b.info().id)))
}

/// The backend that does nothing, so that only the measuring loop runs.
pub fn bare_loop() -> &'static dyn Backend {
    &null::Null
}

/// The records of all backends, for planning.
pub fn infos() -> Vec<&'static Info> {
    BACKENDS.iter().map(|b| b.info()).collect()
}

/// A buffer for `slots` blocks of the job, each rounded up to `align`; random bytes where it is
/// written from.
fn slots_buffer(job: &Job, align: u32, slots: u32, lane: u32) -> Result<Buffer, BackendError> {
    let len = job.block.next_multiple_of(u64::from(align)).saturating_mul(u64::from(slots));
    let size = usize::try_from(len).unwrap_or(usize::MAX);
    let buffer = if job.op == Op::Write {
        Buffer::random(size, order::mix(u64::from(lane)))
    } else {
        Buffer::new(size)
    };
    buffer.map_err(|error| BackendError::Memory { len, error })
}

/// The block that the first lane of a job with one operation at a time writes again and again.
///
/// # Errors
/// There is no memory for it.
pub fn written_block(job: &Job) -> std::io::Result<Vec<u8>> {
    let len = usize::try_from(job.block).unwrap_or(usize::MAX);
    Ok(Buffer::random(len, order::mix(0))?.copied(len))
}

/// A second buffer for what is read where reads and writes are mixed, so that what is written stays
/// as it was.
fn reading_buffer(
    job: &Job,
    align: u32,
    slots: u32,
    lane: u32,
) -> Result<Option<Buffer>, BackendError> {
    job.mix
        .map(|_| slots_buffer(&Job { op: Op::Read, ..job.clone() }, align, slots, lane))
        .transpose()
}

/// The one buffer of a synchronous lane.
fn lane_buffer(job: &Job, align: u32, lane: u32) -> Result<Buffer, BackendError> {
    slots_buffer(job, align, 1, lane)
}

/// Direct I/O from 2 MiB on is up to 2.6 times slower where its buffer is not on huge pages.
fn tell_small_pages(work: &mut Work, buffer: &Buffer, direct: bool) {
    if direct && buffer.len() >= 2 << 20 && !buffer.huge {
        work.note(Note::SmallPages);
    }
}
