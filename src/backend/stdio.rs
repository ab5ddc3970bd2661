//! `stdio`: fread(3) and fwrite(3) of the C library, with its own buffer or one of a given size.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr::NonNull;

use super::pread::or_errno;
use super::work::Request;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work, lane_buffer};
use crate::plan::{Depth, Info, Job, Moves, Op, Opt};
use crate::sys::buffer::Buffer;
use crate::sys::process_io::ProcessIo;

pub struct Stdio;

impl Backend for Stdio {
    fn info(&self) -> &'static Info {
        &Info {
            id: "stdio",
            title: "fread(3)",
            about: "the C library's buffered streams: many small reads from one system call",
            doc: "One fread (or fwrite) per block on a FILE of the C library; fseek first where the order jumps. Its own buffer is one block of \
                  the file system (4 KiB); +buf=SIZE hands setvbuf a buffer of that size, since glibc ignores the size with a null one. \
                  System calls are counted by the kernel (/proc/thread-self/io).",
            moves: Moves::Data,
            ops: &[Op::Read, Op::Write],
            depth: Depth::Synchronous,
            direct: false,
            cached: true,
            options: &[Opt { name: "buf", value: Some("SIZE"), about: "a stream buffer of this size (setvbuf)" }],
        }
    }

    fn check(&self, _: &Target, _: &Job) -> Result<(), Unsupported> {
        match ProcessIo::thread() {
            Ok(_) => Ok(()),
            Err(error) => Err(Unsupported(format!("system calls cannot be counted: /proc/thread-self/io: {error}"))),
        }
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let file = target.open(job)?;
        let mode = if job.op == Op::Write { c"r+" } else { c"r" };
        // SAFETY: the descriptor is open in that mode and handed over with its ownership.
        let stream = NonNull::new(unsafe { libc::fdopen(file.as_raw_fd(), mode.as_ptr()) });
        let Some(stream) = stream else { return Err(BackendError::Open(std::io::Error::last_os_error())) };
        let _ = file.into_raw_fd();
        let mut lane = StdioLane {
            stream,
            own: None,
            block: lane_buffer(job, 1, lane)?,
            write: job.op == Op::Write,
            position: 0,
            counting: counting(),
        };
        if let Some(size) = job.backend.size("buf") {
            let len = usize::try_from(size).unwrap_or(usize::MAX);
            let own = Buffer::new(len).map_err(|error| BackendError::Memory { len: size, error })?;
            // SAFETY: no I/O was done on the stream yet; the buffer outlives it (closed in drop, before the fields).
            unsafe { libc::setvbuf(stream.as_ptr(), own.ptr().cast(), libc::_IOFBF, len) };
            lane.own = Some(own);
        }
        Ok(Box::new(lane))
    }
}

struct StdioLane {
    stream: NonNull<libc::FILE>,
    own: Option<Buffer>,
    block: Buffer,
    write: bool,
    position: u64,
    /// What counting itself adds to the count.
    counting: u64,
}

impl StdioLane {
    fn one(&mut self, request: Request) -> isize {
        let stream = self.stream.as_ptr();
        let (at, len) = (self.block.at(request.at as usize), request.len as usize);
        // SAFETY: the stream is open until drop; the block buffer holds `len` bytes at `at`.
        let done = unsafe {
            if request.offset != self.position && libc::fseeko(stream, request.offset as libc::off_t, libc::SEEK_SET) != 0 {
                return or_errno(-1);
            }
            if self.write { libc::fwrite(at.cast(), 1, len, stream) } else { libc::fread(at.cast(), 1, len, stream) }
        };
        self.position = request.offset + done as u64;
        // SAFETY: as above. A short count is an error or the end of the file; `done` bytes did arrive.
        if done == 0 && len > 0 && unsafe { libc::ferror(stream) } != 0 { or_errno(-1) } else { done as isize }
    }
}

impl Lane for StdioLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        let before = ProcessIo::thread().unwrap_or_default();
        let data = self.block.ptr().cast_const();
        while let Some(mut request) = work.next(0) {
            loop {
                let result = self.one(request);
                match work.done(0, result, 0, data) {
                    None => break,
                    Some(rest) => request = rest,
                }
            }
        }
        // SAFETY: the stream is open; what fwrite still holds belongs to the timed work.
        if self.write && unsafe { libc::fflush(self.stream.as_ptr()) } != 0 {
            work.abort(BackendError::Open(std::io::Error::last_os_error()));
        }
        let after = ProcessIo::thread().unwrap_or_default();
        let calls = (after.syscr + after.syscw).saturating_sub(before.syscr + before.syscw);
        work.add_syscalls(calls.saturating_sub(self.counting));
        work.finish()
    }
}

/// Read calls that two readings of the counters in a row show: those of reading them.
fn counting() -> u64 {
    match (ProcessIo::thread(), ProcessIo::thread()) {
        (Ok(before), Ok(after)) => (after.syscr + after.syscw).saturating_sub(before.syscr + before.syscw),
        _ => 0,
    }
}

impl Drop for StdioLane {
    fn drop(&mut self) {
        // SAFETY: closed once; nothing uses the stream afterwards, and its buffer is dropped after this.
        unsafe { libc::fclose(self.stream.as_ptr()) };
    }
}
