//! The work of one lane in one trial: hands out requests, and counts, folds and times their
//! results.
//!
//! A concrete type, without dynamic dispatch, so that a lane's loop is inlined into one function.
#![allow(unsafe_code)]

mod fast_path;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::access_pattern::{Order, Share};
use super::claims::{Claimed, Cursor};
use super::fold::{FoldFn, at_offset};
use super::lane_log::{LaneLog, LogWriter, Times};
use super::latencies::Latencies;
use super::meter::{Meter, Timed};
use super::pace::{LanePace, LanePaced, Limit, Pacer, Pending};
pub use super::published::Published;
use super::written::{LaneBuffer, Written};
use super::{BackendError, Commits, IoFault};
use crate::record::{LogEntry, Note};
use crate::stats::Histogram;
use crate::sys::clock::Clock;

/// One piece of I/O to submit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Offset in the file.
    pub offset: u64,
    pub len: u32,
    pub slot: u32,
    /// Offset in the slot's buffer: above 0 for the remainder of a short operation, and where a
    /// lane writes blocks that differ.
    pub at: u32,
    /// Whether it writes; only lanes that mix reads and writes need it.
    pub write: bool,
}

/// The engine's assignment to a lane.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    pub share: Share,
    pub passes: u64,
    pub depth: u32,
    /// Whether operations move data; if not, every request is 0 bytes long.
    pub moves: bool,
    /// The names of the calls that read and write, for error messages.
    pub calls: (&'static str, &'static str),
    pub fold: Option<FoldFn>,
    pub timed: Timed,
    pub clock: Clock,
    pub stop: &'a AtomicBool,
    pub published: &'a Published,
    /// Hands out the blocks where lanes share them; the share is then that of all lanes.
    pub cursor: Option<&'a Cursor>,
    /// Where the lane logs its latencies over time; `None` where nothing is timed.
    pub log: Option<LaneLog<'a>>,
    pub pace: Option<LanePace<'a>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct RequestSlot {
    offset: u64,
    start: u64,
    len: u32,
    at: u32,
    /// Offset of its block in the slot's buffer.
    place: u32,
    /// Consecutive retries.
    retries: u32,
    later_pass: bool,
    write: bool,
}

/// The result of a lane.
#[derive(Debug, Default)]
pub struct Tally {
    pub bytes: u64,
    pub ops: u64,
    pub syscalls: u64,
    /// XOR of the first pass, and of all later ones together.
    pub folds: [u32; 2],
    /// Complete passes handed out, and operations of the one after.
    pub passes: u64,
    pub rest: u64,
    /// Replaces these two where the lanes share their blocks.
    pub claimed: Claimed,
    pub histogram: Option<Histogram>,
    /// The end of its log, which has not gone through the ring.
    pub log_end: Option<LogEntry>,
    /// Those made by calls that follow writes.
    pub commits: Option<Box<Commits>>,
    /// Operations in flight summed over the waits, and the number of waits.
    pub in_flight: (u64, u64),
    /// How long its turns to other files of a list took, nanoseconds.
    pub turn_nanos: u64,
    /// About how long the stamps of its blocks took, nanoseconds.
    pub stamp_nanos: u64,
    /// How its pace was kept.
    pub paced: Option<Box<LanePaced>>,
    pub notes: Vec<Note>,
}

/// The work of one lane in one trial.
pub struct Work<'a> {
    order: Order,
    index: u64,
    /// The end of the indexes to hand out now: that of the pass, or of a claim.
    limit: u64,
    pass: u64,
    /// The operations of a pass, and in it of the files of a list before the present one.
    per_pass: u64,
    earlier: u64,
    /// Ticks of the turns to other files.
    turned: u64,
    /// The number of the lane's last claim, plus 1.
    claims: u64,
    /// Alignment - 1 of the lane's requests; see [`Work::set_alignment_mask`].
    mask: u32,
    slots: Vec<RequestSlot>,
    bytes: u64,
    ops: u64,
    syscalls: u64,
    folds: [u32; 2],
    meter: Meter<'a>,
    assignment: Assignment<'a>,
    /// Prepares each block to write, where blocks differ.
    written: Option<Written>,
    error: Option<BackendError>,
    in_flight: (u64, u64),
    notes: Vec<Note>,
    commits: Option<Box<Commits>>,
    pacer: Option<Box<Pacer<'a>>>,
}

impl<'a> Work<'a> {
    pub fn new(assignment: Assignment<'a>) -> Work<'a> {
        // With shared blocks, a lane that works at all makes one claim.
        let least = assignment.cursor.map_or_else(
            || assignment.share.quota.saturating_mul(assignment.passes),
            Cursor::chunk,
        );
        let mut meter = Meter::new(assignment.clock, assignment.timed, least);
        let mut pacer = assignment.pace.map(|pace| {
            let (depth, clock) = (assignment.depth, assignment.clock);
            Box::new(Pacer::new(&pace.spec, depth, pace.spins, clock))
        });
        if let Some(log) = assignment.log {
            let responds = pacer.as_mut().is_some_and(|pacer| pacer.log_to(log));
            let times = if responds { Times::Service } else { Times::Latency };
            meter.log_to(LogWriter::new(log, times, Some(assignment.published)));
        }
        Work {
            order: assignment.share.order(0),
            index: 0,
            limit: if assignment.cursor.is_some() { 0 } else { assignment.share.quota },
            pass: 0,
            per_pass: assignment.share.quota,
            earlier: 0,
            turned: 0,
            claims: 0,
            mask: 0,
            slots: vec![RequestSlot::default(); assignment.depth.max(1) as usize],
            bytes: 0,
            ops: 0,
            syscalls: 0,
            folds: [0; 2],
            meter,
            pacer,
            assignment,
            written: None,
            error: None,
            in_flight: (0, 0),
            notes: Vec::new(),
            commits: None,
        }
    }

    /// Writes the blocks of `buffer`, which outlives the work, in turn if they differ.
    pub(super) fn write_from(&mut self, buffer: &LaneBuffer) {
        self.written = buffer.written(self.assignment.share.seed);
    }

    /// Returns whether the blocks to write differ, so that [`Work::next`] prepares each.
    pub(super) fn varies(&self) -> bool {
        self.written.is_some()
    }

    /// Returns whether the lane keeps a pace, so that [`Work::next`] waits.
    #[inline(always)]
    pub(super) fn is_paced(&self) -> bool {
        self.pacer.is_some()
    }

    /// Opens the timed window: the first latency starts here.
    pub fn begin(&mut self) {
        self.meter.begin();
        if let (Some(pacer), Some(pace)) = (&mut self.pacer, &self.assignment.pace) {
            pacer.begin(pace, &self.assignment.clock);
        }
    }

    /// Turns to another file of a list: to a share of it in a pass, after `earlier` operations of
    /// that pass. Returns false if the lane ends: it was stopped, or an operation has failed.
    pub fn turn_to(&mut self, share: Share, pass: u64, earlier: u64) -> bool {
        if self.error.is_some() || self.assignment.stop.load(Relaxed) {
            return false;
        }
        self.meter.renumber(self.index, 0);
        (self.index, self.limit, self.pass, self.earlier) = (0, share.quota, pass, earlier);
        (self.order, self.assignment.share) = (share.order(pass), share);
        // The next pass begins with the first file.
        self.assignment.passes = pass + 1;
        true
    }

    /// Returns the time of the clock of latencies.
    pub fn now(&self) -> u64 {
        self.assignment.clock.now()
    }

    /// Ends the turn to another file, which began at a reading of the clock: it is part of the
    /// trial, and of no latency.
    pub fn end_turn(&mut self, began: u64) {
        let now = self.now();
        self.turned += now.saturating_sub(began);
        self.meter.restart(now);
    }

    /// Returns when its pace began and ended on CLOCK_MONOTONIC, nanoseconds; `None` without a
    /// rate.
    pub fn window(&self) -> Option<(u64, u64)> {
        self.pacer.as_ref()?.window()
    }

    /// Waits until the pace ends, after the last operation.
    pub fn rest(&mut self) {
        if let Some(pacer) = &mut self.pacer {
            pacer.rest(&self.assignment.clock, self.assignment.stop);
        }
    }

    /// Returns the byte range that a pass of the lane visits.
    pub fn reach(&self) -> std::ops::Range<u64> {
        self.assignment.share.reach()
    }

    /// Returns the number of slots.
    pub fn depth(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Returns the next request for a free slot; `None` once the passes are done, the stop flag is
    /// set or an operation has failed.
    #[inline(always)]
    pub fn next(&mut self, slot: u32) -> Option<Request> {
        if self.index >= self.limit && !self.next_range() {
            return None;
        }
        if self.assignment.stop.load(Relaxed) {
            return None;
        }
        let offset = self.order.offset(self.index);
        let len =
            if self.assignment.moves { self.assignment.share.len_at(offset) as u32 } else { 0 };
        if self.is_paced() {
            self.wait_for_start(slot)?;
        }
        let start = self.meter.start(self.index);
        let write = self.assignment.share.writes(self.pass, self.index);
        let place = match &mut self.written {
            Some(written) if write => written.prepare(slot, len, offset, self.pass),
            _ => 0,
        };
        let later_pass = self.pass > 0;
        self.slots[slot as usize] =
            RequestSlot { offset, start, len, at: 0, place, retries: 0, later_pass, write };
        self.index += 1;
        Some(Request { offset, len, slot, at: place, write })
    }

    /// Waits until the pace starts the next operation, which is in this slot.
    #[inline(always)]
    fn wait_for_start(&mut self, slot: u32) -> Option<()> {
        let pacer = self.pacer.as_deref_mut()?;
        let (clock, stop) = (&self.assignment.clock, self.assignment.stop);
        let start = pacer.wait(clock, self.meter.last(), stop)?;
        self.meter.restart(start);
        pacer.take(slot, start);
        Some(())
    }

    /// Returns whether the pace lets a lane with a depth start an operation.
    #[inline(never)]
    fn is_due(&mut self) -> bool {
        let clock = &self.assignment.clock;
        let Some(pacer) = &mut self.pacer else { return true };
        pacer.is_ready(clock, clock.now()) == Pending::Now
    }

    /// Waits until the next operation of a lane with nothing in flight is due; false if it has none
    /// left, or keeps no pace.
    pub fn wait_pending(&mut self) -> bool {
        if self.pacer.is_none() || self.index >= self.limit && !self.next_range() {
            return false;
        }
        let (clock, stop) = (&self.assignment.clock, self.assignment.stop);
        let waits = self.error.is_none() && !stop.load(Relaxed);
        waits && self.pacer.as_mut().is_some_and(|pacer| pacer.wait_idle(clock, stop))
    }

    /// Returns how long a lane with operations in flight waits for one of them, by its pace.
    #[inline(always)]
    pub(super) fn wait_limit(&mut self, has_free: bool) -> Limit {
        if !self.is_paced() { Limit::Unlimited } else { self.paced_limit(has_free) }
    }

    #[inline(never)]
    fn paced_limit(&mut self, has_free: bool) -> Limit {
        // A lane that is stopped starts nothing, so nothing is due before an operation ends.
        let has_work = !self.assignment.stop.load(Relaxed)
            && self.error.is_none()
            && (self.index < self.limit || self.next_range());
        let clock = &self.assignment.clock;
        match &mut self.pacer {
            Some(pacer) if has_work => pacer.limit(clock, has_free),
            _ => Limit::Unlimited,
        }
    }

    /// Notes that the lane waited as the pace allowed; `in_vain`: no operation had ended.
    #[inline(always)]
    pub(super) fn note_wait(&mut self, limit: Limit, in_vain: bool) {
        if let Some(pacer) = &mut self.pacer {
            pacer.waited(&self.assignment.clock, limit, in_vain);
        }
    }

    /// Returns the next request for the last of these free slots; the slot stays free when there is
    /// none, or none is due.
    #[inline(always)]
    pub fn fill(&mut self, free: &mut Vec<u32>) -> Option<Request> {
        let slot = *free.last()?;
        if self.is_paced() && !self.is_due() {
            return None;
        }
        let request = self.next(slot)?;
        free.pop();
        Some(request)
    }

    /// Returns what a lane with a depth submits next: the remainder of a short operation first.
    /// Written as `rest.pop().or_else(..)` it would not be inlined and the request would go through
    /// memory: written in pieces, read as one, and stalled.
    #[inline(always)]
    pub fn upcoming(&mut self, free: &mut Vec<u32>, rest: &mut Vec<Request>) -> Option<Request> {
        match rest.pop() {
            None => self.fill(free),
            some => some,
        }
    }

    #[cold]
    #[inline(never)]
    fn next_range(&mut self) -> bool {
        if self.error.is_some() || self.assignment.share.quota == 0 {
            return false;
        }
        if let Some(cursor) = self.assignment.cursor {
            // A stopped lane claims nothing more.
            return !self.assignment.stop.load(Relaxed) && self.claim(cursor);
        }
        if self.pass + 1 >= self.assignment.passes {
            return false;
        }
        self.pass += 1;
        self.meter.renumber(self.index, 0);
        self.index = 0;
        self.order = self.assignment.share.order(self.pass);
        true
    }

    fn claim(&mut self, cursor: &Cursor) -> bool {
        let Some((number, pass, indexes)) = cursor.claim() else { return false };
        if pass != self.pass {
            self.order = self.assignment.share.order(pass);
        }
        self.meter.renumber(self.index, indexes.start);
        (self.claims, self.pass, self.index, self.limit) =
            (number + 1, pass, indexes.start, indexes.end);
        true
    }

    /// Takes a result: bytes or -errno. `None`: the operation is complete and its slot is free.
    /// `Some`: the remainder to submit.
    ///
    /// `data` is the address of the block's first byte, for the fold; null without data, or if it
    /// was folded already.
    #[inline(always)]
    pub fn done(
        &mut self,
        slot: u32,
        result: isize,
        syscalls: u32,
        data: *const u8,
    ) -> Option<Request> {
        self.syscalls += u64::from(syscalls);
        let RequestSlot { start, len, at, .. } = self.slots[slot as usize];
        if result != (len - at) as isize {
            return self.handle_partial(slot, result, data);
        }
        let ended = self.meter.end(start);
        if let Some(pacer) = &mut self.pacer {
            let clock = self.assignment.clock;
            if pacer.end(&clock, slot, self.meter.known_end(ended)) {
                self.meter.restart(clock.now());
            }
        }
        if let Some(form) = self.assignment.fold.filter(|_| !data.is_null()) {
            self.fold(slot, data, form);
        }
        self.bytes += u64::from(len);
        self.ops += 1;
        self.publish();
        None
    }

    /// Folds the slot's block at `data` by `form`, whether or not the job requests the XOR: for
    /// lanes whose work *is* touching the data.
    #[inline(always)]
    pub(super) fn fold(&mut self, slot: u32, data: *const u8, form: FoldFn) {
        let RequestSlot { offset, len, place, later_pass, .. } = self.slots[slot as usize];
        // SAFETY: the lane hands in the memory that its operation of `len` bytes just filled,
        // wrote from `place` on, or mapped.
        let fold = unsafe { form(data.add(place as usize), len as usize) };
        self.folds[usize::from(later_pass)] ^= at_offset(fold, offset);
    }

    #[inline(always)]
    fn publish(&self) {
        self.assignment.published.bytes.store(self.bytes, Relaxed);
        self.assignment.published.ops.store(self.ops, Relaxed);
        self.assignment.published.syscalls.store(self.syscalls, Relaxed);
    }

    /// Sets the alignment of the lane's requests, which it rounds up to a multiple of `mask` + 1
    /// (direct I/O): bytes beyond the block are not a fault, and the remainder of a short operation
    /// begins at such a multiple.
    pub fn set_alignment_mask(&mut self, mask: u32) {
        self.mask = mask;
    }

    /// Handles any other result than a full block: interrupted, short, end of file, failed.
    #[cold]
    #[inline(never)]
    fn handle_partial(&mut self, slot: u32, result: isize, data: *const u8) -> Option<Request> {
        let mask = self.mask;
        let entry = &mut self.slots[slot as usize];
        let left = entry.len - entry.at;
        let most = (u64::from(left) + u64::from(mask)) & !u64::from(mask);
        match result {
            1.. if (result as u64) < u64::from(left) => {
                let at = (entry.at + result as u32) & !mask;
                // Less than the direct I/O unit is returned only at the end of the file.
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
                && entry.retries < MAX_RETRIES =>
            {
                entry.retries += 1
            }
            ..0 => return self.fail(slot, IoFault::Errno(result.wrapping_neg() as i32)),
            _ => return self.fail(slot, IoFault::TooMuch(result as u64)),
        }
        let RequestSlot { offset, len, at, place, write, .. } = self.slots[slot as usize];
        let offset = offset + u64::from(at);
        Some(Request { offset, len: len - at, slot, at: place + at, write })
    }

    fn fail(&mut self, slot: u32, fault: IoFault) -> Option<Request> {
        let RequestSlot { offset, len, at, write, .. } = self.slots[slot as usize];
        let (offset, len) = (offset + u64::from(at), len - at);
        let (reads, writes) = self.assignment.calls;
        self.error.get_or_insert(BackendError::Io {
            call: if write { writes } else { reads },
            offset,
            len,
            fault,
        });
        // No more requests: the lane drains what is in flight and ends.
        self.index = self.limit;
        None
    }

    /// Records a failure outside any operation; no more requests are handed out.
    pub fn abort(&mut self, error: BackendError) {
        self.error.get_or_insert(error);
        self.index = self.limit;
    }

    /// Adds system calls that belong to no single operation (a ring's wait, stdio's own reads).
    pub fn add_syscalls(&mut self, calls: u64) {
        self.syscalls += calls;
        self.publish();
    }

    /// Records the operations in flight at waits: their sum, and the number of waits.
    #[inline(always)]
    pub fn record_in_flight(&mut self, operations: u64, waits: u64) {
        self.in_flight.0 += operations;
        self.in_flight.1 += waits;
    }

    /// Leaves the timing of operations to the commits of the lane, where each is one and all are
    /// timed by chained readings: one reading of the clock less. Returns where they record it.
    pub(super) fn time_by_commits(&mut self) -> Option<Latencies<'a>> {
        self.meter.hand_over()
    }

    /// Sets the commits of the lane, and the latencies that they recorded: their own.
    pub(super) fn set_commits(&mut self, commits: Box<Commits>, latencies: Option<Latencies<'a>>) {
        self.commits = Some(commits);
        latencies.into_iter().for_each(|latencies| self.meter.take_back(latencies));
    }

    /// Adds a note to the result, once.
    pub fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns how the work ended; called last in every lane's `run`.
    pub fn finish(&mut self) -> Result<(), BackendError> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Returns the results of the lane.
    pub fn tally(self) -> Tally {
        let done = self.earlier + self.index;
        let complete = done >= self.per_pass;
        let (passes, rest) = if complete { (self.pass + 1, 0) } else { (self.pass, done) };
        let shared = self.assignment.cursor.is_some();
        let by_commits = self.meter.is_handed_over();
        let (times, log_end) = self.meter.finish();
        let mut commits = self.commits;
        if let Some(commits) = commits.as_mut().filter(|_| by_commits) {
            commits.total = times.clone();
        }
        let paced = self.pacer.map(|pacer| pacer.finish(&self.assignment.clock));
        let mut notes = self.notes;
        let jumped = paced.as_ref().map(|paced| paced.jumped).filter(|nanos| *nanos > 0);
        notes.extend(jumped.map(Note::ClockJumped));
        Tally {
            bytes: self.bytes,
            ops: self.ops,
            syscalls: self.syscalls,
            folds: self.folds,
            passes: if shared { 0 } else { passes },
            rest: if shared { 0 } else { rest },
            claimed: Claimed { claims: self.claims, pass: self.pass, left: self.index..self.limit },
            histogram: (self.assignment.timed != Timed::None).then_some(times),
            log_end,
            commits,
            in_flight: self.in_flight,
            turn_nanos: self.assignment.clock.nanos(0, self.turned),
            stamp_nanos: self.written.as_ref().map_or(0, Written::stamp_nanos),
            paced: paced.map(Box::new),
            notes,
        }
    }
}

/// An interrupted or busy call is retried this often before it counts as failed.
const MAX_RETRIES: u32 = 1000;
