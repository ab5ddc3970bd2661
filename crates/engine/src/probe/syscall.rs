//! `syscall`: system calls, inlined and through the C library.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};

use super::{BatchTime, Gauge, ParamRow, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;
use crate::sys::{calls, raw};
use crate::with_fill;

pub(super) struct Syscall;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Getpid,
    Getppid,
    Read,
    Write,
    Stat,
    OpenClose,
}

/// Expected nanoseconds of one call.
const KINDS: &[ParamRow<Kind>] = &[
    ParamRow {
        name: "getpid",
        value: Kind::Getpid,
        range: (40.0, 400.0),
        why: "kernel entry and exit: 40 ns bare, several times that with speculation mitigations",
    },
    ParamRow {
        name: "getppid",
        value: Kind::Getppid,
        range: (45.0, 420.0),
        why: "the same, and a lookup of the parent",
    },
    ParamRow {
        name: "read",
        value: Kind::Read,
        range: (60.0, 600.0),
        why: "kernel entry and exit, a descriptor lookup, and one byte cleared",
    },
    ParamRow {
        name: "write",
        value: Kind::Write,
        range: (60.0, 600.0),
        why: "kernel entry and exit, a descriptor lookup, and one byte discarded",
    },
    ParamRow {
        name: "stat",
        value: Kind::Stat,
        range: (200.0, 1500.0),
        why: "kernel entry and exit, two path components found in the cache, and 144 bytes copied",
    },
    ParamRow {
        name: "open-close",
        value: Kind::OpenClose,
        range: (400.0, 4000.0),
        why: "two calls, two path components, and an open file allocated and freed",
    },
];

const PATH: &CStr = c"/dev/null";

impl ProbeKind for Syscall {
    const INFO: &'static ProbeInfo = &catalog::SYSCALL;
    /// The call, and whether it goes through the C library.
    type Params = (&'static ParamRow<Kind>, bool);

    fn params(source: &mut ParamSource) -> Option<Self::Params> {
        let call = source.row("call", KINDS)?;
        Some((call, source.word("path", &[("inline", false), ("libc", true)])?))
    }

    fn estimate((call, _): &Self::Params, _: &ProbeContext) -> Option<Estimate> {
        call.as_estimate()
    }

    fn open((call, libc): &Self::Params, _: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        fn open(path: &'static str, write: bool) -> Result<File, ProbeError> {
            OpenOptions::new()
                .read(!write)
                .write(write)
                .open(path)
                .map_err(|error| ProbeError::Missing(format!("{path}: {error}")))
        }
        let file = match call.value {
            Kind::Read => Some(open("/dev/zero", false)?),
            Kind::Write => Some(open("/dev/null", true)?),
            _ => None,
        };
        Ok(Box::new(Calls { kind: call.value, libc: *libc, file }))
    }
}

struct Calls {
    kind: Kind,
    libc: bool,
    file: Option<File>,
}

/// Times `count` calls.
///
/// # Errors
/// If a call returned false.
#[inline(always)]
fn time_calls(count: u64, call: impl FnMut() -> bool) -> Result<BatchTime, ProbeError> {
    let (mut good, mut call) = (true, call);
    let batch = BatchTime::of_loop(count, || (0..count).for_each(|_| good &= call()));
    if good { Ok(batch) } else { Err(ProbeError::Missing("the system call failed".into())) }
}

impl Calls {
    fn inline<const FILL: bool>(&self, count: u64, fd: RawFd) -> Result<BatchTime, ProbeError> {
        let (mut byte, mut found) = (0u8, MaybeUninit::uninit());
        match self.kind {
            Kind::Getpid => time_calls(count, || calls::getpid::<FILL>() > 0),
            Kind::Getppid => time_calls(count, || calls::getppid::<FILL>() >= 0),
            // SAFETY: read(2) writes at most one byte, into `byte`, which outlives the call.
            Kind::Read => time_calls(count, || unsafe { raw::read::<FILL>(fd, &mut byte, 1) } == 1),
            // SAFETY: write(2) reads one byte, from `byte`, which outlives the call.
            Kind::Write => time_calls(count, || unsafe { raw::write::<FILL>(fd, &byte, 1) } == 1),
            Kind::Stat => time_calls(count, || calls::stat::<FILL>(PATH, &mut found) == 0),
            Kind::OpenClose => time_calls(count, || {
                calls::close::<FILL>(
                    calls::open::<FILL>(PATH, libc::O_RDONLY | libc::O_CLOEXEC) as RawFd
                ) == 0
            }),
        }
    }

    fn through_libc(&self, count: u64, fd: RawFd) -> Result<BatchTime, ProbeError> {
        let mut byte = 0u8;
        let mut found: MaybeUninit<libc::stat> = MaybeUninit::uninit();
        let (at, path) = ((&raw mut byte).cast(), PATH.as_ptr());
        // SAFETY: getpid and getppid have no preconditions; `byte`, `found` and the nul-terminated
        // `PATH` outlive the calls, and close gets the descriptor open just returned.
        unsafe {
            match self.kind {
                Kind::Getpid => time_calls(count, || libc::getpid() > 0),
                Kind::Getppid => time_calls(count, || libc::getppid() >= 0),
                Kind::Read => time_calls(count, || libc::read(fd, at, 1) == 1),
                Kind::Write => time_calls(count, || libc::write(fd, at.cast_const(), 1) == 1),
                Kind::Stat => time_calls(count, || libc::stat(path, found.as_mut_ptr()) == 0),
                Kind::OpenClose => time_calls(count, || {
                    libc::close(libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC)) == 0
                }),
            }
        }
    }
}

impl Gauge for Calls {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let fd = self.file.as_ref().map_or(-1, |file| file.as_raw_fd());
        if self.libc {
            self.through_libc(count, fd)
        } else {
            with_fill!(FILL => self.inline::<FILL>(count, fd))
        }
    }
}
