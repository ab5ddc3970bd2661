//! `pipe`: bytes through a pipe or a Unix socket to another process.
#![allow(unsafe_code)]

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::known::{Known, has_only, number};
use super::partner::{Place, Process};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::record::{Estimate, Unit};
use crate::sys::buffer::Aligned;

pub(super) struct Pipe;

static INFO: ProbeInfo = ProbeInfo {
    id: "pipe",
    group: Group::Cpu,
    title: "pipe bandwidth",
    about: "bytes per second through a pipe and a Unix socket to another process, 64 KiB at a time",
    doc: "Writes 64 KiB at a time to another process that reads them, and waits for its word that all came. Every byte is copied into the \
          kernel and out again, so half the copy bandwidth is the most on one CPU; across CPUs both copies go on at once, but the data \
          goes from one CPU's cache to the other's. A pipe holds 64 KiB, so both sides often wait for each other.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "bytes that are written at a time",
        of: RangeOf::Bytes,
        least: 1,
        most: MOST,
        step: 1,
        usual: "64k",
    }],
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Pipe,
    Unix,
}

/// Bytes per second.
const KINDS: &[Known<Kind>] = &[
    Known {
        name: "pipe",
        what: Kind::Pipe,
        range: (0.5e9, 8e9),
        why: "two copies of each byte and two switches for 64 KiB",
    },
    Known {
        name: "unix",
        what: Kind::Unix,
        range: (0.5e9, 8e9),
        why: "two copies of each byte, and a buffer made and freed for each part",
    },
];

const BLOCK: usize = 64 << 10;

/// No more is written at a time.
const MOST: u64 = 1 << 20;

fn parts(cell: &ProbeCell) -> Option<(&'static Known<Kind>, Place, usize)> {
    let (bytes, known): (_, &[&str]) = match cell.params.get("bytes") {
        None => (BLOCK, &["kind", "cpus"]),
        Some(_) => (
            number(cell, "bytes").filter(|bytes| (1..=MOST).contains(bytes))? as usize,
            &["kind", "cpus", "bytes"],
        ),
    };
    Some((Known::of(KINDS, cell, "kind")?, Place::of(cell)?, bytes))
        .filter(|_| has_only(cell, known))
}

impl Probe for Pipe {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        let sizes = site.chosen(&INFO, "bytes").unwrap_or_else(|| vec![BLOCK as u64]);
        let cell = |kind: &'static str, cpus: &'static str, bytes: u64| {
            // The cells without a size have the usual one, in sessions of before too.
            let said = (bytes != BLOCK as u64).then_some(("bytes", bytes.into()));
            ProbeCell::new(
                INFO.id,
                [("kind", kind.into()), ("cpus", cpus.into())].into_iter().chain(said),
            )
        };
        let places = |bytes: u64| {
            KINDS
                .iter()
                .flat_map(move |kind| Place::ALL.map(|(cpus, _)| cell(kind.name, cpus, bytes)))
        };
        sizes.into_iter().flat_map(places).collect()
    }

    fn unit(&self, _: &ProbeCell) -> Unit {
        Unit::BytesPerSecond
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        parts(cell).map_or(Ok(()), |(_, place, _)| place.check(site))
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        parts(cell)?.0.as_it_is()
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let (kind, place, block) = parts(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        let pipe =
            || nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).map_err(ProbeError::of("pipe"));
        let (from, to) = match kind.what {
            Kind::Pipe => pipe()?,
            Kind::Unix => {
                let (one, two) =
                    std::os::unix::net::UnixStream::pair().map_err(ProbeError::of("socketpair"))?;
                (one.into(), two.into())
            }
        };
        let (back, answer) = pipe()?;
        let memory =
            |value| Aligned::filled(block, value).map_err(ProbeError::of("memory for a message"));
        let (mut buffer, data) = (memory(0)?, memory(0x5a)?);
        let (reads, writes) = (from.as_raw_fd(), answer.as_raw_fd());
        let (not_mine, nor_mine) = (to.as_raw_fd(), back.as_raw_fd());
        let body = || {
            // SAFETY: after the fork these are this process' own; without them it sees the end when
            // the other side is gone.
            unsafe {
                libc::close(not_mine);
                libc::close(nor_mine);
            }
            drain(reads, writes, &mut buffer);
        };
        // SAFETY: it reads and writes by system calls, into a buffer that is there already.
        let partner = unsafe { Process::fork(place, site, body) }?;
        // A partner that is gone then shows as a broken pipe.
        drop((from, answer));
        Ok(Box::new(Stream { to, back, data, site: site.clone(), _partner: partner }))
    }
}

/// The partner: reads how many bytes come, then these, then says so; until the other side is gone.
/// System calls only.
fn drain(from: RawFd, to: RawFd, buffer: &mut [u8]) {
    let mut length = [0u8; 8];
    while all_read(from, &mut length) {
        let mut left = u64::from_ne_bytes(length);
        while left > 0 {
            let want = left.min(buffer.len() as u64) as usize;
            match some_read(from, &mut buffer[..want]) {
                0 => return,
                got => left -= got as u64,
            }
        }
        if !all_written(to, &[1]) {
            return;
        }
    }
}

pub(super) fn interrupted() -> bool {
    io::Error::last_os_error().kind() == ErrorKind::Interrupted
}

/// Bytes read; 0 at the end and on any error.
fn some_read(from: RawFd, to: &mut [u8]) -> usize {
    loop {
        // SAFETY: the slice is writable for its length.
        match unsafe { libc::read(from, to.as_mut_ptr().cast(), to.len()) } {
            -1 if interrupted() => {}
            got => return usize::try_from(got).unwrap_or(0),
        }
    }
}

pub(super) fn all_read(from: RawFd, to: &mut [u8]) -> bool {
    let mut done = 0;
    while done < to.len() {
        match some_read(from, &mut to[done..]) {
            0 => return false,
            got => done += got,
        }
    }
    true
}

pub(super) fn all_written(to: RawFd, from: &[u8]) -> bool {
    let mut done = 0;
    while done < from.len() {
        // SAFETY: the slice is readable for its length.
        match unsafe { libc::write(to, from[done..].as_ptr().cast(), from.len() - done) } {
            -1 if interrupted() => {}
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
    site: Site,
    _partner: Process,
}

impl Gauge for Stream {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let bytes = count * self.data.len() as u64;
        let (to, mut good) = (self.to.as_raw_fd(), true);
        let took = Took::whole(bytes as f64, || {
            good = all_written(to, &bytes.to_ne_bytes())
                && (0..count).all(|_| all_written(to, &self.data) && !self.site.stopping());
            good = good && all_read(self.back.as_raw_fd(), &mut [0]);
        });
        self.site.go_on()?;
        if good { Ok(took) } else { Err(ProbeError::Missing("the partner is gone".into())) }
    }

    fn most(&self) -> u64 {
        1 << 24
    }
}
