//! `uring`: io_uring, with a registered buffer and file where the kernel allows.
#![allow(unsafe_code)]

mod entries;

mod loops;
mod register;
mod ring;

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use io_uring::IoUring;
use io_uring::types::{SubmitArgs, Timespec};

use self::entries::{Any, EntryKind, Nop, ReadFixed};

use self::loops::{DepthOneLane, run_commits};
use self::register::{Registered, RingMemory, register_memory};
use self::ring::{
    NOT_POLLED, build_ring, check_options, check_pace, completions_wanted, entries_per_call,
    has_iopoll, has_nop, has_sqpoll, refusal,
};
use super::access_pattern::Share;
use super::advice;
use super::buffers::{note_small_pages, reading_buffer, slots_buffer};
use super::commit::QueuedCommits;
use super::drive;
use super::pace::Limit;
use super::work::{Published, Request};
use super::written::{LaneBuffer, WrittenData};
use super::{Backend, BackendError, IoFault, Lane, Target, Unsupported, Work};
use crate::catalog;
use crate::plan::{Info, Job, Op, Sync};
use crate::record::Note;
use crate::sys::buffer::Buffer;
use crate::sys::ring::Entrance;
use crate::sys::threads;
use crate::with_fill;

pub struct Uring;

impl Backend for Uring {
    fn info(&self) -> &'static Info {
        &catalog::URING
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)?;
        check_options(job)?;
        let ring = build_ring(job, 1).map_err(|error| Unsupported(refusal(&error)))?;
        check_pace(job, &ring)?;
        if has_iopoll(job) { check_polling(target, job) } else { Ok(()) }
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(UringLane::open(target, job, lane)?))
    }
}

/// Reads the first sector: only a request shows whether the device is polled. Any other error is
/// left to the run, and so is a file without data.
fn check_polling(target: &Target, job: &Job) -> Result<(), Unsupported> {
    let block = u64::from(target.align(job));
    if target.size < block {
        return Ok(());
    }
    let job = Job { block, span: block, ..Job::plain(job.backend.clone(), Op::Read) };
    let job = Job { direct: true, ..job };
    let (stop, published) = (AtomicBool::new(false), Published::default());
    let share = Share::for_lane(&job, 0, 1, 0);
    let ran = UringLane::open(target, &job, 0).and_then(|mut lane| {
        drive::run(&mut lane, &mut Work::new(Uring.assignment(&job, share, &stop, &published)))
    });
    match ran {
        Err(BackendError::Unsupported(why)) => Err(why),
        _ => Ok(()),
    }
}

impl UringLane {
    fn open(target: &Target, job: &Job, lane: u32) -> Result<UringLane, BackendError> {
        let align = target.align(job);
        let file = Rc::new(target.open_advised(job)?);
        let nop = has_nop(job);
        // Requests that move nothing share one byte.
        let (block, slots) = if nop { (1, 1) } else { (job.block, job.depth) };
        let buffer = slots_buffer(
            &Job { block, ..job.clone() },
            align,
            slots,
            lane,
            if nop { WrittenData::default() } else { target.data() },
        )?;
        let into = reading_buffer(job, align, slots)?;
        let commits = QueuedCommits::for_job(job).filter(|_| !nop);
        // A sync needs an entry in addition to its write.
        let entries = if commits.is_some() { job.depth * 2 } else { job.depth };
        let ring = build_ring(job, entries).map_err(|error| Unsupported(refusal(&error)))?;
        let mut lane = UringLane {
            entrance: Entrance::register(ring.as_raw_fd()),
            ring,
            file,
            stride: if nop { 0 } else { block.next_multiple_of(u64::from(align)) as usize },
            mask: align - 1,
            buffer: ManuallyDrop::new(buffer),
            into: ManuallyDrop::new(into),
            in_flight: 0,
            write: job.op == Op::Write,
            nop,
            batch_limit: entries_per_call(job),
            wanted: completions_wanted(job),
            sqpoll: has_sqpoll(job),
            iopoll: has_iopoll(job),
            only_poller: job.threads == 1,
            will_need: job.backend.has(catalog::WILL_NEED.name),
            fixed_file: false,
            registered: Registered::Nothing,
            refused: Vec::new(),
            commits,
            write_flags: if job.sync == Sync::RwfDsync { libc::RWF_DSYNC } else { 0 },
        };
        if !nop {
            lane.register(job.depth)?;
        }
        Ok(lane)
    }
}

struct UringLane {
    /// Dropped before the ring.
    entrance: Entrance,
    ring: IoUring,
    file: Rc<File>,
    /// Freed in `drop`, once nothing writes into it any more.
    buffer: ManuallyDrop<LaneBuffer>,
    /// The buffer that reads fill where reads and writes are mixed; freed like `buffer`.
    into: ManuallyDrop<Option<Buffer>>,
    /// Operations submitted to the ring whose completion has not been seen.
    in_flight: u32,
    /// Bytes from one slot's buffer to the next.
    stride: usize,
    /// Alignment - 1: a shorter last block is requested rounded up with direct I/O, and returns
    /// short.
    mask: u32,
    write: bool,
    /// Entries do nothing: the ring itself is measured.
    nop: bool,
    /// The most entries that one call submits.
    batch_limit: u32,
    /// Number of completions that a call waits for, if at least as many are in flight.
    wanted: u32,
    /// A kernel thread takes the submissions.
    sqpoll: bool,
    /// The device is polled for completions.
    iopoll: bool,
    /// Whether no other lane has a polling thread.
    only_poller: bool,
    will_need: bool,
    fixed_file: bool,
    registered: Registered,
    refused: Vec<String>,
    commits: Option<QueuedCommits>,
    /// RWF_* flags of writes.
    write_flags: i32,
}

impl UringLane {
    fn only_reads(&self) -> bool {
        !self.write && self.into.is_none()
    }

    /// Registers file and memory. A refusal is noted in the result, and the plain operations are
    /// used.
    fn register(&mut self, depth: u32) -> Result<(), BackendError> {
        match self.ring.submitter().register_files(&[self.file.as_raw_fd()]) {
            Ok(()) => self.fixed_file = true,
            // Before Linux 5.11 the polling thread accepts only registered files.
            Err(error) if self.sqpoll && !self.ring.params().is_feature_sqpoll_nonfixed() => {
                return Err(BackendError::Ring {
                    step: "registering the file, which +sqpoll needs before Linux 5.11",
                    error,
                });
            }
            Err(error) => self.refused.push(format!("file: {error}")),
        }
        // Written blocks may be anywhere in the buffer.
        let slots = if self.only_reads() { depth as usize } else { 0 };
        let (buffer, into, stride) = (&**self.buffer, self.into.as_ref(), self.stride);
        // SAFETY: `drop` keeps the buffers until nothing is in flight, for ever if need be.
        match unsafe { register_memory(&self.ring, &RingMemory { buffer, into, slots, stride }) } {
            Ok(registered) => self.registered = registered,
            Err(why) => self.refused.push(why),
        }
        Ok(())
    }

    /// Queues the next operations, up to the limit of one call; returns their number, or `None`
    /// when the queue is full.
    #[inline(always)]
    fn queue<K: EntryKind>(
        &mut self,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
        work: &mut Work,
    ) -> Option<u32> {
        // SAFETY: this is the only handle on the queue while it lives. One handle for all entries:
        // each would load and store the ends of the queue.
        let mut queue = unsafe { self.ring.submission_shared() };
        let mut queued = 0;
        while queued < self.batch_limit {
            let mut push = |request| self.push::<K>(&mut queue, request);
            let added = if rest.is_empty() && !work.varies() && !work.is_paced() {
                work.hand_out(free, self.batch_limit - queued, K::WRITES, push)
            } else {
                let Some(request) = work.upcoming(free, rest) else { break };
                push(request).then_some(1)
            };
            match added {
                Some(0) if free.is_empty() || !work.advance() => break,
                Some(added) => queued += added,
                None => {
                    self.in_flight += queued;
                    return None;
                }
            }
        }
        self.in_flight += queued;
        Some(queued)
    }

    /// Queues all operations there are; submits every full batch at once, except one that fills the
    /// last slot: the call that waits submits it. Completions free their slots, whose memory is
    /// still in the CPU caches.
    #[inline(always)]
    fn queue_all<K: EntryKind, const FILL: bool>(
        &mut self,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
        work: &mut Work,
    ) {
        loop {
            match self.queue::<K>(free, rest, work) {
                None => return work.abort(queue_full()),
                Some(queued) if queued < self.batch_limit => return,
                Some(_) if free.is_empty() && rest.is_empty() => return,
                Some(_) => {}
            }
            work.record_in_flight(self.in_flight.into(), 1);
            match self.enter::<FILL>(0) {
                // Entries that were not taken are submitted with the next call.
                taken if taken >= 0 || is_transient(taken) => {}
                refused => return work.abort(ring_error(refused)),
            }
            self.collect(1, work, free, rest);
        }
    }

    /// Submits the queue and waits for completions, as long as the pace allows if there is a free
    /// slot. Returns the number of system calls, or -errno, and that limit.
    #[inline(always)]
    fn wait<const FILL: bool>(&mut self, work: &mut Work, has_free: bool) -> (isize, Limit) {
        let limit = work.wait_limit(has_free);
        let calls = self.wait_for::<FILL>(limit);
        if work.is_paced() {
            // A polling thread is watched without a call.
            let called = !(self.sqpoll && limit == Limit::Poll);
            work.note_wait(limit, called && self.ring.completion().is_empty());
        }
        (calls, limit)
    }

    /// Waits for no more completions than are in flight, or it would never return.
    #[inline(always)]
    fn wait_for<const FILL: bool>(&mut self, limit: Limit) -> isize {
        let wanted = self.wanted.min(self.in_flight);
        if self.sqpoll
            && !self.ring.submission().need_wakeup()
            && (limit == Limit::Poll || self.ring.completion().len() >= wanted as usize)
        {
            return 0;
        }
        if limit != Limit::Unlimited {
            return self.wait_limited::<FILL>(wanted, limit);
        }
        match self.enter::<FILL>(wanted) {
            0.. => 1,
            refused => refused,
        }
    }

    /// Submits the queue and waits for a limited time; a call that only waited counts as none.
    #[inline(never)]
    fn wait_limited<const FILL: bool>(&mut self, wanted: u32, limit: Limit) -> isize {
        let queued = self.ring.submission().len() as u32;
        let entered = match limit {
            Limit::Nanos(most) if self.sqpoll => {
                let time = Timespec::new().sec(most / 1_000_000_000);
                let time = time.nsec((most % 1_000_000_000) as u32);
                let args = SubmitArgs::new().timespec(&time);
                as_result(self.ring.submitter().submit_with_args(wanted as usize, &args))
            }
            _ if self.sqpoll => as_result(self.ring.submitter().submit()),
            // SAFETY: the entries' buffers and file live until nothing is in flight (see `drop`).
            Limit::Nanos(most) => unsafe {
                self.entrance.enter_until::<FILL>(queued, wanted, most)
            },
            // SAFETY: as above.
            _ => unsafe { self.entrance.poll::<FILL>(queued) },
        };
        match entered {
            refused if refused < 0 && refused != -(libc::ETIME as isize) => refused,
            _ => isize::from(queued > 0 || !self.ring.completion().is_empty()),
        }
    }

    /// Submits the queue and waits for `wanted` completions; returns the number submitted, or
    /// -errno.
    #[inline(always)]
    fn enter<const FILL: bool>(&mut self, wanted: u32) -> isize {
        if self.sqpoll {
            return as_result(self.ring.submit_and_wait(wanted as usize));
        }
        let queued = self.ring.submission().len() as u32;
        // SAFETY: the entries' buffers and file live until nothing is in flight (see `drop`).
        unsafe { self.entrance.enter::<FILL>(queued, wanted) }
    }

    /// Takes every completion, and returns their number. `calls` are the system calls of the wait.
    #[inline(always)]
    fn collect(
        &mut self,
        calls: u32,
        work: &mut Work,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
    ) -> u32 {
        let idle = free.len() + rest.len();
        let (buffer, stride) = (&**self.buffer, self.stride);
        // The data of a mix is never folded.
        let data = |slot: u32| buffer.address(slot as usize * stride).cast_const();
        let mut results =
            self.ring.completion().map(|done| (done.user_data() as u32, done.result() as isize));
        work.add_syscalls(calls.into());
        while let Some((slot, result)) = work.take_full_blocks(&mut results, free, data) {
            match work.done(slot, result, 0, data(slot)) {
                None => free.push(slot),
                Some(request) => rest.push(request),
            }
        }
        drop(results);
        let taken = (free.len() + rest.len() - idle) as u32;
        self.in_flight -= taken;
        taken
    }

    #[inline(always)]
    fn run_loop<const FILL: bool>(&mut self, work: &mut Work) -> Result<(), BackendError> {
        for why in self.refused.drain(..) {
            work.note(Note::UringPlain(why));
        }
        work.set_alignment_mask(self.mask);
        work.write_from(&self.buffer);
        note_small_pages(work, &self.buffer, self.mask > 0);
        advice::will_need(&self.file, self.will_need, work);
        if let Some(mut commits) = self.commits.take() {
            let ended = run_commits::<FILL>(self, work, &mut commits);
            let ended = commits.finish(work, ended);
            self.commits = Some(commits);
            return ended;
        }
        let fixed = self.registered != Registered::Nothing && self.fixed_file;
        match () {
            () if self.nop => self.run_all::<Nop, FILL>(work),
            () if fixed && self.only_reads() => self.run_all::<ReadFixed, FILL>(work),
            () => self.run_all::<Any, FILL>(work),
        }
    }

    #[inline(always)]
    fn run_all<K: EntryKind, const FILL: bool>(
        &mut self,
        work: &mut Work,
    ) -> Result<(), BackendError> {
        if work.depth() == 1 && !self.sqpoll {
            return DepthOneLane::<K, FILL>::run(self, work);
        }
        // Free slots, all at first; and remainders of short operations.
        let mut free: Vec<u32> = (0..work.depth()).rev().collect();
        let mut rest: Vec<Request> = Vec::with_capacity(free.len());
        let mut empty_waits = 0;
        loop {
            self.queue_all::<K, FILL>(&mut free, &mut rest, work);
            if self.in_flight == 0 {
                if work.wait_pending() {
                    continue;
                }
                return work.finish();
            }
            work.record_in_flight(self.in_flight.into(), 1);
            let (waited, limit) = self.wait::<FILL>(work, !free.is_empty());
            let calls = match waited {
                calls @ 0.. => calls as u32,
                passing if is_transient(passing) && empty_waits < MAX_EMPTY_WAITS => 1,
                refused => {
                    work.abort(ring_error(refused));
                    return work.finish();
                }
            };
            let taken = self.collect(calls, work, &mut free, &mut rest);
            // A wait that ends for the next start is not empty.
            let in_time = waited >= 0 && limit != Limit::Unlimited;
            empty_waits = if taken > 0 || in_time { 0 } else { empty_waits + 1 };
        }
    }

    /// Waits until the kernel no longer uses the buffers; false when that is not certain.
    fn drain(&mut self) -> bool {
        // Entries that were never submitted are not in flight, unless the polling thread may still
        // take them.
        let queued = if self.sqpoll { 0 } else { self.ring.submission().len() };
        while self.in_flight as usize > queued {
            // SAFETY: with nothing to submit the kernel reads no entry, and so reaches no buffer.
            let plain = || unsafe { self.entrance.enter::<false>(0, 1) };
            let waited = if self.sqpoll { self.enter::<false>(1) } else { plain() };
            if waited < 0 && waited != -(libc::EINTR as isize) {
                return false;
            }
            self.in_flight -= self.ring.completion().count() as u32;
        }
        true
    }
}

impl Drop for UringLane {
    fn drop(&mut self) {
        // A failed lane leaves operations in flight, and closing the ring does not wait for them:
        // while the kernel may still write, the memory is leaked.
        if self.drain() {
            // SAFETY: dropped once, here; nothing uses them afterwards.
            unsafe {
                ManuallyDrop::drop(&mut self.buffer);
                ManuallyDrop::drop(&mut self.into);
            }
        }
    }
}

/// Returns the number of entries that the kernel accepted, or -errno.
fn as_result(submitted: io::Result<usize>) -> isize {
    match submitted {
        Ok(submitted) => submitted as isize,
        Err(error) => -(error.raw_os_error().unwrap_or(libc::EIO) as isize),
    }
}

/// Returns whether a refusal is transient: the kernel is out of resources until something
/// completes, or a signal arrived.
fn is_transient(result: isize) -> bool {
    [libc::EINTR, libc::EAGAIN, libc::EBUSY].contains(&(-result as i32))
}

#[cold]
fn ring_error(result: isize) -> BackendError {
    BackendError::Ring {
        step: "io_uring_enter",
        error: io::Error::from_raw_os_error(-result as i32),
    }
}

/// Returns an error that is unreachable: the ring has an entry per slot.
#[cold]
fn queue_full() -> BackendError {
    BackendError::Ring { step: "submission queue full", error: io::ErrorKind::Other.into() }
}

impl Lane for UringLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        match with_fill!(FILL => self.run_loop::<FILL>(work)) {
            Err(BackendError::Io { fault: IoFault::Errno(libc::EOPNOTSUPP), .. })
                if self.iopoll =>
            {
                Err(Unsupported(NOT_POLLED.into()).into())
            }
            ended => ended,
        }
    }

    fn turn_to(&mut self, file: Rc<File>, _: &Job) -> Result<u32, BackendError> {
        self.file = file;
        if !self.fixed_file {
            return Ok(0);
        }
        let updated = self.ring.submitter().register_files_update(0, &[self.file.as_raw_fd()]);
        updated.map_err(|error| BackendError::Ring { step: "registering another file", error })?;
        Ok(1)
    }

    fn helper_nanos(&self) -> Option<u64> {
        if self.sqpoll { threads::poller_nanos(self.only_poller) } else { Some(0) }
    }
}

/// Consecutive waits without a completion before a refusal counts as a failure.
const MAX_EMPTY_WAITS: u32 = 1000;

#[cfg(test)]
mod tests;
