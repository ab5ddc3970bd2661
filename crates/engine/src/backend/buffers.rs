//! The buffers of lanes.

use super::access_pattern;
use super::error::BackendError;
use super::work::Work;
use crate::plan::{Job, Op};
use crate::record::Note;
use crate::sys::buffer::Buffer;

/// Allocates a buffer for `slots` blocks of the job, each rounded up to `align`; filled with random
/// bytes if the job writes.
pub(super) fn slots_buffer(
    job: &Job,
    align: u32,
    slots: u32,
    lane: u32,
) -> Result<Buffer, BackendError> {
    let len = job.block.next_multiple_of(u64::from(align)).saturating_mul(u64::from(slots));
    let size = usize::try_from(len).unwrap_or(usize::MAX);
    let buffer = if job.direct { Buffer::for_direct(size) } else { Buffer::new(size) };
    let buffer = buffer.map_err(|error| BackendError::Memory { len, error })?;
    let writes = job.op == Op::Write;
    Ok(if writes { buffer.filled(access_pattern::mix(u64::from(lane))) } else { buffer })
}

/// Returns the block that the first lane of a job with depth 1 writes repeatedly.
///
/// # Errors
/// There is not enough memory.
pub fn written_block(job: &Job) -> std::io::Result<Vec<u8>> {
    let len = usize::try_from(job.block).unwrap_or(usize::MAX);
    Ok(Buffer::random(len, access_pattern::mix(0))?.to_vec(len))
}

/// Allocates the buffer that reads fill where reads and writes are mixed, so that the data to write
/// stays intact.
pub(super) fn reading_buffer(
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
pub(super) fn lane_buffer(job: &Job, align: u32, lane: u32) -> Result<Buffer, BackendError> {
    slots_buffer(job, align, 1, lane)
}

/// Notes a large buffer on small pages: direct I/O with it is up to 2.6 times slower.
pub(super) fn note_small_pages(work: &mut Work, buffer: &Buffer, direct: bool) {
    if direct && buffer.should_be_huge() && !buffer.huge {
        work.note(Note::SmallPages);
    }
}
