//! The buffers of lanes.

use super::error::BackendError;
use super::work::Work;
use super::written::{LaneBuffer, Ring, WrittenData};
use crate::plan::{Job, Op};
use crate::record::Note;
use crate::stats::random::mix;
use crate::sys::buffer::Buffer;

/// Allocates a buffer for `slots` blocks of the job, each rounded up to `align`. If the job writes
/// it is filled with `data`.
pub(super) fn slots_buffer(
    job: &Job,
    align: u32,
    slots: u32,
    lane: u32,
    data: WrittenData,
) -> Result<LaneBuffer, BackendError> {
    let stride = job.block.next_multiple_of(u64::from(align));
    let seed = mix(u64::from(lane));
    let writes = job.op == Op::Write;
    if let Some(ring) = Ring::new(job.block, stride, slots, data).filter(|_| writes) {
        let mut buffer = allocate(job, ring.len() as u64)?;
        ring.fill(seed, &mut buffer);
        return Ok(LaneBuffer { buffer, ring: Some(ring) });
    }
    let buffer = allocate(job, stride.saturating_mul(u64::from(slots)))?;
    Ok(LaneBuffer { buffer: if writes { buffer.filled(seed) } else { buffer }, ring: None })
}

fn allocate(job: &Job, len: u64) -> Result<Buffer, BackendError> {
    let size = usize::try_from(len).unwrap_or(usize::MAX);
    let buffer = if job.direct { Buffer::for_direct(size) } else { Buffer::new(size) };
    buffer.map_err(|error| BackendError::Memory { len, error })
}

/// Returns the block that a lane of a job with depth 1 writes repeatedly.
///
/// # Errors
/// There is not enough memory.
pub fn written_block(job: &Job, lane: u32) -> std::io::Result<Vec<u8>> {
    let len = usize::try_from(job.block).unwrap_or(usize::MAX);
    Ok(Buffer::random(len, mix(lane.into()))?.to_vec(len))
}

/// Allocates the buffer that reads fill where reads and writes are mixed, so that the data to write
/// stays intact.
pub(super) fn reading_buffer(
    job: &Job,
    align: u32,
    slots: u32,
) -> Result<Option<Buffer>, BackendError> {
    let stride = job.block.next_multiple_of(u64::from(align));
    job.mix.map(|_| allocate(job, stride.saturating_mul(u64::from(slots)))).transpose()
}

/// Allocates the single buffer of a synchronous lane.
pub(super) fn lane_buffer(
    job: &Job,
    align: u32,
    lane: u32,
    data: WrittenData,
) -> Result<LaneBuffer, BackendError> {
    slots_buffer(job, align, 1, lane, data)
}

/// Notes a large buffer on small pages: direct I/O with it can take three times as long.
pub(super) fn note_small_pages(work: &mut Work, buffer: &Buffer, direct: bool) {
    if direct && buffer.should_be_huge() && !buffer.huge {
        work.note(Note::SmallPages);
    }
}
