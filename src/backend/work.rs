//! The work of one lane in one trial: hands out requests, takes results, counts, folds and times
//! them.
//!
//! A concrete type: nothing here is called through a pointer, so a lane's loop is one inlined
//! function (design §3.1).
#![allow(unsafe_code)]

mod whole;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::fold::{self, FoldFn, at_offset};
use super::meter::{Meter, Timed};
use super::order::{Order, Share};
use super::shared::{Claimed, Cursor};
use super::{Backend, BackendError, IoFault};
use crate::plan::Job;
use crate::record::Note;
use crate::stats::Histogram;
use crate::sys::clock::Clock;

/// One piece of I/O to submit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub offset: u64,
    pub len: u32,
    pub slot: u32,
    /// Where in the slot's buffer: above 0 only for the rest of a short operation.
    pub at: u32,
    /// It writes; said for lanes that mix reads and writes.
    pub write: bool,
}

/// What a lane has done so far, on a cache line of its own, for the sampler.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Published {
    pub bytes: AtomicU64,
    pub ops: AtomicU64,
    pub syscalls: AtomicU64,
}

/// What the engine gives a lane to do.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    pub share: Share,
    pub passes: u64,
    pub depth: u32,
    /// Whether operations carry bytes; without, every request is 0 bytes long.
    pub moves: bool,
    /// The calls that read and that write, as errors name them.
    pub calls: (&'static str, &'static str),
    pub fold: Option<FoldFn>,
    pub timed: Timed,
    pub clock: Clock,
    pub stop: &'a AtomicBool,
    pub published: &'a Published,
    /// Where the lanes share their blocks: what hands them out; the share is then that of all.
    pub cursor: Option<&'a Cursor>,
}

impl<'a> Assignment<'a> {
    /// What `job` asks of a lane of that backend: one pass over its share, not timed.
    pub fn of(
        backend: &dyn Backend,
        job: &Job,
        share: Share,
        stop: &'a AtomicBool,
        published: &'a Published,
    ) -> Assignment<'a> {
        let info = backend.info();
        Assignment {
            share,
            passes: 1,
            depth: job.depth,
            moves: info.moves_bytes(),
            calls: (info.title, backend.writes_by()),
            fold: job.xor.then(fold::widest),
            timed: Timed::None,
            clock: Clock::best(),
            stop,
            published,
            cursor: None,
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    offset: u64,
    start: u64,
    len: u32,
    at: u32,
    /// Vain tries in a row.
    retries: u32,
    later_pass: bool,
    write: bool,
}

/// What a lane did.
#[derive(Debug, Default)]
pub struct Tally {
    pub bytes: u64,
    pub ops: u64,
    pub syscalls: u64,
    /// XOR of the first pass, and of all later ones together.
    pub folds: [u32; 2],
    /// Passes handed out whole, and operations of the one after.
    pub passes: u64,
    pub rest: u64,
    /// Instead of these two, where the lanes share their blocks.
    pub claimed: Claimed,
    pub histogram: Option<Histogram>,
    /// Operations under way at each wait, added up, and the waits.
    pub flying: (u64, u64),
    pub notes: Vec<Note>,
}

/// The work of one lane in one trial.
pub struct Work<'a> {
    order: Order,
    index: u64,
    /// The end of what may be handed out now: of the pass, or of a claim.
    limit: u64,
    pass: u64,
    /// Claims up to the lane's last one.
    claims: u64,
    /// Alignment - 1 of what the lane asks for; see [`Work::rounds_up`].
    mask: u32,
    slots: Vec<Slot>,
    bytes: u64,
    ops: u64,
    syscalls: u64,
    folds: [u32; 2],
    meter: Meter,
    given: Assignment<'a>,
    error: Option<BackendError>,
    flying: (u64, u64),
    notes: Vec<Note>,
}

impl<'a> Work<'a> {
    pub fn new(given: Assignment<'a>) -> Work<'a> {
        // Where lanes share their blocks each makes a claim, or nothing.
        let least = given
            .cursor
            .map_or_else(|| given.share.quota.saturating_mul(given.passes), Cursor::chunk);
        Work {
            order: given.share.order(0),
            index: 0,
            limit: if given.cursor.is_some() { 0 } else { given.share.quota },
            pass: 0,
            claims: 0,
            mask: 0,
            slots: vec![Slot::default(); given.depth.max(1) as usize],
            bytes: 0,
            ops: 0,
            syscalls: 0,
            folds: [0; 2],
            meter: Meter::new(given.clock, given.timed, least),
            given,
            error: None,
            flying: (0, 0),
            notes: Vec::new(),
        }
    }

    /// The timed window opens: the first latency starts here.
    pub fn begin(&mut self) {
        self.meter.begin();
    }

    /// The part of the span that a pass of the lane visits.
    pub fn reach(&self) -> std::ops::Range<u64> {
        self.given.share.reach()
    }

    pub fn depth(&self) -> u32 {
        self.slots.len() as u32
    }

    /// The next request for a free slot; `None` when the passes are done, the stop flag is up or an
    /// operation failed.
    #[inline(always)]
    pub fn next(&mut self, slot: u32) -> Option<Request> {
        if self.index >= self.limit && !self.more() {
            return None;
        }
        if self.given.stop.load(Relaxed) {
            return None;
        }
        let offset = self.order.block(self.index) * self.given.share.block;
        let len = if self.given.moves { self.given.share.len_at(offset) as u32 } else { 0 };
        let start = self.meter.start(self.index);
        let write = self.given.share.writes(self.pass, self.index);
        self.slots[slot as usize] =
            Slot { offset, start, len, at: 0, retries: 0, later_pass: self.pass > 0, write };
        self.index += 1;
        Some(Request { offset, len, slot, at: 0, write })
    }

    /// The next request for the last of these free slots; the slot stays free when there is none.
    #[inline(always)]
    pub fn fill(&mut self, free: &mut Vec<u32>) -> Option<Request> {
        let request = self.next(*free.last()?)?;
        free.pop();
        Some(request)
    }

    /// What a lane with a depth submits next: the rest of a short operation first. As
    /// `rest.pop().or_else(..)` it would not be inlined, and come through memory: written in
    /// pieces, read as a whole, and stalled.
    #[inline(always)]
    pub fn upcoming(&mut self, free: &mut Vec<u32>, rest: &mut Vec<Request>) -> Option<Request> {
        match rest.pop() {
            None => self.fill(free),
            some => some,
        }
    }

    #[cold]
    #[inline(never)]
    fn more(&mut self) -> bool {
        if self.error.is_some() || self.given.share.quota == 0 {
            return false;
        }
        if let Some(cursor) = self.given.cursor {
            // Who is to stop claims nothing any more.
            return !self.given.stop.load(Relaxed) && self.claim(cursor);
        }
        if self.pass + 1 >= self.given.passes {
            return false;
        }
        self.pass += 1;
        self.meter.moved(self.index, 0);
        self.index = 0;
        self.order = self.given.share.order(self.pass);
        true
    }

    fn claim(&mut self, cursor: &Cursor) -> bool {
        let Some((number, pass, indexes)) = cursor.claim() else { return false };
        if pass != self.pass {
            self.order = self.given.share.order(pass);
        }
        self.meter.moved(self.index, indexes.start);
        (self.claims, self.pass, self.index, self.limit) =
            (number + 1, pass, indexes.start, indexes.end);
        true
    }

    /// Takes a result: bytes or -errno. `None`: the operation is over and its slot is free. `Some`:
    /// submit this rest.
    ///
    /// `data` is where the block's first byte is in memory, for the fold; null where there is none
    /// or it was folded already.
    #[inline(always)]
    pub fn done(
        &mut self,
        slot: u32,
        result: isize,
        syscalls: u32,
        data: *const u8,
    ) -> Option<Request> {
        self.syscalls += u64::from(syscalls);
        let Slot { start, len, at, .. } = self.slots[slot as usize];
        if result != (len - at) as isize {
            return self.odd(slot, result, data);
        }
        self.meter.end(start);
        if !data.is_null() && self.given.fold.is_some() {
            self.fold(slot, data);
        }
        self.bytes += u64::from(len);
        self.ops += 1;
        self.publish();
        None
    }

    /// Folds the slot's block at `data`, whether or not the job asked for the XOR: for lanes whose
    /// work *is* touching the data.
    #[inline(always)]
    pub(super) fn fold(&mut self, slot: u32, data: *const u8) {
        let Slot { offset, len, later_pass, .. } = self.slots[slot as usize];
        let form = self.given.fold.unwrap_or_else(fold::widest);
        // SAFETY: the lane hands in the memory that its operation of `len` bytes just filled or
        // mapped.
        let fold = unsafe { form(data, len as usize) };
        self.folds[usize::from(later_pass)] ^= at_offset(fold, offset);
    }

    #[inline(always)]
    fn publish(&self) {
        self.given.published.bytes.store(self.bytes, Relaxed);
        self.given.published.ops.store(self.ops, Relaxed);
        self.given.published.syscalls.store(self.syscalls, Relaxed);
    }

    /// The lane asks for lengths rounded up to a multiple of `mask` + 1 (direct I/O): what comes
    /// back beyond the block is no fault, and the rest of a short operation begins at such a
    /// multiple again.
    pub fn rounds_up(&mut self, mask: u32) {
        self.mask = mask;
    }

    /// Everything but a whole block: interrupted, short, end of file, failed.
    #[cold]
    #[inline(never)]
    fn odd(&mut self, slot: u32, result: isize, data: *const u8) -> Option<Request> {
        let mask = self.mask;
        let entry = &mut self.slots[slot as usize];
        let left = entry.len - entry.at;
        let most = (u64::from(left) + u64::from(mask)) & !u64::from(mask);
        match result {
            1.. if (result as u64) < u64::from(left) => {
                let at = (entry.at + result as u32) & !mask;
                // Less than the unit of direct I/O comes only at the end of the file.
                if at == entry.at {
                    return self
                        .fail(slot, IoFault::Short { came: result as u64, ends_here: None });
                }
                entry.at = at;
                entry.retries = 0;
            }
            1.. if result as u64 <= most => return self.done(slot, left as isize, 0, data),
            0 if entry.write => return self.fail(slot, IoFault::Unwritten),
            0 => return self.fail(slot, IoFault::Short { came: 0, ends_here: None }),
            _ if [-libc::EINTR as isize, -libc::EAGAIN as isize].contains(&result)
                && entry.retries < MOST_RETRIES =>
            {
                entry.retries += 1
            }
            ..0 => return self.fail(slot, IoFault::Errno(result.wrapping_neg() as i32)),
            _ => return self.fail(slot, IoFault::TooMuch(result as u64)),
        }
        let Slot { offset, len, at, write, .. } = self.slots[slot as usize];
        Some(Request { offset: offset + u64::from(at), len: len - at, slot, at, write })
    }

    fn fail(&mut self, slot: u32, fault: IoFault) -> Option<Request> {
        let Slot { offset, len, at, write, .. } = self.slots[slot as usize];
        let (offset, len) = (offset + u64::from(at), len - at);
        let (reads, writes) = self.given.calls;
        self.error.get_or_insert(BackendError::Io {
            call: if write { writes } else { reads },
            offset,
            len,
            fault,
        });
        // No more requests: the lane drains what is under way and ends.
        self.index = self.limit;
        None
    }

    /// A failure outside any operation: no more requests are handed out.
    pub fn abort(&mut self, error: BackendError) {
        self.error.get_or_insert(error);
        self.index = self.limit;
    }

    /// System calls that belong to no single operation (a ring's wait, stdio's own reads).
    pub fn add_syscalls(&mut self, calls: u64) {
        self.syscalls += calls;
        self.publish();
    }

    /// A lane with a depth tells how many operations were under way when it waited: added up, and
    /// the waits.
    #[inline(always)]
    pub fn flew(&mut self, operations: u64, waits: u64) {
        self.flying.0 += operations;
        self.flying.1 += waits;
    }

    /// A circumstance worth telling beside the result.
    pub fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// How the work ended; the last word of every lane's `run`.
    pub fn finish(&mut self) -> Result<(), BackendError> {
        self.error.take().map_or(Ok(()), Err)
    }

    pub fn tally(self) -> Tally {
        let whole = self.index >= self.limit;
        let (passes, rest) = if whole { (self.pass + 1, 0) } else { (self.pass, self.index) };
        let shared = self.given.cursor.is_some();
        Tally {
            bytes: self.bytes,
            ops: self.ops,
            syscalls: self.syscalls,
            folds: self.folds,
            passes: if shared { 0 } else { passes },
            rest: if shared { 0 } else { rest },
            claimed: Claimed { claims: self.claims, pass: self.pass, left: self.index..self.limit },
            histogram: (self.given.timed != Timed::None).then_some(self.meter.histogram),
            flying: self.flying,
            notes: self.notes,
        }
    }
}

/// An interrupted or busy call is made again this often before it counts as failed.
const MOST_RETRIES: u32 = 1000;
