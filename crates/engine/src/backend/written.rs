//! The blocks that a lane writes: the same one again and again, or, where the data is to be as
//! compressible and repetitive as was asked, blocks that differ.
//!
//! Such a lane has a ring of blocks for each slot, filled before the trial, and writes them in
//! turn. What is to be unique gets a stamp of 8 bytes in each 4 KiB just before it is written; what
//! is to repeat is written as it was the turn before.
#![allow(unsafe_code)]

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::sys::buffer::Buffer;
use crate::sys::content::Content;
use crate::sys::random::mix;

/// Blocks of this many bytes in all are written before one of them is again: more than file systems
/// compress together.
const RING: u64 = 1 << 20;
/// Each piece of this many bytes is stamped: deduplication compares no smaller ones.
const PIECE: usize = 4096;
const STAMP: usize = 8;

/// The layout of a lane's rings in its buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ring {
    pub block: usize,
    /// Bytes from one slot's block to the next.
    pub stride: usize,
    pub slots: u32,
    /// Bytes from one turn of all slots to the next.
    pub step: usize,
    pub turns: u32,
    content: Content,
}

impl Ring {
    /// Returns the rings of a lane with `slots` blocks, `stride` bytes apart. Blocks that all
    /// repeat need only one turn.
    pub fn new(block: u64, stride: u64, slots: u32, content: Content) -> Option<Ring> {
        // The kernel copies faster from the start of a page.
        let align = block.checked_next_power_of_two()?.clamp(64, PIECE as u64);
        let step = stride.checked_mul(slots.into())?.checked_next_multiple_of(align)?;
        let turns = if content.dedupe() == 100 { 1 } else { (RING / step.max(1)).max(1) };
        Some(Ring {
            block: usize::try_from(block).ok()?,
            stride: usize::try_from(stride).ok()?,
            slots,
            step: usize::try_from(step).ok()?,
            turns: turns as u32,
            content,
        })
    }

    /// Returns the bytes of all rings; `usize::MAX` where there is not so much memory.
    pub fn len(&self) -> usize {
        self.step.saturating_mul(self.turns as usize)
    }

    /// Fills the blocks in a buffer of [`Ring::len`] bytes.
    pub fn fill(&self, seed: u64, buffer: &mut Buffer) {
        let apart = self.block.next_multiple_of(PIECE) as u64;
        let bytes = buffer.bytes_mut();
        let mut offset = 0;
        for turn in 0..self.turns as usize {
            for slot in 0..self.slots as usize {
                let at = turn * self.step + slot * self.stride;
                self.content.fill_block(seed, offset, &mut bytes[at..at + self.block]);
                offset += apart;
            }
        }
    }
}

/// The buffer of a lane, with the layout of its rings if it writes blocks that differ.
#[derive(Debug)]
pub(super) struct LaneBuffer {
    pub buffer: Buffer,
    pub ring: Option<Ring>,
}

impl Deref for LaneBuffer {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        &self.buffer
    }
}

impl LaneBuffer {
    /// Returns what makes each block ready; `None` where one block is written again and again.
    pub fn written(&self, seed: u64) -> Option<Written> {
        // No two lanes and no two trials of a process stamp alike.
        static LANES: AtomicU64 = AtomicU64::new(0);
        let ring = self.ring.filter(|ring| ring.content.dedupe() < 100)?;
        Some(Written {
            start: self.buffer.ptr(),
            ring,
            turns: vec![Turn::default(); ring.slots as usize],
            credit: 0,
            stamp: mix(seed ^ mix(LANES.fetch_add(1, Relaxed))),
        })
    }
}

/// Where a slot is in its ring.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    next: u32,
    /// Each block of the ring was written.
    around: bool,
}

/// The blocks of a lane that differ, as its work hands them out.
#[derive(Debug)]
pub(super) struct Written {
    start: *mut u8,
    ring: Ring,
    turns: Vec<Turn>,
    /// Hundredths of a block that should have repeated and did not yet.
    credit: u64,
    stamp: u64,
}

impl Written {
    /// Makes the next block of a free slot ready, and returns its offset from the slot's first
    /// block.
    #[inline(never)]
    pub fn prepare(&mut self, slot: u32, len: u32) -> u32 {
        let turn = &mut self.turns[slot as usize];
        let at = turn.next as usize * self.ring.step;
        let was_written = turn.around;
        turn.next += 1;
        if turn.next == self.ring.turns {
            (turn.next, turn.around) = (0, true);
        }
        self.credit += u64::from(self.ring.content.dedupe());
        if was_written && self.credit >= 100 {
            self.credit -= 100;
        } else {
            self.stamp_block(slot as usize * self.ring.stride + at, len as usize);
        }
        at as u32
    }

    #[inline(always)]
    fn stamp_block(&mut self, at: usize, len: usize) {
        for piece in (at..at + len).step_by(PIECE) {
            self.stamp = self.stamp.wrapping_add(1);
            let word = mix(self.stamp).to_le_bytes();
            let bytes = STAMP.min(at + len - piece);
            // SAFETY: the block is within the lane's buffer, which outlives its work, and nothing
            // reads it: the slot is free.
            unsafe {
                std::ptr::copy_nonoverlapping(word.as_ptr(), self.start.add(piece), bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests;
