//! The blocks that a lane writes: the same one again and again, or blocks that differ, for data
//! that compresses and repeats as requested or is to be verified.
//!
//! Such a lane has a ring of blocks for each slot, filled before the trial, and writes them in
//! turn. A unique block gets 8 new bytes in each 4 KiB just before it is written, a block to verify
//! a stamp in each 512 bytes; a block that repeats is written unchanged.
#![allow(unsafe_code)]

use std::ops::Deref;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, fence};

use super::stamps::{self, AREAS, Stamps};
use crate::stats::random::mix;
use crate::sys::buffer::Buffer;
use crate::sys::clock::Clock;
use crate::sys::content::Content;

/// The kind of data that a job writes.
#[derive(Debug, Clone, Copy, Default)]
pub struct WrittenData {
    /// Compressibility and repetition; `None` = random, the same block again and again.
    pub content: Option<Content>,
    /// Stamps to verify it by.
    pub stamps: Option<Stamps>,
}

/// Blocks of this many bytes in all are written before one of them is again: more than file systems
/// compress together.
pub(super) const RING: u64 = 1 << 20;
/// Each piece of this many bytes is made unique: deduplication compares no smaller ones.
const PIECE: usize = 4096;
const UNIQUE: usize = 8;

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
    stamps: Option<Stamps>,
}

impl Ring {
    /// Returns the rings of a lane with `slots` blocks, `stride` bytes apart; `None` where it
    /// writes one block again and again. Blocks that all repeat need only one turn.
    pub fn new(block: u64, stride: u64, slots: u32, data: WrittenData) -> Option<Ring> {
        let content = match data {
            WrittenData { stamps: Some(_), content } => content_around_stamps(content),
            WrittenData { content, .. } => content?,
        };
        // The kernel copies faster from the start of a page.
        let align = block.checked_next_power_of_two()?.clamp(64, PIECE as u64);
        let step = stride.checked_mul(slots.into())?.checked_next_multiple_of(align)?;
        let turns = if content.dedupe() == 100 { 1 } else { (RING / step.max(1)).max(1) };
        // A stamp distinguishes at most this many areas.
        let turns = turns.min((AREAS as u64 / u64::from(slots.max(1))).max(1));
        Some(Ring {
            block: usize::try_from(block).ok()?,
            stride: usize::try_from(stride).ok()?,
            slots,
            step: usize::try_from(step).ok()?,
            turns: turns as u32,
            content,
            stamps: data.stamps,
        })
    }

    /// Returns the bytes of all rings; `usize::MAX` on overflow.
    pub fn len(&self) -> usize {
        self.step.saturating_mul(self.turns as usize)
    }

    /// Fills the blocks in a buffer of [`Ring::len`] bytes.
    pub fn fill(&self, seed: u64, buffer: &mut Buffer) {
        let seed = self.stamps.map_or(seed, Stamps::seed);
        let bytes = buffer.bytes_mut();
        let mut area = 0;
        for turn in 0..self.turns as usize {
            for slot in 0..self.slots as usize {
                let at = turn * self.step + slot * self.stride;
                fill_area(self.content, seed, area, &mut bytes[at..at + self.block]);
                area += 1;
            }
        }
    }
}

/// Fills the block of an area of the ring, which is numbered by turn and slot.
pub(super) fn fill_area(content: Content, seed: u64, area: u32, block: &mut [u8]) {
    let apart = block.len().next_multiple_of(PIECE) as u64;
    content.fill_block(seed, u64::from(area) * apart, block);
}

/// Returns the content of blocks that are stamped: a compressor saves the requested share of the
/// whole, although stamps do not compress and each piece costs it 5 bytes more.
pub(super) fn content_around_stamps(content: Option<Content>) -> Content {
    let around = stamps::PIECE - stamps::STAMP - 5;
    let asked = usize::from(content.unwrap_or_default().compressible());
    Content::new((asked * stamps::PIECE).div_ceil(around).min(100) as u8, 0)
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
    /// Returns the state that prepares each block; `None` if one block is written again and again.
    pub fn written(&self, seed: u64) -> Option<Written> {
        // No two lanes and no two trials of a process stamp alike.
        static LANES: AtomicU64 = AtomicU64::new(0);
        let differs = |ring: &Ring| ring.stamps.is_some() || ring.content.dedupe() < 100;
        let ring = self.ring.filter(differs)?;
        Some(Written {
            start: self.buffer.ptr(),
            ring,
            turns: vec![Turn::default(); ring.slots as usize],
            credit: 0,
            unique: mix(seed ^ mix(LANES.fetch_add(1, Relaxed))),
            stamping: Stamping::new(),
        })
    }
}

/// The position of a slot in its ring.
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
    /// Hundredths of a block that should have repeated so far, but did not.
    credit: u64,
    unique: u64,
    stamping: Stamping,
}

impl Written {
    /// Prepares the next block of a free slot, which pass `pass` writes to `offset`; returns its
    /// distance from the slot's first block.
    #[inline(never)]
    pub fn prepare(&mut self, slot: u32, len: u32, offset: u64, pass: u64) -> u32 {
        let turn = &mut self.turns[slot as usize];
        let area = turn.next * self.ring.slots + slot;
        let place = turn.next as usize * self.ring.step;
        let was_written = turn.around;
        turn.next += 1;
        if turn.next == self.ring.turns {
            (turn.next, turn.around) = (0, true);
        }
        let at = slot as usize * self.ring.stride + place;
        if let Some(stamps) = self.ring.stamps {
            // SAFETY: as in `make_unique`.
            let block = unsafe { std::slice::from_raw_parts_mut(self.start.add(at), len as usize) };
            self.stamping.time(|| stamps.mark(block, offset, pass, area));
            return place as u32;
        }
        self.credit += u64::from(self.ring.content.dedupe());
        if was_written && self.credit >= 100 {
            self.credit -= 100;
        } else {
            self.make_unique(at, len as usize);
        }
        place as u32
    }

    #[inline(always)]
    fn make_unique(&mut self, at: usize, len: usize) {
        for piece in (at..at + len).step_by(PIECE) {
            self.unique = self.unique.wrapping_add(1);
            let word = mix(self.unique).to_le_bytes();
            let bytes = UNIQUE.min(at + len - piece);
            // SAFETY: the block is within the lane's buffer, which outlives its work, and nothing
            // reads it: the slot is free.
            unsafe {
                std::ptr::copy_nonoverlapping(word.as_ptr(), self.start.add(piece), bytes);
            }
        }
    }

    /// Estimates the nanoseconds that the stamps of all blocks took.
    pub fn stamp_nanos(&self) -> u64 {
        let Stamping { blocks, timed, nanos, .. } = self.stamping;
        let all = u128::from(nanos) * u128::from(blocks) / u128::from(timed.max(1));
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}

/// The time that stamps take, of one block in [`TIMED`].
#[derive(Debug, Clone, Copy)]
struct Stamping {
    clock: Clock,
    /// Nanoseconds that timing itself takes.
    overhead: u64,
    blocks: u64,
    timed: u64,
    nanos: u64,
}

/// One block in this many is timed.
const TIMED: u64 = 64;

impl Stamping {
    fn new() -> Stamping {
        let mut empty =
            Stamping { clock: Clock::best(), overhead: 0, blocks: 0, timed: 0, nanos: 0 };
        let once = |_| {
            (empty.blocks, empty.nanos) = (0, 0);
            empty.time(|| {});
            empty.nanos
        };
        let overhead = (0..8).map(once).min().unwrap_or(0);
        Stamping { overhead, blocks: 0, timed: 0, nanos: 0, ..empty }
    }

    #[inline(always)]
    fn time(&mut self, stamp: impl FnOnce()) {
        let is_timed = self.blocks.is_multiple_of(TIMED);
        self.blocks += 1;
        if !is_timed {
            return stamp();
        }
        let began = self.clock.now();
        stamp();
        // Until the stores have reached the cache.
        fence(SeqCst);
        let nanos = self.clock.nanos(began, self.clock.now());
        self.nanos += nanos.saturating_sub(self.overhead);
        self.timed += 1;
    }
}

#[cfg(test)]
mod tests;
