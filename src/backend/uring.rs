//! `uring`: io_uring, with a registered buffer and file where the kernel allows.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, squeue, types};

use super::work::Request;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work, slots_buffer};
use crate::plan::{Depth, Info, Job, Moves, Op, Opt};
use crate::record::Note;
use crate::sys::buffer::Buffer;

pub struct Uring;

impl Backend for Uring {
    fn info(&self) -> &'static Info {
        &Info {
            id: "uring",
            title: "io_uring(7)",
            about: "queues operations in shared memory: one system call submits and collects many",
            doc: "All free slots are filled, one io_uring_enter submits them and waits for at least one, everything that is complete is taken. \
                  The buffer and the file are registered once. At depth 1 it is one system call per block as with pread; deeper, one call \
                  serves many, and a disk sees many requests at once (with --direct).",
            moves: Moves::Data,
            ops: &[Op::Read, Op::Write],
            depth: Depth::UpTo(4096),
            direct: true,
            cached: true,
            options: &[Opt {
                name: "sqpoll",
                value: None,
                about: "a kernel thread takes submissions, so that submitting needs no system call",
            }],
        }
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)?;
        match ring(job, 1) {
            Ok(_) => Ok(()),
            Err(error) => Err(Unsupported(refusal(&error))),
        }
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let align = target.align(job);
        let file = target.open(job)?;
        let buffer = slots_buffer(job, align, job.depth, lane)?;
        let ring = ring(job, job.depth).map_err(|error| BackendError::Ring { step: "io_uring_setup", error })?;
        let mut lane = UringLane {
            ring,
            file,
            stride: job.block.next_multiple_of(u64::from(align)) as usize,
            mask: align - 1,
            buffer,
            write: job.op == Op::Write,
            fixed_file: false,
            fixed_buffer: false,
            refused: None,
        };
        lane.register();
        Ok(Box::new(lane))
    }
}

fn ring(job: &Job, entries: u32) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    if job.backend.has("sqpoll") {
        builder.setup_sqpoll(50);
    }
    builder.build(entries.next_power_of_two())
}

/// The refusal with the switch that is behind it, where there is one.
fn refusal(error: &io::Error) -> String {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    match (error.raw_os_error(), disabled.trim()) {
        (Some(libc::EPERM), "1" | "2") => format!("io_uring: EPERM, kernel.io_uring_disabled={}", disabled.trim()),
        (Some(libc::EPERM), _) => "io_uring: EPERM, forbidden here (a container's seccomp filter?)".into(),
        (Some(libc::ENOSYS), _) => "io_uring: ENOSYS, not in this kernel or filtered out".into(),
        (Some(libc::ENOMEM), _) => "io_uring: ENOMEM, raise the locked-memory limit (ulimit -l)".into(),
        _ => format!("io_uring: {error}"),
    }
}

struct UringLane {
    // Dropped first: closing the ring ends what it still does with the buffer.
    ring: IoUring,
    file: File,
    buffer: Buffer,
    /// Bytes from one slot's buffer to the next.
    stride: usize,
    /// Alignment - 1: the odd last block of direct I/O is asked for rounded up and comes back short.
    mask: u32,
    write: bool,
    fixed_file: bool,
    fixed_buffer: bool,
    refused: Option<String>,
}

impl UringLane {
    /// Registers file and buffer; a refusal is told, and the plain path measured under its own name.
    fn register(&mut self) {
        let submitter = self.ring.submitter();
        match submitter.register_files(&[self.file.as_raw_fd()]) {
            Ok(()) => self.fixed_file = true,
            Err(error) => self.refused = Some(format!("file: {error}")),
        }
        let part = libc::iovec { iov_base: self.buffer.ptr().cast(), iov_len: self.buffer.len() };
        // SAFETY: the buffer lives as long as the ring, which is dropped before it.
        match unsafe { submitter.register_buffers(&[part]) } {
            Ok(()) => self.fixed_buffer = true,
            Err(error) => self.refused = Some(format!("buffer: {error}")),
        }
    }

    #[inline(always)]
    fn entry(&self, request: Request) -> squeue::Entry {
        let at = self.buffer.at(request.slot as usize * self.stride + request.at as usize);
        let len = if self.write { request.len } else { (request.len + self.mask) & !self.mask };
        let entry = match (self.write, self.fixed_buffer, self.fixed_file) {
            (false, true, true) => opcode::ReadFixed::new(types::Fixed(0), at, len, 0).offset(request.offset).build(),
            (false, true, false) => opcode::ReadFixed::new(self.fd(), at, len, 0).offset(request.offset).build(),
            (false, false, true) => opcode::Read::new(types::Fixed(0), at, len).offset(request.offset).build(),
            (false, false, false) => opcode::Read::new(self.fd(), at, len).offset(request.offset).build(),
            (true, true, true) => opcode::WriteFixed::new(types::Fixed(0), at, len, 0).offset(request.offset).build(),
            (true, true, false) => opcode::WriteFixed::new(self.fd(), at, len, 0).offset(request.offset).build(),
            (true, false, true) => opcode::Write::new(types::Fixed(0), at, len).offset(request.offset).build(),
            (true, false, false) => opcode::Write::new(self.fd(), at, len).offset(request.offset).build(),
        };
        entry.user_data(request.slot.into())
    }

    fn fd(&self) -> types::Fd {
        types::Fd(self.file.as_raw_fd())
    }
}

/// The next request for a free slot; the slot stays free when there is none.
#[inline(always)]
fn fill(free: &mut Vec<u32>, work: &mut Work) -> Option<Request> {
    let request = work.next(*free.last()?)?;
    free.pop();
    Some(request)
}

impl Lane for UringLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        if let Some(why) = self.refused.take() {
            work.note(Note::UringPlain(why));
        }
        // Slots to fill: all at first, then those whose operation is over; `rest` what a short one still needs.
        let mut free: Vec<u32> = (0..work.depth()).rev().collect();
        let mut rest: Vec<Request> = Vec::with_capacity(free.len());
        let mut flying = 0u32;
        loop {
            while let Some(request) = rest.pop().or_else(|| fill(&mut free, work)) {
                let entry = self.entry(request);
                // SAFETY: the entry's buffer and file live as long as the ring; the queue has a place for every slot.
                if unsafe { self.ring.submission().push(&entry) }.is_err() {
                    work.abort(BackendError::Ring { step: "submission queue full", error: io::ErrorKind::Other.into() });
                    break;
                }
                flying += 1;
            }
            if flying == 0 {
                return work.finish();
            }
            work.flying(flying);
            if let Err(error) = self.ring.submit_and_wait(1)
                && error.raw_os_error() != Some(libc::EINTR)
            {
                work.abort(BackendError::Ring { step: "io_uring_enter", error });
                return work.finish();
            }
            let mut calls = 1;
            for done in self.ring.completion() {
                let slot = done.user_data() as u32;
                flying -= 1;
                let data = self.buffer.at(slot as usize * self.stride);
                match work.done(slot, done.result() as isize, calls, data) {
                    None => free.push(slot),
                    Some(request) => rest.push(request),
                }
                calls = 0;
            }
            if calls == 1 {
                work.add_syscalls(1);
            }
        }
    }
}
