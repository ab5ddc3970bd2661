//! `aio`: Linux native asynchronous I/O, io_submit(2) and io_getevents(2).
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;

use super::work::Request;
use super::{
    Backend, BackendError, Lane, Target, Unsupported, Work, reading_buffer, slots_buffer,
    tell_small_pages,
};
use crate::plan::{DataPath, Depth, Fio, FioEngine, Info, Job, Op};
use crate::sys::aio::{Context, Event, Operation};
use crate::sys::buffer::Buffer;
use crate::with_fill;

pub struct Aio;

/// In the words of fio.
const FIO: Fio = Fio::Engine(FioEngine::new("libaio", None, &[]));

impl Backend for Aio {
    fn info(&self) -> &'static Info {
        &Info {
            id: "aio",
            title: "io_submit(2)",
            about: "Linux native asynchronous I/O: many operations under way, with --direct",
            doc: "All free slots are filled, one io_submit begins them and one io_getevents waits for at least one: two system calls for each round. Only \
                  with --direct are they really under way together: a buffered read is done in full before io_submit returns, so depth buys \
                  fewer system calls there and nothing else. It is what databases used before io_uring (libaio), which needs one call where \
                  this needs two.",
            data_path: DataPath::CopiedByCall,
            ops: &[Op::Read, Op::Write],
            depth: Depth::UpTo(4096),
            direct: true,
            cached: true,
            mixes: true,
            appends: true,
            options: &[],
            fio: FIO,
            ..Info::COPIES_BY_CALL
        }
    }

    fn writes_by(&self) -> &'static str {
        "io_submit(2) write"
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)?;
        Context::new(1).map(drop).map_err(|error| refusal(&error))
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let align = target.align(job);
        Ok(Box::new(AioLane {
            context: Context::new(job.depth).map_err(|error| refusal(&error))?,
            file: target.open(job)?,
            buffer: ManuallyDrop::new(slots_buffer(job, align, job.depth, lane)?),
            into: ManuallyDrop::new(reading_buffer(job, align, job.depth, lane)?),
            stride: job.block.next_multiple_of(u64::from(align)) as usize,
            mask: align - 1,
            operations: ManuallyDrop::new(vec![Operation::default(); job.depth as usize]),
            queue: Vec::with_capacity(job.depth as usize),
            events: vec![Event::default(); job.depth as usize],
            flying: 0,
        }))
    }
}

fn refusal(error: &io::Error) -> Unsupported {
    Unsupported(match error.raw_os_error() {
        Some(libc::EAGAIN) => "io_setup: EAGAIN, more operations than fs.aio-max-nr allows: use less depth or fewer threads".into(),
        Some(libc::ENOSYS) => "io_setup: ENOSYS, not in this kernel or filtered out".into(),
        Some(libc::EPERM) => "io_setup: EPERM, forbidden here (a container's seccomp filter?)".into(),
        _ => format!("io_setup: {error}"),
    })
}

struct AioLane {
    context: Context,
    file: File,
    /// Given back in `drop`, with `operations`, when the kernel uses them no more.
    buffer: ManuallyDrop<Buffer>,
    /// As `buffer`, where reads and writes are mixed: what the reads fill.
    into: ManuallyDrop<Option<Buffer>>,
    /// Bytes from one slot's buffer to the next.
    stride: usize,
    /// Alignment - 1: the odd last block of direct I/O is asked for rounded up and comes back
    /// short.
    mask: u32,
    /// One for each slot.
    operations: ManuallyDrop<Vec<Operation>>,
    /// Those to be begun.
    queue: Vec<*mut Operation>,
    events: Vec<Event>,
    flying: u32,
}

/// Rounds in a row that brought nothing, before a refusal counts as a failure.
const MOST_VAIN: u32 = 1000;

/// The kernel has no room at the moment, or a signal came.
fn passes(result: isize) -> bool {
    [-(libc::EAGAIN as isize), -(libc::EINTR as isize)].contains(&result)
}

impl AioLane {
    #[inline(always)]
    fn prepare(&mut self, request: Request) {
        let Request { offset, len, slot, at, write } = request;
        let place = slot as usize * self.stride + at as usize;
        let buffer = match &*self.into {
            Some(into) if !write => into.at(place),
            _ => self.buffer.at(place),
        };
        let len = if write { len } else { (len + self.mask) & !self.mask };
        let operation = &mut self.operations[slot as usize];
        *operation =
            Operation::new(slot.into(), write, self.file.as_raw_fd(), buffer, len as usize, offset);
        self.queue.push(operation);
    }

    /// Hands a result in; what is left of a short operation goes to `rest`, the slot of one that is
    /// over to `free`.
    #[inline(always)]
    fn over(
        &self,
        slot: u32,
        result: isize,
        calls: u32,
        work: &mut Work,
        (free, rest): (&mut Vec<u32>, &mut Vec<Request>),
    ) {
        // The data of a mix is never folded.
        match work.done(slot, result, calls, self.buffer.at(slot as usize * self.stride)) {
            None => free.push(slot),
            Some(request) => rest.push(request),
        }
    }

    fn go<const FILL: bool>(&mut self, work: &mut Work) -> Result<(), BackendError> {
        // Slots to fill: all at first, then those whose operation is over; `rest` what a short one
        // still needs.
        let mut free: Vec<u32> = (0..work.depth()).rev().collect();
        let mut rest: Vec<Request> = Vec::with_capacity(free.len());
        let mut vain = 0;
        loop {
            while let Some(request) = work.upcoming(&mut free, &mut rest) {
                self.prepare(request);
            }
            if self.queue.is_empty() && self.flying == 0 {
                return work.finish();
            }
            vain = match self.round::<FILL>(work, &mut free, &mut rest) {
                Ok(0) if vain == MOST_VAIN => {
                    work.abort(BackendError::Aio(io::Error::from_raw_os_error(libc::EAGAIN)));
                    return work.finish();
                }
                Ok(0) => vain + 1,
                Ok(_) => 0,
                Err(errno) => {
                    work.abort(BackendError::Aio(io::Error::from_raw_os_error(errno)));
                    return work.finish();
                }
            };
        }
    }

    /// Begins what is queued and takes what is complete; how many operations went on, or the errno
    /// of the wait.
    #[inline(always)]
    fn round<const FILL: bool>(
        &mut self,
        work: &mut Work,
        free: &mut Vec<u32>,
        rest: &mut Vec<Request>,
    ) -> Result<usize, i32> {
        let (mut calls, mut went_on) = (0, 0);
        if !self.queue.is_empty() {
            // SAFETY: operations and buffer live until `drop` has ended the context; a slot is not
            // used twice at a time.
            let begun = unsafe { self.context.submit::<FILL>(&self.queue) };
            calls = 1;
            if begun > 0 {
                self.flying += begun as u32;
                went_on += begun as usize;
                self.queue.drain(..begun as usize);
            } else if begun < 0 && !passes(begun) {
                // The first of them cannot be begun: that is its result.
                let first = self.queue.remove(0);
                // SAFETY: a pointer to an element of `operations`, which never moves.
                let slot = (unsafe { first.offset_from(self.operations.as_ptr()) }) as u32;
                self.over(slot, begun, calls, work, (free, rest));
                return Ok(1);
            }
        }
        if self.flying == 0 {
            work.add_syscalls(calls.into());
            return Ok(went_on);
        }
        work.flew(self.flying.into(), 1);
        let taken = self.context.wait::<FILL>(&mut self.events);
        calls += 1;
        if taken < 0 {
            work.add_syscalls(calls.into());
            return if passes(taken) { Ok(went_on) } else { Err(-taken as i32) };
        }
        for index in 0..taken as usize {
            let Event { data, result, .. } = self.events[index];
            self.flying -= 1;
            // The first bears the calls of the round.
            self.over(data as u32, result as isize, std::mem::take(&mut calls), work, (free, rest));
        }
        if calls > 0 {
            work.add_syscalls(calls.into());
        }
        Ok(went_on + taken as usize)
    }
}

impl Lane for AioLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        work.rounds_up(self.mask);
        tell_small_pages(work, &self.buffer, self.mask > 0);
        with_fill!(FILL => self.go::<FILL>(work))
    }
}

impl Drop for AioLane {
    fn drop(&mut self) {
        // Ending the context waits for what a failed lane left behind; where that cannot be known,
        // the memory stays.
        if self.context.end() {
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
