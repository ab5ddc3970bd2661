//! `tokio`: tokio::fs, asynchronous files as Rust programs use them.
#![allow(unsafe_code)]

use std::future::poll_fn;
use std::io::{self, SeekFrom};
use std::os::fd::OwnedFd;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::time::Duration;

use nix::unistd::{Pid, gettid};
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use tokio::runtime::{Builder, Runtime};

use super::advice;
use super::buffers::lane_buffer;
use super::error::uncounted;
use super::work::Request;
use super::written::LaneBuffer;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::catalog;
use crate::plan::{Info, Job, Op};
use crate::sys::buffer::Buffer;
use crate::sys::process_io::ThreadCalls;
use crate::sys::threads;

pub struct Tokio;

impl Backend for Tokio {
    fn info(&self) -> &'static Info {
        &catalog::TOKIO
    }

    fn check(&self, _: &Target, job: &Job) -> Result<(), Unsupported> {
        advice::check(job)?;
        ThreadCalls::new().map(drop).map_err(uncounted)
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        // One pool thread, which lives as long as the lane.
        let keep_alive = Duration::from_secs(1 << 30);
        let runtime = Builder::new_current_thread()
            .max_blocking_threads(1)
            .thread_keep_alive(keep_alive)
            .build()
            .map_err(BackendError::Runtime)?;
        runtime.block_on(start_thread()).map_err(BackendError::Runtime)?;
        let helper =
            runtime.block_on(runtime.handle().spawn_blocking(|| (gettid(), ThreadCalls::new())));
        let (helper, calls) =
            helper.map_err(|error| BackendError::Runtime(io::Error::other(error)))?;
        Ok(Box::new(TokioLane {
            file: File::from_std(target.open_advised(job)?),
            runtime,
            buffer: lane_buffer(job, 1, lane, target.data())?,
            write: job.op == Op::Write,
            position: 0,
            seeks: 0,
            helper,
            calls: calls.map_err(uncounted)?,
        }))
    }
}

/// Starts the pool thread by a write to a pipe: where no thread can be started that returns an
/// error, while the rest of tokio panics.
async fn start_thread() -> io::Result<()> {
    let (_reader, writer) = io::pipe()?;
    let mut pipe = pin!(File::from_std(OwnedFd::from(writer).into()));
    let wrote = poll_fn(|cx| pipe.as_mut().poll_write(cx, &[0])).await;
    wrote.map_err(|_| io::Error::other("cannot start its pool thread: use fewer --threads"))?;
    poll_fn(|cx| pipe.as_mut().poll_flush(cx)).await
}

/// Fields drop in order: the file before its runtime.
struct TokioLane {
    file: File,
    runtime: Runtime,
    buffer: LaneBuffer,
    write: bool,
    position: u64,
    /// One lseek each, which the kernel does not count.
    seeks: u64,
    /// The thread that makes the calls.
    helper: Pid,
    /// System calls of that thread; reading the count is one of ours.
    calls: ThreadCalls,
}

/// An operation on one lane's file and buffer.
struct FileOps<'a> {
    file: Pin<&'a mut File>,
    buffer: &'a Buffer,
    write: bool,
    position: &'a mut u64,
    seeks: &'a mut u64,
}

impl FileOps<'_> {
    async fn transfer(&mut self, request: Request) -> io::Result<usize> {
        if request.offset != *self.position {
            *self.seeks += 1;
            self.file.as_mut().start_seek(SeekFrom::Start(request.offset))?;
            poll_fn(|cx| self.file.as_mut().poll_complete(cx)).await?;
        }
        let (at, len) = (self.buffer.address(request.at as usize), request.len as usize);
        // SAFETY: the buffer holds the largest block, and nothing else uses it: tokio reads into
        // its own memory.
        let block = unsafe { std::slice::from_raw_parts_mut(at, len) };
        let done = if self.write {
            let done = poll_fn(|cx| self.file.as_mut().poll_write(cx, block)).await?;
            // Until then it is only queued.
            poll_fn(|cx| self.file.as_mut().poll_flush(cx)).await?;
            done
        } else {
            let mut block = ReadBuf::new(block);
            poll_fn(|cx| self.file.as_mut().poll_read(cx, &mut block)).await?;
            block.filled().len()
        };
        *self.position = request.offset + done as u64;
        Ok(done)
    }
}

impl Lane for TokioLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        let before = self.calls.now();
        let data = self.buffer.ptr().cast_const();
        work.write_from(&self.buffer);
        let mut ops = FileOps {
            file: Pin::new(&mut self.file),
            buffer: &self.buffer,
            write: self.write,
            position: &mut self.position,
            seeks: &mut self.seeks,
        };
        self.runtime.block_on(async {
            while let Some(mut request) = work.next(0) {
                loop {
                    let result = match ops.transfer(request).await {
                        Ok(done) => done as isize,
                        Err(error) => -(error.raw_os_error().unwrap_or(libc::EIO) as isize),
                    };
                    match work.done(0, result, 0, data) {
                        None => break,
                        Some(rest) => request = rest,
                    }
                }
            }
        });
        match (before, self.calls.now()) {
            (Ok(before), Ok(after)) => {
                work.add_syscalls(after.saturating_sub(before) + std::mem::take(&mut self.seeks))
            }
            (Err(error), _) | (_, Err(error)) => work.abort(uncounted(error).into()),
        }
        work.finish()
    }

    fn turn_to(&mut self, file: Rc<std::fs::File>, _: &Job) -> Result<u32, BackendError> {
        // The duplicate has the position that earlier passes have moved.
        self.file = File::from_std(file.try_clone().map_err(BackendError::Open)?);
        self.position = u64::MAX;
        Ok(2)
    }

    fn helper_nanos(&self) -> Option<u64> {
        threads::thread_nanos(self.helper)
    }
}
