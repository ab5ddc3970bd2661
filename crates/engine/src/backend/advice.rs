//! `+sequential`, `+random`, `+willneed`: the advice that a program gives the kernel about its
//! reads.

use std::fs::File;
use std::os::fd::AsFd;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use super::{BackendError, Unsupported, Work};
use crate::catalog::{RANDOM, SEQUENTIAL, WILL_NEED};
use crate::plan::{Job, Op};

/// Accepts advice only for reads through the page cache, and not two that contradict each other:
/// the last would win.
pub(super) fn check(job: &Job) -> Result<(), Unsupported> {
    let requested: Vec<&str> = [SEQUENTIAL, RANDOM, WILL_NEED]
        .iter()
        .map(|o| o.name)
        .filter(|name| job.backend.has(name))
        .collect();
    let Some(first) = requested.first() else { return Ok(()) };
    let refused = |why: &str| Err(Unsupported(format!("+{first} {why}")));
    if job.direct {
        return refused("applies to the page cache, which direct I/O bypasses");
    }
    if job.op != Op::Read {
        return refused("applies only to reads");
    }
    if job.backend.has(SEQUENTIAL.name) && job.backend.has(RANDOM.name) {
        return refused("contradicts +random; use one of them");
    }
    Ok(())
}

/// Advises the kernel about an open file description, before anything is timed.
pub(super) fn advise(file: &File, job: &Job) -> Result<(), BackendError> {
    let options = [
        (SEQUENTIAL, PosixFadviseAdvice::POSIX_FADV_SEQUENTIAL),
        (RANDOM, PosixFadviseAdvice::POSIX_FADV_RANDOM),
    ];
    for (_, advice) in options.into_iter().filter(|(option, _)| job.backend.has(option.name)) {
        posix_fadvise(file.as_fd(), 0, 0, advice)
            .map_err(|error| call_error("posix_fadvise", error.into()))?;
    }
    Ok(())
}

/// Gives the `+willneed` advice for the lane's part. Timed, as the reading begins here; one system
/// call where the lane has blocks to visit.
pub(super) fn will_need(file: &File, enabled: bool, work: &mut Work) {
    let range = work.reach();
    if !enabled || range.is_empty() {
        return;
    }
    let (offset, len) = (range.start as libc::off_t, (range.end - range.start) as libc::off_t);
    work.add_syscalls(1);
    if let Err(error) =
        posix_fadvise(file.as_fd(), offset, len, PosixFadviseAdvice::POSIX_FADV_WILLNEED)
    {
        work.abort(call_error("posix_fadvise", error.into()));
    }
}

pub(super) fn call_error(call: &str, error: std::io::Error) -> BackendError {
    Unsupported(format!("{call}: {error}")).into()
}
