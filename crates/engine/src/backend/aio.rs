//! `aio`: Linux native asynchronous I/O, io_submit(2) and io_getevents(2).
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::rc::Rc;

use super::access_pattern::batch_limit;
use super::buffers::{note_small_pages, reading_buffer, slots_buffer};
use super::commit::QueuedCommits;
use super::pace::Limit;
use super::work::Request;
use super::written::LaneBuffer;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::catalog;
use crate::plan::{Info, Job, Sync};
use crate::sys::aio::{AioContext, AioEvent, AioOperation};
use crate::sys::buffer::Buffer;
use crate::sys::calls::RWF_DSYNC;
use crate::with_fill;

pub struct Aio;

impl Backend for Aio {
    fn info(&self) -> &'static Info {
        &catalog::AIO
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)?;
        AioContext::check().map_err(|error| refusal(&error))?;
        if job.syncs_after_writes() { check_sync(target, job) } else { Ok(()) }
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let align = target.align(job);
        Ok(Box::new(AioLane {
            context: AioContext::new(job.depth).map_err(|error| refusal(&error))?,
            file: target.open(job)?.into(),
            buffer: ManuallyDrop::new(slots_buffer(job, align, job.depth, lane, target.data())?),
            into: ManuallyDrop::new(reading_buffer(job, align, job.depth)?),
            stride: job.block.next_multiple_of(u64::from(align)) as usize,
            mask: align - 1,
            operations: ManuallyDrop::new(vec![AioOperation::default(); job.depth as usize]),
            queue: Vec::with_capacity(job.depth as usize),
            batch_limit: batch_limit(job) as usize,
            events: vec![AioEvent::default(); job.depth as usize],
            in_flight: 0,
            commits: QueuedCommits::for_job(job),
            write_flags: if job.sync == Sync::RwfDsync { RWF_DSYNC } else { 0 },
        }))
    }
}

fn refusal(error: &io::Error) -> Unsupported {
    Unsupported(match error.raw_os_error() {
        Some(libc::EAGAIN) => {
            "io_setup: EAGAIN, more operations than fs.aio-max-nr allows; use a lower depth or \
             fewer threads"
                .into()
        }
        Some(libc::ENOSYS) => {
            "io_setup: ENOSYS, not supported by this kernel, or blocked by a seccomp filter".into()
        }
        Some(libc::EPERM) => {
            "io_setup: EPERM, not permitted (a container's seccomp filter?)".into()
        }
        _ => format!("io_setup: {error}"),
    })
}

/// Tries the sync on the file: the kernel has it from Linux 4.18 on, and not all file systems do.
fn check_sync(target: &Target, job: &Job) -> Result<(), Unsupported> {
    let refused = |error: io::Error| Unsupported(format!("io_submit {}: {error}", job.sync));
    let file = target.open_for_check().map_err(refused)?;
    let context = AioContext::new(1).map_err(|error| refusal(&error))?;
    let mut sync = AioOperation::sync(0, job.sync == Sync::Fsync, file.as_raw_fd());
    let queue: [*mut AioOperation; 1] = [&raw mut sync];
    // SAFETY: the operation has no buffer, and lives until its event was taken or the context was
    // destroyed.
    let begun = unsafe { context.submit::<false>(&queue) };
    let result = if begun < 0 {
        begun
    } else {
        let mut events = [AioEvent::default()];
        match context.wait::<false>(&mut events) {
            1 => events[0].result as isize,
            failed => failed,
        }
    };
    drop(context);
    if result < 0 { Err(refused(io::Error::from_raw_os_error(-result as i32))) } else { Ok(()) }
}

struct AioLane {
    context: AioContext,
    file: Rc<File>,
    /// Freed in `drop`, with `operations`, once the kernel no longer uses them.
    buffer: ManuallyDrop<LaneBuffer>,
    /// The buffer that reads fill where reads and writes are mixed; freed like `buffer`.
    into: ManuallyDrop<Option<Buffer>>,
    /// Bytes from one slot's buffer to the next.
    stride: usize,
    /// Alignment - 1: a shorter last block is requested rounded up with direct I/O, and returns
    /// short.
    mask: u32,
    /// One for each slot.
    operations: ManuallyDrop<Vec<AioOperation>>,
    /// Operations to submit.
    queue: Vec<*mut AioOperation>,
    /// The most operations that one call submits.
    batch_limit: usize,
    events: Vec<AioEvent>,
    in_flight: u32,
    commits: Option<QueuedCommits>,
    /// RWF_* flags of writes.
    write_flags: u32,
}

/// Consecutive rounds without a completion before a refusal counts as a failure.
const MAX_EMPTY_WAITS: u32 = 1000;

/// Returns whether a refusal is transient: the kernel is out of resources for the moment, or a
/// signal arrived.
fn is_transient(result: isize) -> bool {
    [-(libc::EAGAIN as isize), -(libc::EINTR as isize)].contains(&result)
}

impl AioLane {
    #[inline(always)]
    fn prepare(&mut self, request: Request) {
        let Request { offset, len, slot, at, write } = request;
        let place = slot as usize * self.stride + at as usize;
        let buffer = match &*self.into {
            Some(into) if !write => into.address(place),
            _ => self.buffer.address(place),
        };
        let len = if write { len } else { (len + self.mask) & !self.mask };
        let operation = &mut self.operations[slot as usize];
        *operation = AioOperation::new(
            slot.into(),
            write,
            self.file.as_raw_fd(),
            buffer,
            len as usize,
            offset,
        );
        if write && self.write_flags != 0 {
            *operation = operation.with_flags(self.write_flags);
        }
        if let Some(commits) = &mut self.commits {
            commits.begin(request);
        }
        self.queue.push(operation);
    }

    /// Reports a result; the remainder of a short operation goes to `rest`, the slot of a complete
    /// one to `free`.
    #[inline(always)]
    fn complete(
        &mut self,
        slot: u32,
        mut result: isize,
        calls: u32,
        work: &mut Work,
        (free, rest): (&mut Vec<u32>, &mut Vec<Request>),
    ) {
        if let Some(commits) = &mut self.commits {
            if commits.is_syncing(slot) {
                result = commits.end_sync(slot, result);
            } else if commits.end_write(slot, result) {
                let operation = &mut self.operations[slot as usize];
                *operation =
                    AioOperation::sync(slot.into(), commits.is_whole(), self.file.as_raw_fd());
                self.queue.push(operation);
                return;
            }
        }
        // The data of a mix is never folded.
        match work.done(slot, result, calls, self.buffer.address(slot as usize * self.stride)) {
            None => free.push(slot),
            Some(request) => rest.push(request),
        }
    }

    fn run_loop<const FILL: bool>(&mut self, work: &mut Work) -> Result<(), BackendError> {
        // Free slots, all at first; and remainders of short operations.
        let mut free: Vec<u32> = (0..work.depth()).rev().collect();
        let mut rest: Vec<Request> = Vec::with_capacity(free.len());
        let mut empty_waits = 0;
        loop {
            // A full batch is submitted at once, except one that fills the last slot.
            while self.fill_queue(&mut free, &mut rest, work)
                && self.submit::<FILL>(work, &mut free, &mut rest) > 0
            {}
            if self.queue.is_empty() && self.in_flight == 0 {
                if work.wait_pending() {
                    continue;
                }
                return work.finish();
            }
            empty_waits = match self.submit_and_wait::<FILL>(work, &mut free, &mut rest) {
                Ok(0) if empty_waits == MAX_EMPTY_WAITS => {
                    work.abort(BackendError::Aio(io::Error::from_raw_os_error(libc::EAGAIN)));
                    return work.finish();
                }
                Ok(0) => empty_waits + 1,
                Ok(_) => 0,
                Err(errno) => {
                    work.abort(BackendError::Aio(io::Error::from_raw_os_error(errno)));
                    return work.finish();
                }
            };
        }
    }

    /// Queues operations up to the limit of one call; returns whether there may be more.
    #[inline(always)]
    fn fill_queue(
        &mut self,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
        work: &mut Work,
    ) -> bool {
        while self.queue.len() < self.batch_limit {
            let Some(request) = work.upcoming(free, rest) else { return false };
            self.prepare(request);
        }
        !free.is_empty() || !rest.is_empty()
    }

    /// Submits the queue; returns the number of operations that made progress: 0 if the kernel
    /// is out of resources until something completes.
    #[inline(always)]
    fn submit<const FILL: bool>(
        &mut self,
        work: &mut Work,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
    ) -> usize {
        // SAFETY: operations and buffer live until `drop` has destroyed the context, and no slot is
        // used twice at a time.
        let begun = unsafe { self.context.submit::<FILL>(&self.queue) };
        work.add_syscalls(1);
        if begun > 0 {
            self.in_flight += begun as u32;
            self.queue.drain(..begun as usize);
            return begun as usize;
        }
        if begun == 0 || is_transient(begun) {
            return 0;
        }
        // The first operation cannot be submitted: that is its result.
        let first = self.queue.remove(0);
        // SAFETY: a pointer to an element of `operations`, which never moves.
        let slot = (unsafe { first.offset_from(self.operations.as_ptr()) }) as u32;
        self.complete(slot, begun, 0, work, (free, rest));
        1
    }

    /// Submits the queue and takes completions. Returns the number of operations that made
    /// progress, or the errno of the wait.
    #[inline(always)]
    fn submit_and_wait<const FILL: bool>(
        &mut self,
        work: &mut Work,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
    ) -> Result<usize, i32> {
        let mut progressed = 0;
        if !self.queue.is_empty() {
            progressed = self.submit::<FILL>(work, free, rest);
        }
        if self.in_flight == 0 {
            return Ok(progressed);
        }
        work.record_in_flight(self.in_flight.into(), 1);
        let limit = work.wait_limit(!free.is_empty());
        let taken = match limit {
            Limit::Unlimited => self.context.wait::<FILL>(&mut self.events),
            Limit::Nanos(most) => self.context.wait_until::<FILL>(&mut self.events, most),
            Limit::Poll => self.context.wait_until::<FILL>(&mut self.events, 0),
        };
        work.note_wait(limit, taken <= 0);
        if limit != Limit::Unlimited && taken == 0 {
            // It ended for the next start, so it was not an empty wait.
            return Ok(progressed.max(1));
        }
        work.add_syscalls(1);
        if taken < 0 {
            return if is_transient(taken) { Ok(progressed) } else { Err(-taken as i32) };
        }
        for index in 0..taken as usize {
            let AioEvent { data, result, .. } = self.events[index];
            self.in_flight -= 1;
            self.complete(data as u32, result as isize, 0, work, (free, rest));
        }
        Ok(progressed + taken as usize)
    }
}

impl Lane for AioLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        work.set_alignment_mask(self.mask);
        work.write_from(&self.buffer);
        note_small_pages(work, &self.buffer, self.mask > 0);
        let ended = with_fill!(FILL => self.run_loop::<FILL>(work));
        match &mut self.commits {
            Some(commits) => commits.finish(work, ended),
            None => ended,
        }
    }

    fn turn_to(&mut self, file: Rc<File>, _: &Job) -> Result<u32, BackendError> {
        self.file = file;
        Ok(0)
    }
}

impl Drop for AioLane {
    fn drop(&mut self) {
        // Destroying the context waits for operations that a failed lane left in flight; where that
        // is not certain, the memory is leaked. Without any, the next lane may use it.
        let idle = self.in_flight == 0;
        if idle {
            self.context.keep();
        }
        if idle || self.context.end() {
            // SAFETY: dropped once, here; neither the kernel nor anything else uses them
            // afterwards.
            unsafe {
                ManuallyDrop::drop(&mut self.buffer);
                ManuallyDrop::drop(&mut self.into);
                ManuallyDrop::drop(&mut self.operations);
            }
        }
    }
}
