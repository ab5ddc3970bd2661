//! Sets up the ring of a job, and explains refusals of the kernel.

use std::io;

use io_uring::{Builder, IoUring};

use crate::backend::access_pattern::batch_limit;
use crate::backend::error::Unsupported;
use crate::catalog::{COMPLETE, IOPOLL, NOP, SQPOLL, SUBMIT};
use crate::plan::Job;

pub(super) fn has_sqpoll(job: &Job) -> bool {
    job.backend.has(SQPOLL.name)
}

pub(super) fn has_iopoll(job: &Job) -> bool {
    job.backend.has(IOPOLL.name)
}

pub(super) fn has_nop(job: &Job) -> bool {
    job.backend.has(NOP.name)
}

/// Refuses options that have no meaning together.
pub(super) fn check_options(job: &Job) -> Result<(), Unsupported> {
    let refused = |why: &str| Err(Unsupported(why.into()));
    if job.syncs_after_writes() && !has_nop(job) {
        if has_iopoll(job) {
            return refused("+iopoll polls for data, not for syncs; use --sync rwf-dsync");
        }
        if job.backend.size(SUBMIT.name).is_some() {
            return refused("a sync is submitted with its write; leave out +submit");
        }
    }
    if !has_iopoll(job) {
        return Ok(());
    }
    if job.is_paced() && waits_for_several(job) {
        return refused("+iopoll waits without a time limit; use --depth 1, or leave it out");
    }
    if has_nop(job) {
        return refused("+iopoll polls a device, and +nop uses none; leave out one");
    }
    if !job.direct {
        return refused("+iopoll polls a device, which only direct I/O waits for; add --direct");
    }
    Ok(())
}

/// Returns whether a lane of the job waits for one of several operations, and so for a limited time
/// where it keeps a pace: not with one operation at a time.
fn waits_for_several(job: &Job) -> bool {
    job.depth > 1 || has_sqpoll(job) || job.syncs_after_writes()
}

/// Refuses a pace on kernels whose waits have no time limit.
pub(super) fn check_pace(job: &Job, ring: &IoUring) -> Result<(), Unsupported> {
    if !job.is_paced() || !waits_for_several(job) || ring.params().is_feature_ext_arg() {
        return Ok(());
    }
    Err(Unsupported(
        "io_uring waits with a time limit from Linux 5.11 on; use --depth 1 or aio".into(),
    ))
}

/// Returns the most entries that one call submits. With a polling thread no call does.
pub(super) fn entries_per_call(job: &Job) -> u32 {
    if has_sqpoll(job) {
        return u32::MAX;
    }
    job.backend.size(SUBMIT.name).map_or_else(|| batch_limit(job), |limit| limit as u32)
}

/// Returns the number of completions that a call waits for, if at least as many are in flight.
pub(super) fn completions_wanted(job: &Job) -> u32 {
    job.backend.size(COMPLETE.name).map_or(1, |wanted| wanted as u32)
}

pub(super) fn build_ring(job: &Job, depth: u32) -> io::Result<IoUring> {
    let entries = depth.next_power_of_two();
    let mut plain = IoUring::builder();
    if has_iopoll(job) {
        plain.setup_iopoll();
    }
    if has_sqpoll(job) {
        // The polling thread frees the entries of a batch only after its completions are visible.
        return plain.setup_sqpoll(50).build(entries * 2);
    }
    let build = |setup: &Setup| setup(&mut plain.clone()).build(entries);
    // The error of an older kernel for a flag that it does not know.
    fn unknown(ring: &io::Result<IoUring>) -> bool {
        ring.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL))
    }
    let [better @ .., last] = &SETUPS;
    better.iter().map(build).find(|ring| !unknown(ring)).unwrap_or_else(|| build(last))
}

pub(super) type Setup = fn(&mut Builder) -> &mut Builder;

/// Set-ups of a ring; the first that the kernel supports is used. Entries are taken in their order,
/// without an array of indexes (Linux 6.6). Completions are processed when the lane asks for them
/// (6.1), at the next system call (5.19), or at once, which interrupts the lane and cost a tenth of
/// the requests per second at depths 32 and 128.
pub(super) const SETUPS: [Setup; 4] = [
    |ring| ring.setup_single_issuer().setup_defer_taskrun().setup_no_sqarray(),
    |ring| ring.setup_single_issuer().setup_defer_taskrun(),
    |ring| ring.setup_coop_taskrun(),
    |ring| ring,
];

/// Describes a refusal, with the setting that causes it where there is one.
pub(super) fn refusal(error: &io::Error) -> String {
    let disabled =
        std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    match (error.raw_os_error(), disabled.trim()) {
        (Some(libc::EPERM), "1" | "2") => {
            format!("io_uring: EPERM, kernel.io_uring_disabled={}", disabled.trim())
        }
        (Some(libc::EPERM), _) => {
            "io_uring: EPERM, not permitted (a container's seccomp filter?)".into()
        }
        (Some(libc::ENOSYS), _) => {
            "io_uring: ENOSYS, not supported by this kernel, or blocked by a seccomp filter".into()
        }
        (Some(libc::ENOMEM), _) => {
            "io_uring: ENOMEM, raise the locked-memory limit (ulimit -l)".into()
        }
        _ => format!("io_uring: {error}"),
    }
}

/// Why a device that is not polled cannot be measured with `+iopoll`.
pub(super) const NOT_POLLED: &str = "+iopoll: the device has no poll queues, or its file system does not poll (EOPNOTSUPP); give \
     it poll queues (NVMe: nvme.poll_queues=N on the kernel's command line), or leave out +iopoll";
