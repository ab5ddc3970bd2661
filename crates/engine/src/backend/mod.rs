//! The backends: ways to do I/O, one file each, listed once in [`BACKENDS`].
//!
//! [`Backend`] describes a backend and opens its lanes; [`Lane`] is one worker's open handle, whose
//! `run` is the timed loop; [`Work`] hands that loop its requests and takes the results.

pub mod access_pattern;
pub mod drive;
pub mod fold;
pub mod meter;
pub mod shared;
pub mod work;

mod advice;
mod aio;
mod block_io;
mod copy_range;
mod error;
mod getpid;
mod map_unmap;
mod mmap;
mod null;
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
mod wide_copy;

pub use error::{BackendError, IoFault, Unsupported};
pub use target::Target;
pub use work::Work;

use crate::plan::{Info, Job, Op, Unknown, nearest};
use crate::record::Note;
use crate::sys::buffer::Buffer;

/// A way to do I/O, as the engine uses it: `info` and `check` before a run, `open` on each worker
/// thread before a trial, [`Lane::run`] inside it.
pub trait Backend: Sync {
    /// Returns the static description: id, texts for `--list`, operations, depth and options. The
    /// planner builds the matrix of cells from it, so it must not depend on the machine.
    fn info(&self) -> &'static Info;

    /// Returns the name of the call that writes, for error messages. The default is the title,
    /// which names the call that reads.
    fn write_call(&self) -> &'static str {
        self.info().title
    }

    /// Checks whether this kernel and target support `job`, by trying rather than by version
    /// numbers. The error is shown to the user as the reason a cell is skipped.
    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported>;

    /// Opens lane `lane` of a trial: its own file description, buffers and kernel objects. Called
    /// on the worker thread that will run it, outside the timed window.
    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError>;
}

/// One worker's open handle of a backend. Dropped after the trial, on the same thread.
pub trait Lane {
    /// Takes requests from `work` and reports their results until there are none and nothing is in
    /// flight. This is the timed loop: it must not allocate, log or lock.
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError>;

    /// Returns the CPU time so far, in nanoseconds, of a helper thread that works for this lane (a
    /// kernel thread or a runtime's); `None` where it is unknown. It is added to the lane's system
    /// time.
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

/// Returns the backend of that name.
///
/// # Errors
/// No backend has that name; the error suggests the nearest one.
pub fn backend(id: &str) -> Result<&'static dyn Backend, Unknown> {
    let found = BACKENDS.iter().find(|b| b.info().id == id);
    found.copied().ok_or_else(|| nearest("backend", id, BACKENDS.iter().map(|b| b.info().id)))
}

/// Returns the backend that does nothing, so that only the measuring loop runs.
pub fn bare_loop() -> &'static dyn Backend {
    &null::Null
}

/// Returns the descriptions of all backends, for planning.
pub fn infos() -> Vec<&'static Info> {
    BACKENDS.iter().map(|b| b.info()).collect()
}

/// Allocates a buffer for `slots` blocks of the job, each rounded up to `align`; filled with random
/// bytes if the job writes.
fn slots_buffer(job: &Job, align: u32, slots: u32, lane: u32) -> Result<Buffer, BackendError> {
    let len = job.block.next_multiple_of(u64::from(align)).saturating_mul(u64::from(slots));
    let size = usize::try_from(len).unwrap_or(usize::MAX);
    let buffer = if job.op == Op::Write {
        Buffer::random(size, access_pattern::mix(u64::from(lane)))
    } else {
        Buffer::new(size)
    };
    buffer.map_err(|error| BackendError::Memory { len, error })
}

/// Returns the block that the first lane of a job with depth 1 writes repeatedly.
///
/// # Errors
/// There is not enough memory.
pub fn written_block(job: &Job) -> std::io::Result<Vec<u8>> {
    let len = usize::try_from(job.block).unwrap_or(usize::MAX);
    Ok(Buffer::random(len, access_pattern::mix(0))?.copied(len))
}

/// Allocates the buffer that reads fill where reads and writes are mixed, so that the data to write
/// stays intact.
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

/// Allocates the single buffer of a synchronous lane.
fn lane_buffer(job: &Job, align: u32, lane: u32) -> Result<Buffer, BackendError> {
    slots_buffer(job, align, 1, lane)
}

/// Notes a buffer on small pages: with it, direct I/O of 2 MiB and more is up to 2.6 times slower.
fn note_small_pages(work: &mut Work, buffer: &Buffer, direct: bool) {
    if direct && buffer.len() >= 2 << 20 && !buffer.huge {
        work.note(Note::SmallPages);
    }
}
