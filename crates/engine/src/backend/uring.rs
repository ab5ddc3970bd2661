//! `uring`: io_uring, with a registered buffer and file where the kernel allows.
#![allow(unsafe_code)]

mod depth_one;
mod info;

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;

use io_uring::squeue::{Entry, SubmissionQueue};
use io_uring::{Builder, IoUring, opcode, types};

use self::depth_one::DepthOneLane;
use self::info::INFO;
use super::advice;
use super::buffers::{note_small_pages, reading_buffer, slots_buffer};
use super::error::{BackendError, Unsupported};
use super::kind::{Backend, Lane};
use super::target::Target;
use super::work::Request;
use super::work::Work;
use crate::plan::{Info, Job, Op, Pattern};
use crate::record::Note;
use crate::sys::buffer::Buffer;
use crate::sys::{raw, threads};
use crate::with_fill;

pub struct Uring;

impl Backend for Uring {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn write_call(&self) -> &'static str {
        "io_uring(7) write"
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)?;
        match build_ring(job, 1) {
            Ok(_) => Ok(()),
            Err(error) => Err(Unsupported(refusal(&error))),
        }
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(UringLane::open(target, job, lane)?))
    }
}

impl UringLane {
    fn open(target: &Target, job: &Job, lane: u32) -> Result<UringLane, BackendError> {
        let align = target.align(job);
        let file = target.open_advised(job)?;
        let buffer = slots_buffer(job, align, job.depth, lane)?;
        let into = reading_buffer(job, align, job.depth, lane)?;
        let ring = build_ring(job, job.depth).map_err(|error| Unsupported(refusal(&error)))?;
        let mut lane = UringLane {
            ring,
            file,
            stride: job.block.next_multiple_of(u64::from(align)) as usize,
            mask: align - 1,
            buffer: ManuallyDrop::new(buffer),
            into: ManuallyDrop::new(into),
            in_flight: 0,
            write: job.op == Op::Write,
            batch_limit: batch_limit(job),
            sqpoll: has_sqpoll(job),
            only_poller: job.threads == 1,
            will_need: job.backend.has(advice::WILL_NEED.name),
            fixed_file: false,
            fixed_buffer: false,
            refused: Vec::new(),
        };
        lane.register()?;
        Ok(lane)
    }
}

fn has_sqpoll(job: &Job) -> bool {
    job.backend.has("sqpoll")
}

/// Returns the most entries that one call submits. The kernel holds back the requests of a call
/// that submits more than two until it has seen all of them, so that neighbours are merged
/// (block/blk-core.c, blk_start_plug). Random requests have no neighbours: a disk would idle
/// meanwhile.
fn batch_limit(job: &Job) -> u32 {
    if job.direct && job.pattern == Pattern::Random && !has_sqpoll(job) { 2 } else { u32::MAX }
}

fn build_ring(job: &Job, depth: u32) -> io::Result<IoUring> {
    let entries = depth.next_power_of_two();
    if has_sqpoll(job) {
        // The polling thread frees the entries of a batch only after its completions are visible.
        return IoUring::builder().setup_sqpoll(50).build(entries * 2);
    }
    let build =
        |setup: &fn(&mut Builder) -> &mut Builder| setup(&mut IoUring::builder()).build(entries);
    // The error of an older kernel for a flag that it does not know.
    fn unknown(ring: &io::Result<IoUring>) -> bool {
        ring.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL))
    }
    let [better @ .., plain] = &SETUPS;
    better.iter().map(build).find(|ring| !unknown(ring)).unwrap_or_else(|| build(plain))
}

/// How a ring is set up; the first that the kernel knows is used. Completions are processed when
/// the lane asks for them (Linux 6.1), at the next system call (5.19), or at once, which interrupts
/// the lane and cost a tenth of the requests per second at depths 32 and 128.
const SETUPS: [fn(&mut Builder) -> &mut Builder; 3] = [
    |ring| ring.setup_single_issuer().setup_defer_taskrun(),
    |ring| ring.setup_coop_taskrun(),
    |ring| ring,
];

/// Describes a refusal, with the setting that causes it where there is one.
fn refusal(error: &io::Error) -> String {
    let disabled =
        std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    match (error.raw_os_error(), disabled.trim()) {
        (Some(libc::EPERM), "1" | "2") => {
            format!("io_uring: EPERM, kernel.io_uring_disabled={}", disabled.trim())
        }
        (Some(libc::EPERM), _) => {
            "io_uring: EPERM, not permitted (a container's seccomp filter?)".into()
        }
        (Some(libc::ENOSYS), _) => {
            "io_uring: ENOSYS, not supported by this kernel, or blocked by a seccomp filter".into()
        }
        (Some(libc::ENOMEM), _) => {
            "io_uring: ENOMEM, raise the locked-memory limit (ulimit -l)".into()
        }
        _ => format!("io_uring: {error}"),
    }
}

struct UringLane {
    ring: IoUring,
    file: File,
    /// Freed in `drop`, once nothing writes into it any more.
    buffer: ManuallyDrop<Buffer>,
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
    /// The most entries that one call submits.
    batch_limit: u32,
    /// A kernel thread takes the submissions.
    sqpoll: bool,
    /// Whether no other lane has a polling thread.
    only_poller: bool,
    will_need: bool,
    fixed_file: bool,
    fixed_buffer: bool,
    refused: Vec<String>,
}

impl UringLane {
    /// Registers file and buffers. A refusal is noted in the result, and the plain operations are
    /// used.
    fn register(&mut self) -> Result<(), BackendError> {
        let submitter = self.ring.submitter();
        match submitter.register_files(&[self.file.as_raw_fd()]) {
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
        let part =
            |buffer: &Buffer| libc::iovec { iov_base: buffer.ptr().cast(), iov_len: buffer.len() };
        let parts: Vec<libc::iovec> =
            std::iter::once(&*self.buffer).chain(self.into.as_ref()).map(part).collect();
        // SAFETY: `drop` keeps the buffers until nothing is in flight, for ever if need be.
        match unsafe { submitter.register_buffers(&parts) } {
            Ok(()) => self.fixed_buffer = true,
            Err(_) if self.buffer.len() > MAX_REGISTERED => {
                let len = crate::units::show_bytes(self.buffer.len() as u64);
                self.refused.push(format!(
                    "buffer: {len} is more than the 1 GiB that can be registered; use a lower \
                     depth or smaller blocks"
                ));
            }
            Err(error) => self.refused.push(format!(
                "buffer: {error}; the locked-memory limit (ulimit -l) may be too low"
            )),
        }
        Ok(())
    }

    /// Returns the address for the request's bytes, and how many to request.
    #[inline(always)]
    fn buffer_part(&self, request: Request) -> (*mut u8, u32) {
        let place = request.slot as usize * self.stride + request.at as usize;
        let at = match &*self.into {
            Some(into) if !request.write => into.address(place),
            _ => self.buffer.address(place),
        };
        (at, if request.write { request.len } else { (request.len + self.mask) & !self.mask })
    }

    /// Builds the entry of any request.
    #[inline(never)]
    fn entry(
        &self,
        Request { offset, slot, write, .. }: Request,
        (at, len): (*mut u8, u32),
    ) -> Entry {
        let (fd, fixed) = (types::Fd(self.file.as_raw_fd()), types::Fixed(0));
        // The second registered buffer is for the reads of a mix.
        let index = u16::from(self.into.is_some() && !write);
        let entry = match (write, self.fixed_buffer, self.fixed_file) {
            (false, true, true) => {
                opcode::ReadFixed::new(fixed, at, len, index).offset(offset).build()
            }
            (false, true, false) => {
                opcode::ReadFixed::new(fd, at, len, index).offset(offset).build()
            }
            (false, false, true) => opcode::Read::new(fixed, at, len).offset(offset).build(),
            (false, false, false) => opcode::Read::new(fd, at, len).offset(offset).build(),
            (true, true, true) => opcode::WriteFixed::new(fixed, at, len, 0).offset(offset).build(),
            (true, true, false) => opcode::WriteFixed::new(fd, at, len, 0).offset(offset).build(),
            (true, false, true) => opcode::Write::new(fixed, at, len).offset(offset).build(),
            (true, false, false) => opcode::Write::new(fd, at, len).offset(offset).build(),
        };
        entry.user_data(slot.into())
    }

    /// Returns whether all entries are of the one kind that is built in place: chosen from eight
    /// kinds, an entry would go through memory and stall twice.
    #[inline(always)]
    fn common(&self) -> bool {
        self.fixed_buffer && self.fixed_file && !self.write && self.into.is_none()
    }

    /// Pushes an entry; false when the queue is full, which is unreachable: it has an entry per
    /// slot.
    #[inline(always)]
    fn push(&self, queue: &mut SubmissionQueue, request: Request, common: bool) -> bool {
        let (at, len) = self.buffer_part(request);
        // SAFETY: the entry's buffer and file live until nothing is in flight (see `drop`).
        let pushed = unsafe {
            if common {
                let entry = opcode::ReadFixed::new(types::Fixed(0), at, len, 0)
                    .offset(request.offset)
                    .build();
                queue.push(&entry.user_data(request.slot.into()))
            } else {
                queue.push(&self.entry(request, (at, len)))
            }
        };
        pushed.is_ok()
    }

    /// Queues the next operations, up to the limit of one call; returns their number, or `None`
    /// when the queue is full.
    #[inline(always)]
    fn queue(
        &mut self,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
        work: &mut Work,
    ) -> Option<u32> {
        // SAFETY: this is the only handle on the queue while it lives. One handle for all entries:
        // each would load and store the ends of the queue.
        let mut queue = unsafe { self.ring.submission_shared() };
        let (common, mut queued) = (self.common(), 0);
        while queued < self.batch_limit
            && let Some(request) = work.upcoming(free, rest)
        {
            if !self.push(&mut queue, request, common) {
                self.in_flight += queued;
                return None;
            }
            queued += 1;
        }
        self.in_flight += queued;
        Some(queued)
    }

    /// Queues all operations there are; submits every full batch at once.
    #[inline(always)]
    fn queue_all<const FILL: bool>(
        &mut self,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
        work: &mut Work,
    ) {
        loop {
            match self.queue(free, rest, work) {
                None => return work.abort(queue_full()),
                Some(queued) if queued < self.batch_limit => return,
                Some(_) => {}
            }
            work.add_syscalls(1);
            match self.enter::<FILL>(0) {
                // Entries that were not taken are submitted with the next call.
                taken if taken >= 0 || is_transient(taken) => {}
                refused => return work.abort(ring_error(refused)),
            }
        }
    }

    /// Submits what is queued and waits for a completion; returns the number of system calls, or
    /// -errno.
    #[inline(always)]
    fn wait<const FILL: bool>(&mut self) -> isize {
        if self.sqpoll
            && !self.ring.submission().need_wakeup()
            && !self.ring.completion().is_empty()
        {
            return 0;
        }
        match self.enter::<FILL>(1) {
            0.. => 1,
            refused => refused,
        }
    }

    /// Submits what is queued and waits for `wanted` completions; returns how many were submitted,
    /// or -errno.
    #[inline(always)]
    fn enter<const FILL: bool>(&mut self, wanted: u32) -> isize {
        if self.sqpoll {
            return match self.ring.submit_and_wait(wanted as usize) {
                Ok(submitted) => submitted as isize,
                Err(error) => -(error.raw_os_error().unwrap_or(libc::EIO) as isize),
            };
        }
        let queued = self.ring.submission().len() as u32;
        // SAFETY: the entries' buffers and file live until nothing is in flight (see `drop`).
        unsafe { raw::uring_enter::<FILL>(self.ring.as_raw_fd(), queued, wanted) }
    }

    /// Takes every completion, and returns their number. The first one carries the system calls of
    /// the wait.
    #[inline(always)]
    fn collect(
        &mut self,
        mut calls: u32,
        work: &mut Work,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
    ) -> u32 {
        let mut taken = 0;
        for done in self.ring.completion() {
            let slot = done.user_data() as u32;
            taken += 1;
            // The data of a mix is never folded.
            let data = self.buffer.address(slot as usize * self.stride);
            match work.done(slot, done.result() as isize, calls, data) {
                None => free.push(slot),
                Some(request) => rest.push(request),
            }
            calls = 0;
        }
        if calls > 0 {
            work.add_syscalls(calls.into());
        }
        self.in_flight -= taken;
        taken
    }

    #[inline(always)]
    fn run_loop<const FILL: bool>(&mut self, work: &mut Work) -> Result<(), BackendError> {
        for why in self.refused.drain(..) {
            work.note(Note::UringPlain(why));
        }
        work.set_alignment_mask(self.mask);
        note_small_pages(work, &self.buffer, self.mask > 0);
        advice::will_need(&self.file, self.will_need, work);
        if work.depth() == 1 && !self.sqpoll {
            return DepthOneLane::<FILL>::run(self, work);
        }
        // Free slots, all at first; and remainders of short operations.
        let mut free: Vec<u32> = (0..work.depth()).rev().collect();
        let mut rest: Vec<Request> = Vec::with_capacity(free.len());
        let mut empty_waits = 0;
        loop {
            self.queue_all::<FILL>(&mut free, &mut rest, work);
            if self.in_flight == 0 {
                return work.finish();
            }
            work.record_in_flight(self.in_flight.into(), 1);
            let calls = match self.wait::<FILL>() {
                calls @ 0.. => calls as u32,
                passing if is_transient(passing) && empty_waits < MAX_EMPTY_WAITS => 1,
                refused => {
                    work.abort(ring_error(refused));
                    return work.finish();
                }
            };
            empty_waits = if self.collect(calls, work, &mut free, &mut rest) > 0 {
                0
            } else {
                empty_waits + 1
            };
        }
    }

    /// Waits until the kernel no longer uses the buffers; false when that is not certain.
    fn drain(&mut self) -> bool {
        // Entries that were never submitted are not in flight, unless the polling thread may still
        // take them.
        let queued = if self.sqpoll { 0 } else { self.ring.submission().len() };
        while self.in_flight as usize > queued {
            // SAFETY: with nothing to submit the kernel reads no entry, and so reaches no buffer.
            let plain = || unsafe { raw::uring_enter::<false>(self.ring.as_raw_fd(), 0, 1) };
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
        with_fill!(FILL => self.run_loop::<FILL>(work))
    }

    fn helper_nanos(&self) -> Option<u64> {
        if self.sqpoll { threads::poller_nanos(self.only_poller) } else { Some(0) }
    }
}

/// The kernel's limit for one registered buffer, bytes.
const MAX_REGISTERED: usize = 1 << 30;

/// Consecutive waits without a completion before a refusal counts as a failure.
const MAX_EMPTY_WAITS: u32 = 1000;

#[cfg(test)]
mod tests;
