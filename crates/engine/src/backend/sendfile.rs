//! `sendfile`: sendfile(2) from the file to /dev/null, or to a socket that the same thread reads.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use super::buffers::lane_buffer;
use super::drive::run_each;
use super::splice::{open_null, run_through};
use super::written::{LaneBuffer, WrittenData};
use super::{Backend, BackendError, Lane, Target, Work, advice};
use crate::catalog;
use crate::plan::{Info, Job};
use crate::sys::{calls, raw};
use crate::with_fill;

pub struct Sendfile;

impl Backend for Sendfile {
    fn info(&self) -> &'static Info {
        &catalog::SENDFILE
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let sink = if job.backend.has("socket") {
            Sink::Socket(open_socket(job, lane)?)
        } else {
            Sink::Null(open_null()?)
        };
        Ok(Box::new(SendfileLane {
            file: target.open_advised(job)?.into(),
            sink,
            will_need: job.backend.has(catalog::WILL_NEED.name),
        }))
    }
}

/// A pair of sockets, and the buffer that the read end is emptied into.
struct Socket {
    to: UnixStream,
    from: UnixStream,
    buffer: LaneBuffer,
}

fn open_socket(job: &Job, lane: u32) -> Result<Socket, BackendError> {
    let pair = || {
        let (to, from) = UnixStream::pair()?;
        // A full socket returns an error: the same thread reads the other end.
        to.set_nonblocking(true)?;
        Ok((to, from))
    };
    let (to, from) = pair().map_err(BackendError::Open)?;
    Ok(Socket { to, from, buffer: lane_buffer(job, 1, lane, WrittenData::default())? })
}

enum Sink {
    Null(File),
    Socket(Socket),
}

struct SendfileLane {
    file: Rc<File>,
    sink: Sink,
    will_need: bool,
}

fn to_null<const FILL: bool>(
    work: &mut Work,
    file: RawFd,
    sink: RawFd,
) -> Result<(), BackendError> {
    run_each(work, std::ptr::null(), 1, |r| {
        calls::sendfile::<FILL>(sink, file, r.offset, r.len as usize)
    })
}

fn to_socket<const FILL: bool>(
    work: &mut Work,
    file: RawFd,
    socket: &Socket,
) -> Result<(), BackendError> {
    let (to, from) = (socket.to.as_raw_fd(), socket.from.as_raw_fd());
    run_through(
        work,
        |offset, len| calls::sendfile::<FILL>(to, file, offset, len),
        // SAFETY: the buffer holds the largest block, which the two stay within.
        |at, len| unsafe { raw::read::<FILL>(from, socket.buffer.address(at), len) },
    )
}

impl Lane for SendfileLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        advice::will_need(&self.file, self.will_need, work);
        let file = self.file.as_raw_fd();
        match &self.sink {
            Sink::Null(sink) => with_fill!(FILL => to_null::<FILL>(work, file, sink.as_raw_fd())),
            Sink::Socket(socket) => with_fill!(FILL => to_socket::<FILL>(work, file, socket)),
        }
    }

    fn turn_to(&mut self, file: Rc<File>, _: &Job) -> Result<u32, BackendError> {
        self.file = file;
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::backend::access_pattern::Share;
    use crate::backend::testing;
    use crate::backend::work::Published;
    use crate::plan::Choice;

    #[test]
    fn the_socket_delivers_the_block() {
        let (_file, data, target) = testing::file(300_001, 8);
        let backend = Choice::parse("sendfile+socket").unwrap();
        // Larger than a socket takes at once.
        let job = Job { backend, block: 300_001, span: 300_001, ..testing::job() };
        let (stop, published) = (AtomicBool::new(false), Published::default());
        let mut work = Work::new(Sendfile.assignment(
            &job,
            Share::for_lane(&job, 0, u64::MAX, 7),
            &stop,
            &published,
        ));
        let (file, socket) = (target.open(&job).unwrap(), open_socket(&job, 0).unwrap());
        to_socket::<false>(&mut work, file.as_raw_fd(), &socket).unwrap();
        assert!(socket.buffer.to_vec(300_001) == data);
        let tally = work.tally();
        assert!(tally.bytes == 300_001 && tally.syscalls > 2, "{}", tally.syscalls);
    }
}
