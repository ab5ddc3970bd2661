//! The loops of special lanes: with one operation at a time, and with writes that are made durable.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::os::fd::AsRawFd;

use io_uring::squeue::{Entry, Flags};
use io_uring::{opcode, types};

use super::entries::EntryKind;
use super::{BackendError, MAX_EMPTY_WAITS, UringLane, is_transient, queue_full, ring_error};
use crate::backend::commit::QueuedCommits;
use crate::backend::drive::{self, Operation};
use crate::backend::pace::Limit;
use crate::backend::work::{Request, Work};

/// A ring with one operation at a time, in the loop of the synchronous backends: there the work
/// between two calls matters most, and the kernel has just evicted it from the CPU caches.
pub(super) struct DepthOneLane<'a, K, const FILL: bool> {
    lane: &'a mut UringLane,
    kind: PhantomData<K>,
    waits: u64,
    /// The error of the ring itself.
    failed: Option<BackendError>,
}

impl<K: EntryKind, const FILL: bool> DepthOneLane<'_, K, FILL> {
    #[inline(always)]
    pub fn run(lane: &mut UringLane, work: &mut Work) -> Result<(), BackendError> {
        let data = lane.buffer.address(0).cast_const();
        let mut depth_one =
            DepthOneLane::<K, FILL> { lane, kind: PhantomData, waits: 0, failed: None };
        let ended = drive::run_operations(work, data, &mut depth_one);
        work.record_in_flight(depth_one.waits, depth_one.waits);
        depth_one.failed.map_or(ended, Err)
    }

    /// Records why an operation cannot be submitted, and returns its result.
    #[cold]
    #[inline(never)]
    fn fail(&mut self, why: BackendError) -> isize {
        self.failed = Some(why);
        -(libc::EIO as isize)
    }
}

impl<K: EntryKind, const FILL: bool> Operation for &mut DepthOneLane<'_, K, FILL> {
    #[inline(always)]
    fn make(&mut self, request: Request) -> (isize, u32) {
        // SAFETY: this is the only handle on the queue while it lives.
        if !self.lane.push::<K>(&mut unsafe { self.lane.ring.submission_shared() }, request) {
            return (self.fail(queue_full()), 0);
        }
        self.lane.in_flight = 1;
        let (mut queued, mut calls) = (1, 0);
        loop {
            // SAFETY: the entry's buffer and file live until nothing is in flight (see the lane's
            // `drop`).
            let entered = unsafe { self.lane.entrance.enter::<FILL>(queued, 1) };
            // A call that submits more than is queued does not wait.
            if entered > 0 {
                queued = 0;
            }
            calls += 1;
            self.waits += 1;
            if let Some(done) = self.lane.ring.completion().next() {
                self.lane.in_flight = 0;
                return (done.result() as isize, calls);
            }
            if entered < 0 && (!is_transient(entered) || calls > MAX_EMPTY_WAITS) {
                return (self.fail(ring_error(entered)), calls);
            }
        }
    }
}

/// Marks the completion of a sync.
const SYNC: u64 = 1 << 32;

/// Runs all writes of the lane: with a linked sync after each, or a sync once N of them are
/// complete.
pub(super) fn run_commits<const FILL: bool>(
    lane: &mut UringLane,
    work: &mut Work,
    commits: &mut QueuedCommits,
) -> Result<(), BackendError> {
    let mut free: Vec<u32> = (0..work.depth()).rev().collect();
    let mut rest: Vec<Request> = Vec::with_capacity(free.len());
    // Slots whose sync is to be submitted.
    let mut due: Vec<u32> = Vec::with_capacity(free.len());
    let mut done: Vec<(u64, i32)> = Vec::with_capacity(2 * free.len());
    let mut empty_waits = 0;
    loop {
        if !queue(lane, work, commits, (&mut free, &mut rest, &mut due)) {
            work.abort(queue_full());
        }
        if lane.in_flight == 0 {
            if work.wait_pending() {
                continue;
            }
            return work.finish();
        }
        work.record_in_flight(lane.in_flight.into(), 1);
        let (waited, limit) = lane.wait::<FILL>(work, !free.is_empty());
        match waited {
            calls @ 0.. => work.add_syscalls(calls as u64),
            passing if is_transient(passing) && empty_waits < MAX_EMPTY_WAITS => {
                work.add_syscalls(1);
            }
            refused => {
                work.abort(ring_error(refused));
                return work.finish();
            }
        }
        done.extend(lane.ring.completion().map(|done| (done.user_data(), done.result())));
        lane.in_flight -= done.len() as u32;
        let in_time = waited >= 0 && limit != Limit::Unlimited;
        empty_waits = if done.is_empty() && !in_time { empty_waits + 1 } else { 0 };
        for (data, result) in done.drain(..) {
            let (slot, result) = (data as u32, result as isize);
            let sync = data & SYNC > 0;
            let result = if commits.is_single() {
                let Some(result) = commits.end_linked(slot, sync, result) else { continue };
                result
            } else if sync {
                commits.end_sync(slot, result)
            } else if commits.end_write(slot, result) {
                due.push(slot);
                continue;
            } else {
                result
            };
            let data = lane.buffer.address(slot as usize * lane.stride);
            match work.done(slot, result, 0, data) {
                None => free.push(slot),
                Some(request) => rest.push(request),
            }
        }
    }
}

/// Queues the syncs that are due, and writes while there is room; false when the queue is full,
/// which is unreachable: it has two entries per slot.
fn queue(
    lane: &mut UringLane,
    work: &mut Work,
    commits: &mut QueuedCommits,
    (free, rest, due): (&mut Vec<u32>, &mut Vec<Request>, &mut Vec<u32>),
) -> bool {
    for slot in due.drain(..) {
        if !push(lane, &sync_entry(lane, commits.is_whole(), slot)) {
            return false;
        }
    }
    while let Some(request) = work.upcoming(free, rest) {
        commits.begin(request);
        let write = lane.entry(request, lane.buffer_part(request));
        let pushed = if commits.is_single() {
            push(lane, &write.flags(Flags::IO_LINK))
                && push(lane, &sync_entry(lane, commits.is_whole(), request.slot))
        } else {
            push(lane, &write)
        };
        if !pushed {
            return false;
        }
    }
    true
}

fn sync_entry(lane: &UringLane, whole: bool, slot: u32) -> Entry {
    let flags = if whole { types::FsyncFlags::empty() } else { types::FsyncFlags::DATASYNC };
    let entry = if lane.fixed_file {
        opcode::Fsync::new(types::Fixed(0)).flags(flags).build()
    } else {
        opcode::Fsync::new(types::Fd(lane.file.as_raw_fd())).flags(flags).build()
    };
    entry.user_data(SYNC | u64::from(slot))
}

fn push(lane: &mut UringLane, entry: &Entry) -> bool {
    // SAFETY: the entry's buffer and file live until nothing is in flight (see `drop`).
    let pushed = unsafe { lane.ring.submission().push(entry) }.is_ok();
    lane.in_flight += u32::from(pushed);
    pushed
}
