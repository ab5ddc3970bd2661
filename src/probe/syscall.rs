//! `syscall`: into the kernel and back, inlined and through the C library.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};

use super::known::{Known, has_only, text};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;
use crate::sys::{calls, raw};
use crate::with_fill;

pub(super) struct Syscall;

static INFO: ProbeInfo = ProbeInfo {
    id: "syscall",
    group: Group::Cpu,
    title: "system call",
    about: "getpid, getppid, a read and a write of one byte, stat, open with close: inlined and through the C library",
    doc: "Makes one kind of system call again and again, and subtracts the loop around it. getpid does next to nothing in the kernel: it is \
          the price of the way in and out, with what this machine does against speculation. read takes one byte from /dev/zero and write \
          gives one to /dev/null, so that the file layer comes on top but no data; stat and open with close also walk a path of two names, \
          /dev/null (lmbench opens a regular file of four names, /usr/include/linux/types.h). \
          Inlined, the instruction stands in the loop as in iotui's own backends; through the C library there is a call around it and, on \
          some CPUs, a return that is guessed wrong. The ratio to a procedure call is what makes batching worth while.",
    makes_files: false,
    params: &[],
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Getpid,
    Getppid,
    Read,
    Write,
    Stat,
    OpenClose,
}

/// Nanoseconds of one call.
const KINDS: &[Known<Kind>] = &[
    Known {
        name: "getpid",
        what: Kind::Getpid,
        range: (40.0, 400.0),
        why: "the way into the kernel and back: 40 ns bare, several times that with guards against speculation",
    },
    Known {
        name: "getppid",
        what: Kind::Getppid,
        range: (45.0, 420.0),
        why: "that, and a look at the parent's number",
    },
    Known {
        name: "read",
        what: Kind::Read,
        range: (60.0, 600.0),
        why: "that, the descriptor, and one byte cleared",
    },
    Known {
        name: "write",
        what: Kind::Write,
        range: (60.0, 600.0),
        why: "that, the descriptor, and a byte thrown away",
    },
    Known {
        name: "stat",
        what: Kind::Stat,
        range: (200.0, 1500.0),
        why: "that, a path of two names looked up in the cache, and 144 bytes copied out",
    },
    Known {
        name: "open-close",
        what: Kind::OpenClose,
        range: (400.0, 4000.0),
        why: "two calls, a path of two names, and a file made and freed",
    },
];

const PATH: &CStr = c"/dev/null";

/// The call, and whether it goes through the C library.
fn parts(cell: &ProbeCell) -> Option<(&'static Known<Kind>, bool)> {
    let libc = match text(cell, "path")? {
        "inline" => false,
        "libc" => true,
        _ => return None,
    };
    Some((Known::of(KINDS, cell, "call")?, libc)).filter(|_| has_only(cell, &["call", "path"]))
}

impl Probe for Syscall {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        let both = |name: &'static str| {
            ["inline", "libc"]
                .map(|path| ProbeCell::new(INFO.id, [("call", name.into()), ("path", path.into())]))
        };
        KINDS.iter().flat_map(|known| both(known.name)).collect()
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        parts(cell)?.0.as_it_is()
    }

    fn open(&self, cell: &ProbeCell, _: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let (Known { what: kind, .. }, libc) =
            parts(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        let open = |path: &'static str, write: bool| {
            OpenOptions::new()
                .read(!write)
                .write(write)
                .open(path)
                .map_err(|error| ProbeError::Missing(format!("{path}: {error}")))
        };
        let file = match kind {
            Kind::Read => Some(open("/dev/zero", false)?),
            Kind::Write => Some(open("/dev/null", true)?),
            _ => None,
        };
        Ok(Box::new(Calls { kind: *kind, libc, file }))
    }
}

struct Calls {
    kind: Kind,
    libc: bool,
    file: Option<File>,
}

/// `count` calls; the first result that is not as it should be.
#[inline(always)]
fn each(count: u64, call: impl FnMut() -> bool) -> Result<Took, ProbeError> {
    let (mut good, mut call) = (true, call);
    let took = Took::around(count, || (0..count).for_each(|_| good &= call()));
    if good { Ok(took) } else { Err(ProbeError::Missing("the call was refused".into())) }
}

impl Calls {
    fn inline<const FILL: bool>(&self, count: u64, fd: RawFd) -> Result<Took, ProbeError> {
        let (mut byte, mut found) = (0u8, MaybeUninit::uninit());
        match self.kind {
            Kind::Getpid => each(count, || calls::getpid::<FILL>() > 0),
            Kind::Getppid => each(count, || calls::getppid::<FILL>() >= 0),
            // SAFETY: read(2) writes at most one byte, into `byte`, which outlives the call.
            Kind::Read => each(count, || unsafe { raw::read::<FILL>(fd, &mut byte, 1) } == 1),
            // SAFETY: write(2) reads one byte, from `byte`, which outlives the call.
            Kind::Write => each(count, || unsafe { raw::write::<FILL>(fd, &byte, 1) } == 1),
            Kind::Stat => each(count, || calls::stat::<FILL>(PATH, &mut found) == 0),
            Kind::OpenClose => each(count, || {
                calls::close::<FILL>(
                    calls::open::<FILL>(PATH, libc::O_RDONLY | libc::O_CLOEXEC) as RawFd
                ) == 0
            }),
        }
    }

    fn through_libc(&self, count: u64, fd: RawFd) -> Result<Took, ProbeError> {
        let mut byte = 0u8;
        let mut found: MaybeUninit<libc::stat> = MaybeUninit::uninit();
        let (at, path) = ((&raw mut byte).cast(), PATH.as_ptr());
        // SAFETY: getpid and getppid take nothing; the others have one byte, one stat or a path
        // that ends with a zero, all of ours, and close has what open just returned.
        unsafe {
            match self.kind {
                Kind::Getpid => each(count, || libc::getpid() > 0),
                Kind::Getppid => each(count, || libc::getppid() >= 0),
                Kind::Read => each(count, || libc::read(fd, at, 1) == 1),
                Kind::Write => each(count, || libc::write(fd, at.cast_const(), 1) == 1),
                Kind::Stat => each(count, || libc::stat(path, found.as_mut_ptr()) == 0),
                Kind::OpenClose => each(count, || {
                    libc::close(libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC)) == 0
                }),
            }
        }
    }
}

impl Gauge for Calls {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let fd = self.file.as_ref().map_or(-1, |file| file.as_raw_fd());
        if self.libc {
            self.through_libc(count, fd)
        } else {
            with_fill!(FILL => self.inline::<FILL>(count, fd))
        }
    }
}
