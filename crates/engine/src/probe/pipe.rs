//! `pipe`: throughput of a pipe or a Unix socket to another process.
#![allow(unsafe_code)]

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::batch::BatchTime;
use super::context::ProbeContext;
use super::error::ProbeError;
use super::helper::{HelperProcess, Placement};
use super::kind::{Gauge, Probe};
use super::param_table::{ParamRow, has_only, number};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::record::{Estimate, Unit};
use crate::sys::buffer::Aligned;

pub(super) struct Pipe;

static INFO: ProbeInfo = ProbeInfo {
    id: "pipe",
    group: Group::Cpu,
    title: "pipe bandwidth",
    about: "throughput of a pipe and of a Unix socket to another process, 64 KiB at a time",
    doc: "Writes 64 KiB at a time to another process that reads them, and waits until it reports \
          that all arrived. Every byte is copied into the kernel and out again, so on one CPU half \
          the copy bandwidth is the limit; across CPUs the two copies overlap, but the data moves \
          from one CPU's cache to the other's. A pipe holds 64 KiB, so the two sides often wait \
          for each other.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "bytes per write",
        of: RangeOf::Bytes,
        least: 1,
        most: MAX_BYTES,
        step: 1,
        usual: "64k",
    }],
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Pipe,
    Unix,
}

/// Expected bytes per second.
const KINDS: &[ParamRow<Kind>] = &[
    ParamRow {
        name: "pipe",
        value: Kind::Pipe,
        range: (0.5e9, 8e9),
        why: "two copies of each byte and two switches per 64 KiB",
    },
    ParamRow {
        name: "unix",
        value: Kind::Unix,
        range: (0.5e9, 8e9),
        why: "two copies of each byte, and a buffer allocated and freed for each part",
    },
];

const BLOCK: usize = 64 << 10;

/// Largest write.
const MAX_BYTES: u64 = 1 << 20;

fn parse_cell(cell: &ProbeCell) -> Option<(&'static ParamRow<Kind>, Placement, usize)> {
    let (bytes, known): (_, &[&str]) = match cell.params.get("bytes") {
        None => (BLOCK, &["kind", "cpus"]),
        Some(_) => (
            number(cell, "bytes").filter(|bytes| (1..=MAX_BYTES).contains(bytes))? as usize,
            &["kind", "cpus", "bytes"],
        ),
    };
    Some((ParamRow::find(KINDS, cell, "kind")?, Placement::parse(cell)?, bytes))
        .filter(|_| has_only(cell, known))
}

impl Probe for Pipe {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, context: &ProbeContext) -> Vec<ProbeCell> {
        let sizes = context.requested_values(&INFO, "bytes").unwrap_or_else(|| vec![BLOCK as u64]);
        fn cell(kind: &'static str, cpus: &'static str, bytes: u64) -> ProbeCell {
            // The default size is not a parameter of its cells, for compatibility with older
            // sessions.
            let said = (bytes != BLOCK as u64).then_some(("bytes", bytes.into()));
            ProbeCell::new(
                INFO.id,
                [("kind", kind.into()), ("cpus", cpus.into())].into_iter().chain(said),
            )
        }
        let places = |bytes: u64| {
            KINDS
                .iter()
                .flat_map(move |kind| Placement::ALL.map(|(cpus, _)| cell(kind.name, cpus, bytes)))
        };
        sizes.into_iter().flat_map(places).collect()
    }

    fn unit(&self, _: &ProbeCell) -> Unit {
        Unit::BytesPerSecond
    }

    fn check(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<(), String> {
        parse_cell(cell).map_or(Ok(()), |(_, place, _)| place.check(context))
    }

    fn estimate(&self, cell: &ProbeCell, _: &ProbeContext) -> Option<Estimate> {
        parse_cell(cell)?.0.as_estimate()
    }

    fn open(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        let (kind, place, block) = parse_cell(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        fn pipe() -> Result<(OwnedFd, OwnedFd), ProbeError> {
            nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).map_err(ProbeError::in_call("pipe"))
        }
        let (from, to) = match kind.value {
            Kind::Pipe => pipe()?,
            Kind::Unix => {
                let (one, two) = std::os::unix::net::UnixStream::pair()
                    .map_err(ProbeError::in_call("socketpair"))?;
                (one.into(), two.into())
            }
        };
        let (back, answer) = pipe()?;
        let memory = |value| {
            Aligned::filled(block, value).map_err(ProbeError::in_call("memory for a message"))
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
        let helper = unsafe { HelperProcess::fork(place, context, body) }?;
        // Once our copies of its ends are closed, writing to a helper that has exited fails with
        // EPIPE.
        drop((from, answer));
        Ok(Box::new(Stream { to, back, data, context: context.clone(), _helper: helper }))
    }
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

struct Stream {
    to: OwnedFd,
    back: OwnedFd,
    data: Aligned,
    context: ProbeContext,
    _helper: HelperProcess,
}

impl Gauge for Stream {
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
