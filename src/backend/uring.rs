//! `uring`: io_uring, with a registered buffer and file where the kernel allows.
#![allow(unsafe_code)]

mod info;
mod one;

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;

use io_uring::squeue::{Entry, SubmissionQueue};
use io_uring::{Builder, IoUring, opcode, types};

use self::info::INFO;
use self::one::OneByOne;
use super::work::Request;
use super::{
    Backend, BackendError, Lane, Target, Unsupported, Work, advice, reading_buffer, slots_buffer,
    tell_small_pages,
};
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

    fn writes_by(&self) -> &'static str {
        "io_uring(7) write"
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)?;
        match ring(job, 1) {
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
        let ring = ring(job, job.depth).map_err(|error| Unsupported(refusal(&error)))?;
        let mut lane = UringLane {
            ring,
            file,
            stride: job.block.next_multiple_of(u64::from(align)) as usize,
            mask: align - 1,
            buffer: ManuallyDrop::new(buffer),
            into: ManuallyDrop::new(into),
            flying: 0,
            write: job.op == Op::Write,
            part: part(job),
            polled: polled(job),
            alone: job.threads == 1,
            will_need: job.backend.has(advice::WILL_NEED.name),
            fixed_file: false,
            fixed_buffer: false,
            refused: Vec::new(),
        };
        lane.register()?;
        Ok(lane)
    }
}

fn polled(job: &Job) -> bool {
    job.backend.has("sqpoll")
}

/// The kernel holds back the requests of a call that submits more than two until it has seen all of
/// them, so that neighbours are sent to the disk as one (block/blk-core.c, blk_start_plug). Random
/// ones have no neighbours: a disk that waits for them idles.
fn part(job: &Job) -> u32 {
    if job.direct && job.pattern == Pattern::Random && !polled(job) { 2 } else { u32::MAX }
}

fn ring(job: &Job, depth: u32) -> io::Result<IoUring> {
    let entries = depth.next_power_of_two();
    if polled(job) {
        // Its thread frees the places of a batch only after the completions of that batch can be
        // seen.
        return IoUring::builder().setup_sqpoll(50).build(entries * 2);
    }
    let build =
        |setup: &fn(&mut Builder) -> &mut Builder| setup(&mut IoUring::builder()).build(entries);
    // What an older kernel says of a flag that it does not know.
    let unknown = |ring: &io::Result<IoUring>| {
        ring.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL))
    };
    let [better @ .., plain] = &SETUPS;
    better.iter().map(build).find(|ring| !unknown(ring)).unwrap_or_else(|| build(plain))
}

/// How a ring is set up, the best that the kernel knows: what completes is worked on when the lane
/// asks for it (Linux 6.1), at the next system call (5.19), or at once, which interrupts the lane:
/// at depth 32 and 128 that cost a tenth of the requests per second.
const SETUPS: [fn(&mut Builder) -> &mut Builder; 3] = [
    |ring| ring.setup_single_issuer().setup_defer_taskrun(),
    |ring| ring.setup_coop_taskrun(),
    |ring| ring,
];

/// The refusal with the switch that is behind it, where there is one.
fn refusal(error: &io::Error) -> String {
    let disabled =
        std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    match (error.raw_os_error(), disabled.trim()) {
        (Some(libc::EPERM), "1" | "2") => {
            format!("io_uring: EPERM, kernel.io_uring_disabled={}", disabled.trim())
        }
        (Some(libc::EPERM), _) => {
            "io_uring: EPERM, forbidden here (a container's seccomp filter?)".into()
        }
        (Some(libc::ENOSYS), _) => "io_uring: ENOSYS, not in this kernel or filtered out".into(),
        (Some(libc::ENOMEM), _) => {
            "io_uring: ENOMEM, raise the locked-memory limit (ulimit -l)".into()
        }
        _ => format!("io_uring: {error}"),
    }
}

struct UringLane {
    ring: IoUring,
    file: File,
    /// Given back in `drop`, when nothing writes into it any more.
    buffer: ManuallyDrop<Buffer>,
    /// As `buffer`, where reads and writes are mixed: what the reads fill.
    into: ManuallyDrop<Option<Buffer>>,
    /// Operations handed to the ring whose completion was not seen.
    flying: u32,
    /// Bytes from one slot's buffer to the next.
    stride: usize,
    /// Alignment - 1: the odd last block of direct I/O is asked for rounded up and comes back
    /// short.
    mask: u32,
    write: bool,
    /// The most entries that one call submits.
    part: u32,
    /// A kernel thread takes the submissions.
    polled: bool,
    /// No other lane has a polling thread.
    alone: bool,
    will_need: bool,
    fixed_file: bool,
    fixed_buffer: bool,
    refused: Vec<String>,
}

impl UringLane {
    /// Registers file and buffer; a refusal is told, and the plain path measured under its own
    /// name.
    fn register(&mut self) -> Result<(), BackendError> {
        let submitter = self.ring.submitter();
        match submitter.register_files(&[self.file.as_raw_fd()]) {
            Ok(()) => self.fixed_file = true,
            // Before Linux 5.11 the polling thread knows registered files only.
            Err(error) if self.polled && !self.ring.params().is_feature_sqpoll_nonfixed() => {
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
            Err(_) if self.buffer.len() > MOST_REGISTERED => {
                let len = crate::units::show_bytes(self.buffer.len() as u64);
                self.refused.push(format!("buffer: {len}, and 1 GiB is the most that can be registered; use less depth or smaller blocks"));
            }
            Err(error) => self.refused.push(format!(
                "buffer: {error}; the locked-memory limit (ulimit -l) may be too low"
            )),
        }
        Ok(())
    }

    /// Where the request's bytes go, and how many to ask for.
    #[inline(always)]
    fn part(&self, request: Request) -> (*mut u8, u32) {
        let place = request.slot as usize * self.stride + request.at as usize;
        let at = match &*self.into {
            Some(into) if !request.write => into.at(place),
            _ => self.buffer.at(place),
        };
        (at, if request.write { request.len } else { (request.len + self.mask) & !self.mask })
    }

    /// The entry of any request.
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

    /// The entries are all of one kind, which is built in place: from a choice of eight it would go
    /// through memory, stalled twice.
    #[inline(always)]
    fn common(&self) -> bool {
        self.fixed_buffer && self.fixed_file && !self.write && self.into.is_none()
    }

    /// False when there is no place, which cannot be: there is one for every slot.
    #[inline(always)]
    fn push(&self, queue: &mut SubmissionQueue, request: Request, common: bool) -> bool {
        let (at, len) = self.part(request);
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

    /// Queues what there is to do, at most a part of it; the number queued. `None` when there is no
    /// place.
    #[inline(always)]
    fn queue(
        &mut self,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
        work: &mut Work,
    ) -> Option<u32> {
        // SAFETY: the only handle on the queue while it lives. One for all entries: each would load
        // and store its ends.
        let mut queue = unsafe { self.ring.submission_shared() };
        let (common, mut queued) = (self.common(), 0);
        while queued < self.part
            && let Some(request) = work.upcoming(free, rest)
        {
            if !self.push(&mut queue, request, common) {
                self.flying += queued;
                return None;
            }
            queued += 1;
        }
        self.flying += queued;
        Some(queued)
    }

    /// Queues all that there is to do; every part but the last is submitted at once.
    #[inline(always)]
    fn queue_all<const FILL: bool>(
        &mut self,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
        work: &mut Work,
    ) {
        loop {
            match self.queue(free, rest, work) {
                None => return work.abort(no_place()),
                Some(queued) if queued < self.part => return,
                Some(_) => {}
            }
            work.add_syscalls(1);
            match self.enter::<FILL>(0) {
                // Those not taken are submitted with the next.
                taken if taken >= 0 || passes(taken) => {}
                refused => return work.abort(refusing(refused)),
            }
        }
    }

    /// Submits what is queued and waits for a completion; the system calls it took, or -errno.
    #[inline(always)]
    fn wait<const FILL: bool>(&mut self) -> isize {
        if self.polled
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

    /// Submits what is queued and waits for so many completions; how many were submitted, or
    /// -errno.
    #[inline(always)]
    fn enter<const FILL: bool>(&mut self, wanted: u32) -> isize {
        if self.polled {
            return match self.ring.submit_and_wait(wanted as usize) {
                Ok(submitted) => submitted as isize,
                Err(error) => -(error.raw_os_error().unwrap_or(libc::EIO) as isize),
            };
        }
        let queued = self.ring.submission().len() as u32;
        // SAFETY: the entries' buffers and file live until nothing is in flight (see `drop`).
        unsafe { raw::uring_enter::<FILL>(self.ring.as_raw_fd(), queued, wanted) }
    }

    /// Takes every completion; the first bears the system calls of the wait. The number taken.
    #[inline(always)]
    fn take(
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
            let data = self.buffer.at(slot as usize * self.stride);
            match work.done(slot, done.result() as isize, calls, data) {
                None => free.push(slot),
                Some(request) => rest.push(request),
            }
            calls = 0;
        }
        if calls > 0 {
            work.add_syscalls(calls.into());
        }
        self.flying -= taken;
        taken
    }

    #[inline(always)]
    fn go<const FILL: bool>(&mut self, work: &mut Work) -> Result<(), BackendError> {
        for why in self.refused.drain(..) {
            work.note(Note::UringPlain(why));
        }
        work.rounds_up(self.mask);
        tell_small_pages(work, &self.buffer, self.mask > 0);
        advice::will_need(&self.file, self.will_need, work);
        if work.depth() == 1 && !self.polled {
            return OneByOne::<FILL>::run(self, work);
        }
        // Slots to fill: all at first, then those whose operation is over; `rest` what a short one
        // still needs.
        let mut free: Vec<u32> = (0..work.depth()).rev().collect();
        let mut rest: Vec<Request> = Vec::with_capacity(free.len());
        let mut vain = 0;
        loop {
            self.queue_all::<FILL>(&mut free, &mut rest, work);
            if self.flying == 0 {
                return work.finish();
            }
            work.flew(self.flying.into(), 1);
            let calls = match self.wait::<FILL>() {
                calls @ 0.. => calls as u32,
                passing if passes(passing) && vain < MOST_VAIN => 1,
                refused => {
                    work.abort(refusing(refused));
                    return work.finish();
                }
            };
            vain = if self.take(calls, work, &mut free, &mut rest) > 0 { 0 } else { vain + 1 };
        }
    }

    /// Waits until the kernel is done with the buffer; false when that cannot be known.
    fn drain(&mut self) -> bool {
        // What was never submitted is not in flight, unless a thread of the kernel may still take
        // it.
        let queued = if self.polled { 0 } else { self.ring.submission().len() };
        while self.flying as usize > queued {
            // SAFETY: with nothing to submit the kernel reads no entry, and so reaches no buffer.
            let plain = || unsafe { raw::uring_enter::<false>(self.ring.as_raw_fd(), 0, 1) };
            let waited = if self.polled { self.enter::<false>(1) } else { plain() };
            if waited < 0 && waited != -(libc::EINTR as isize) {
                return false;
            }
            self.flying -= self.ring.completion().count() as u32;
        }
        true
    }
}

impl Drop for UringLane {
    fn drop(&mut self) {
        // A lane that failed leaves operations behind, and closing the ring does not wait for them:
        // where the kernel may still write, the memory is never given back.
        if self.drain() {
            // SAFETY: dropped once, here; nothing uses it afterwards.
            unsafe {
                ManuallyDrop::drop(&mut self.buffer);
                ManuallyDrop::drop(&mut self.into);
            }
        }
    }
}

/// The kernel has no room at the moment, or a signal came: what completes meanwhile makes room.
fn passes(result: isize) -> bool {
    [libc::EINTR, libc::EAGAIN, libc::EBUSY].contains(&(-result as i32))
}

#[cold]
fn refusing(result: isize) -> BackendError {
    BackendError::Ring {
        step: "io_uring_enter",
        error: io::Error::from_raw_os_error(-result as i32),
    }
}

/// Which cannot be: there is one for every slot.
#[cold]
fn no_place() -> BackendError {
    BackendError::Ring { step: "submission queue full", error: io::ErrorKind::Other.into() }
}

impl Lane for UringLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        with_fill!(FILL => self.go::<FILL>(work))
    }

    fn helper_nanos(&self) -> Option<u64> {
        if self.polled { threads::poller_nanos(self.alone) } else { Some(0) }
    }
}

/// The kernel's limit for one registered buffer.
const MOST_REGISTERED: usize = 1 << 30;

/// Waits in a row that brought nothing, before a refusal counts as a failure.
const MOST_VAIN: u32 = 1000;

#[cfg(test)]
mod tests;
