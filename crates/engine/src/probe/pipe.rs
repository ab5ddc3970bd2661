//! `pipe`: throughput of a pipe or a Unix socket to another process.
#![allow(unsafe_code)]

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::helper::{HelperProcess, Placement};
use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamRow, ParamSource, ProbeContext, ProbeError,
    param_rows,
};
use crate::record::{Estimate, Unit};
use crate::sys::buffer::Aligned;

param_rows! {
    /// Expected bytes per second.
    KINDS: PipeKind;
    "pipe" => Pipe, (0.5e9, 8e9), "two copies of each byte and two switches per 64 KiB";
    "unix" => Unix, (0.5e9, 8e9),
        "two copies of each byte, and a buffer allocated and freed for each part";
}

/// The size of a write that cells do not state, for compatibility with older sessions.
const BLOCK: u64 = 64 << 10;

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let bytes = source.number_or("bytes", BLOCK)?;
    let (kind, place) = (source.row("kind", KINDS)?, source.word("cpus", &Placement::ALL)?);
    Some(Box::new(PipeBandwidth { kind, place, bytes }))
}

struct PipeBandwidth {
    kind: &'static ParamRow<PipeKind>,
    /// Where the reader runs.
    place: Placement,
    /// Bytes per write.
    bytes: u64,
}

impl KnownCell for PipeBandwidth {
    fn unit(&self) -> Unit {
        Unit::BytesPerSecond
    }

    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        self.place.check(context)
    }

    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        self.kind.as_estimate()
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let (from, to) = match self.kind.value {
            PipeKind::Pipe => pipe()?,
            PipeKind::Unix => {
                let (one, two) = std::os::unix::net::UnixStream::pair()
                    .map_err(ProbeError::in_call("socketpair"))?;
                (one.into(), two.into())
            }
        };
        let (back, answer) = pipe()?;
        let memory = |value| {
            Aligned::filled(self.bytes as usize, value)
                .map_err(ProbeError::in_call("memory for a message"))
        };
        let (mut buffer, data) = (memory(0)?, memory(0x5a)?);
        let (reads, writes) = (from.as_raw_fd(), answer.as_raw_fd());
        let (parent_end, parent_reply_end) = (to.as_raw_fd(), back.as_raw_fd());
        let body = || {
            // SAFETY: after the fork these descriptors belong only to this process, which does not
            // use them; once they are closed it sees end of file when the other side exits.
            unsafe {
                libc::close(parent_end);
                libc::close(parent_reply_end);
            }
            drain(reads, writes, &mut buffer);
        };
        // SAFETY: `drain` makes only system calls, on a buffer allocated before the fork.
        let helper = unsafe { HelperProcess::fork(self.place, context, body) }?;
        // Once our copies of its ends are closed, writing to a helper that has exited fails with
        // EPIPE.
        drop((from, answer));
        Ok(Box::new(PipeStream { to, back, data, context: context.clone(), _helper: helper }))
    }
}

/// Creates a pipe: where it is read, and where it is written.
pub(super) fn pipe() -> Result<(OwnedFd, OwnedFd), ProbeError> {
    nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).map_err(ProbeError::in_call("pipe"))
}

/// Runs the helper: reads a byte count, then that many bytes, then sends one byte back, until the
/// other side closes the pipe. Makes only system calls.
fn drain(from: RawFd, to: RawFd, buffer: &mut [u8]) {
    let mut length = [0u8; 8];
    while read_exact(from, &mut length) {
        let mut left = u64::from_ne_bytes(length);
        while left > 0 {
            let want = left.min(buffer.len() as u64) as usize;
            match read_some(from, &mut buffer[..want]) {
                0 => return,
                got => left -= got as u64,
            }
        }
        if !write_all(to, &[1]) {
            return;
        }
    }
}

pub(super) fn was_interrupted() -> bool {
    io::Error::last_os_error().kind() == ErrorKind::Interrupted
}

/// Reads once; returns the number of bytes, 0 at end of file and on any error.
fn read_some(from: RawFd, to: &mut [u8]) -> usize {
    loop {
        // SAFETY: read(2) writes at most `to.len()` bytes, for which the slice is writable.
        match unsafe { libc::read(from, to.as_mut_ptr().cast(), to.len()) } {
            -1 if was_interrupted() => {}
            got => return usize::try_from(got).unwrap_or(0),
        }
    }
}

pub(super) fn read_exact(from: RawFd, to: &mut [u8]) -> bool {
    let mut done = 0;
    while done < to.len() {
        match read_some(from, &mut to[done..]) {
            0 => return false,
            got => done += got,
        }
    }
    true
}

pub(super) fn write_all(to: RawFd, from: &[u8]) -> bool {
    let mut done = 0;
    while done < from.len() {
        // SAFETY: write(2) reads at most the rest of `from`, which is readable.
        match unsafe { libc::write(to, from[done..].as_ptr().cast(), from.len() - done) } {
            -1 if was_interrupted() => {}
            got => match usize::try_from(got) {
                Ok(got) if got > 0 => done += got,
                _ => return false,
            },
        }
    }
    true
}

struct PipeStream {
    to: OwnedFd,
    back: OwnedFd,
    data: Aligned,
    context: ProbeContext,
    _helper: HelperProcess,
}

impl Gauge for PipeStream {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let bytes = count * self.data.len() as u64;
        let (to, mut good) = (self.to.as_raw_fd(), true);
        let batch = BatchTime::of_block(bytes as f64, || {
            good = write_all(to, &bytes.to_ne_bytes())
                && (0..count).all(|_| write_all(to, &self.data) && !self.context.is_stopping());
            good = good && read_exact(self.back.as_raw_fd(), &mut [0]);
        });
        self.context.check_stop()?;
        if good { Ok(batch) } else { Err(ProbeError::Missing("the helper process is gone".into())) }
    }

    fn max_batch(&self) -> u64 {
        1 << 24
    }
}
