//! `stdio`: fread(3) and fwrite(3) of the C library, with its own buffer or one of a given size.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr::NonNull;
use std::rc::Rc;

use super::advice;
use super::block_call::or_errno;
use super::buffers::lane_buffer;
use super::drive::run_each;
use super::error::uncounted;
use super::work::Request;
use super::written::LaneBuffer;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::catalog;
use crate::plan::{Info, Job, Op};
use crate::sys::buffer::Buffer;
use crate::sys::process_io::ThreadCalls;

pub struct Stdio;

impl Backend for Stdio {
    fn info(&self) -> &'static Info {
        &catalog::STDIO
    }

    fn check(&self, _: &Target, job: &Job) -> Result<(), Unsupported> {
        advice::check(job)?;
        ThreadCalls::new().map(drop).map_err(uncounted)
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let mut lane = StdioLane {
            stream: open_stream(target.open_advised(job)?, job)?,
            stream_buffer: None,
            block: lane_buffer(job, 1, lane, target.data())?,
            write: job.op == Op::Write,
            position: 0,
            seeks: 0,
            calls: ThreadCalls::new().map_err(uncounted)?,
        };
        if let Some(size) = job.backend.size("buf") {
            let len = usize::try_from(size).unwrap_or(usize::MAX);
            let stream_buffer =
                Buffer::new(len).map_err(|error| BackendError::Memory { len: size, error })?;
            lane.stream_buffer = Some((stream_buffer, len));
            lane.set_buffer();
        }
        Ok(Box::new(lane))
    }
}

fn open_stream(file: File, job: &Job) -> Result<NonNull<libc::FILE>, BackendError> {
    // Not "r+": with it glibc reads a block of the file at each fseek. fdopen never truncates.
    let mode = if job.op == Op::Write { c"w" } else { c"r" };
    // SAFETY: the descriptor is open in that mode, and the stream takes its ownership.
    let stream = NonNull::new(unsafe { libc::fdopen(file.as_raw_fd(), mode.as_ptr()) });
    let stream = stream.ok_or_else(|| BackendError::Open(std::io::Error::last_os_error()))?;
    let _ = file.into_raw_fd();
    Ok(stream)
}

struct StdioLane {
    stream: NonNull<libc::FILE>,
    /// The buffer of `+buf`, and its bytes.
    stream_buffer: Option<(Buffer, usize)>,
    block: LaneBuffer,
    write: bool,
    position: u64,
    /// Calls of fseek. Each makes one lseek even within the buffer (glibc, musl), which the
    /// kernel's count lacks.
    seeks: u64,
    calls: ThreadCalls,
}

impl StdioLane {
    /// Gives a stream that was just opened its buffer.
    fn set_buffer(&mut self) {
        let Some((buffer, len)) = &self.stream_buffer else { return };
        // SAFETY: no I/O was done on the stream yet; the buffer outlives it (closed in drop, before
        // the fields).
        unsafe {
            libc::setvbuf(self.stream.as_ptr(), buffer.ptr().cast(), libc::_IOFBF, *len);
        }
    }

    fn transfer(&mut self, request: Request) -> isize {
        let stream = self.stream.as_ptr();
        let (at, len) = (self.block.address(request.at as usize), request.len as usize);
        // SAFETY: the stream is open until drop; the block buffer holds `len` bytes at `at`.
        unsafe {
            if request.offset != self.position {
                self.seeks += 1;
                if libc::fseeko(stream, request.offset as libc::off_t, libc::SEEK_SET) != 0 {
                    return or_errno(-1);
                }
            }
            let done = if self.write {
                libc::fwrite(at.cast(), 1, len, stream)
            } else {
                libc::fread(at.cast(), 1, len, stream)
            };
            self.position = request.offset + done as u64;
            if done == len { done as isize } else { self.short_result(done) }
        }
    }

    /// Returns the result of a short transfer: an error or the end of the file after `done` bytes.
    #[cold]
    fn short_result(&mut self, done: usize) -> isize {
        let error = or_errno(-1);
        let stream = self.stream.as_ptr();
        // SAFETY: the stream is open until drop.
        let failed = unsafe { libc::ferror(stream) } != 0;
        // SAFETY: the stream is open until drop. A flag that stayed up would make a later end of
        // the file look like this error.
        unsafe { libc::clearerr(stream) };
        if done == 0 && failed { error } else { done as isize }
    }
}

impl Lane for StdioLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        let before = self.calls.now();
        let data = self.block.ptr().cast_const();
        work.write_from(&self.block);
        let result = run_each(work, data, 0, |request| self.transfer(request));
        // SAFETY: the stream is open until drop. What fwrite buffers belongs to the timed work.
        if self.write && unsafe { libc::fflush(self.stream.as_ptr()) } != 0 {
            work.abort(BackendError::Flush {
                offset: self.position,
                error: std::io::Error::last_os_error(),
            });
        }
        match (before, self.calls.now()) {
            // The second count includes the call that took the first.
            (Ok(before), Ok(after)) => work
                .add_syscalls(after.saturating_sub(before + 1) + std::mem::take(&mut self.seeks)),
            (Err(error), _) | (_, Err(error)) => work.abort(uncounted(error).into()),
        }
        result.and(work.finish())
    }

    fn turn_to(&mut self, file: Rc<File>, job: &Job) -> Result<u32, BackendError> {
        // The duplicate has the position that earlier passes have moved.
        let next = open_stream(file.try_clone().map_err(BackendError::Open)?, job)?;
        let before = std::mem::replace(&mut self.stream, next);
        // SAFETY: closed once; nothing uses it afterwards.
        unsafe { libc::fclose(before.as_ptr()) };
        self.set_buffer();
        self.position = u64::MAX;
        // fcntl(2) twice, fstat(2) and close(2).
        Ok(4)
    }
}

impl Drop for StdioLane {
    fn drop(&mut self) {
        // SAFETY: closed once; nothing uses the stream afterwards, and its buffer is dropped after
        // this.
        unsafe { libc::fclose(self.stream.as_ptr()) };
    }
}
