//! `syscall`: system calls, inlined and through the C library.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};

use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamRow, ParamSource, ProbeContext, ProbeError,
    param_rows,
};
use crate::record::Estimate;
use crate::sys::{calls, raw};
use crate::with_fill;

param_rows! {
    /// Expected nanoseconds of one call.
    KINDS: SyscallKind;
    "getpid" => Getpid, (40.0, 400.0),
        "kernel entry and exit: 40 ns bare, several times that with speculation mitigations";
    "getppid" => Getppid, (45.0, 420.0), "the same, and a lookup of the parent";
    "read" => Read, (60.0, 600.0),
        "kernel entry and exit, a descriptor lookup, and one byte cleared";
    "write" => Write, (60.0, 600.0),
        "kernel entry and exit, a descriptor lookup, and one byte discarded";
    "stat" => Stat, (200.0, 1500.0),
        "kernel entry and exit, two path components found in the cache, and 144 bytes copied";
    "open-close" => OpenClose, (400.0, 4000.0),
        "two calls, two path components, and an open file allocated and freed";
}

const PATH: &CStr = c"/dev/null";

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let call = source.row("call", KINDS)?;
    let libc = source.word("path", &[("inline", false), ("libc", true)])?;
    Some(Box::new(SyscallCell { call, libc }))
}

struct SyscallCell {
    call: &'static ParamRow<SyscallKind>,
    /// Goes through the C library.
    libc: bool,
}

impl KnownCell for SyscallCell {
    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        self.call.as_estimate()
    }

    fn open(&self, _: &ProbeContext) -> Opened {
        fn open(path: &'static str, write: bool) -> Result<File, ProbeError> {
            OpenOptions::new()
                .read(!write)
                .write(write)
                .open(path)
                .map_err(|error| ProbeError::Missing(format!("{path}: {error}")))
        }
        let file = match self.call.value {
            SyscallKind::Read => Some(open("/dev/zero", false)?),
            SyscallKind::Write => Some(open("/dev/null", true)?),
            _ => None,
        };
        Ok(Box::new(Calls { kind: self.call.value, libc: self.libc, file }))
    }
}

struct Calls {
    kind: SyscallKind,
    libc: bool,
    file: Option<File>,
}

/// Times `count` calls.
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
            SyscallKind::Getpid => time_calls(count, || calls::getpid::<FILL>() > 0),
            SyscallKind::Getppid => time_calls(count, || calls::getppid::<FILL>() >= 0),
            SyscallKind::Read => {
                // SAFETY: read(2) writes at most one byte, into `byte`, which outlives the call.
                time_calls(count, || unsafe { raw::read::<FILL>(fd, &mut byte, 1) } == 1)
            }
            SyscallKind::Write => {
                // SAFETY: write(2) reads one byte, from `byte`, which outlives the call.
                time_calls(count, || unsafe { raw::write::<FILL>(fd, &byte, 1) } == 1)
            }
            SyscallKind::Stat => time_calls(count, || calls::stat::<FILL>(PATH, &mut found) == 0),
            SyscallKind::OpenClose => time_calls(count, || {
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
                SyscallKind::Getpid => time_calls(count, || libc::getpid() > 0),
                SyscallKind::Getppid => time_calls(count, || libc::getppid() >= 0),
                SyscallKind::Read => time_calls(count, || libc::read(fd, at, 1) == 1),
                SyscallKind::Write => {
                    time_calls(count, || libc::write(fd, at.cast_const(), 1) == 1)
                }
                SyscallKind::Stat => {
                    time_calls(count, || libc::stat(path, found.as_mut_ptr()) == 0)
                }
                SyscallKind::OpenClose => time_calls(count, || {
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
