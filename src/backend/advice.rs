//! `+sequential`, `+random`, `+willneed`: what a program tells the kernel about the order of its
//! reads.

use std::fs::File;
use std::os::fd::AsFd;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use super::{BackendError, Unsupported, Work};
use crate::plan::{FioOption, Job, Op, Opt};

pub(super) const SEQUENTIAL: Opt = Opt {
    name: "sequential",
    value: None,
    about: "told before the first block: in order, so read further ahead (POSIX_FADV_SEQUENTIAL, or madvise)",
};
pub(super) const RANDOM: Opt = Opt {
    name: "random",
    value: None,
    about: "told before the first block: in no order, so read nothing ahead (POSIX_FADV_RANDOM, or madvise)",
};
pub(super) const WILL_NEED: Opt = Opt {
    name: "willneed",
    value: None,
    about: "begins to read all of a lane's part into the page cache (POSIX_FADV_WILLNEED, or madvise), inside the timed work",
};

/// The advice that fio gives too.
pub(super) const FIO_OPTIONS: &[FioOption] = &[FIO_SEQUENTIAL, FIO_RANDOM];
pub(super) const FIO_SEQUENTIAL: FioOption =
    FioOption::new(SEQUENTIAL.name, "fadvise_hint", SEQUENTIAL.name);
pub(super) const FIO_RANDOM: FioOption = FioOption::new(RANDOM.name, "fadvise_hint", RANDOM.name);

/// Advice is about reading through the page cache, and the last word of two that disagree would
/// win.
pub(super) fn check(job: &Job) -> Result<(), Unsupported> {
    let given: Vec<&str> = [SEQUENTIAL, RANDOM, WILL_NEED]
        .iter()
        .map(|o| o.name)
        .filter(|name| job.backend.has(name))
        .collect();
    let Some(first) = given.first() else { return Ok(()) };
    let refused = |why: &str| Err(Unsupported(format!("+{first} {why}")));
    if job.direct {
        return refused("is about the page cache, which direct I/O passes by");
    }
    if job.op != Op::Read {
        return refused("is about reading");
    }
    if job.backend.has(SEQUENTIAL.name) && job.backend.has(RANDOM.name) {
        return refused("and +random say the opposite: take one of them");
    }
    Ok(())
}

/// Tells the kernel about an open file description, before any of it is timed.
pub(super) fn tell(file: &File, job: &Job) -> Result<(), BackendError> {
    let words = [
        (SEQUENTIAL, PosixFadviseAdvice::POSIX_FADV_SEQUENTIAL),
        (RANDOM, PosixFadviseAdvice::POSIX_FADV_RANDOM),
    ];
    for (_, advice) in words.into_iter().filter(|(option, _)| job.backend.has(option.name)) {
        posix_fadvise(file.as_fd(), 0, 0, advice)
            .map_err(|error| refused("posix_fadvise", error.into()))?;
    }
    Ok(())
}

/// Timed: it is the beginning of the reading. One system call where the lane has blocks to visit.
pub(super) fn will_need(file: &File, wanted: bool, work: &mut Work) {
    let range = work.reach();
    if !wanted || range.is_empty() {
        return;
    }
    let (offset, len) = (range.start as libc::off_t, (range.end - range.start) as libc::off_t);
    work.add_syscalls(1);
    if let Err(error) =
        posix_fadvise(file.as_fd(), offset, len, PosixFadviseAdvice::POSIX_FADV_WILLNEED)
    {
        work.abort(refused("posix_fadvise", error.into()));
    }
}

pub(super) fn refused(call: &str, error: std::io::Error) -> BackendError {
    Unsupported(format!("{call}: {error}")).into()
}
