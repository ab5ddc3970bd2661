//! Checks of the target: where its bytes can come from, and which of them are stored.

use super::Facts;
use crate::facts::{DirectSupport, ResidencyMethod, TargetKind};
use crate::record::Severity::{Misleading, Note, Wrong};
use crate::record::{Finding, finding};
use crate::units::{show_bytes, show_share};

pub(super) fn memory_target(facts: &Facts) -> Option<Finding> {
    let target = facts.target.filter(|target| target.memory)?;
    let what = match target.ground.reason.as_str() {
        "" => format!("the file system is {}", target.fs),
        reason => reason.to_string(),
    };
    finding(
        Wrong,
        "the target is in memory: no disk is measured",
        what,
        "choose a file on a disk, or read the result as that of memory",
    )
}

/// Share of holes below which they hardly affect throughput.
const NEGLIGIBLE_SHARE: f64 = 0.01;

pub(super) fn holes(facts: &Facts) -> Option<Finding> {
    let target = facts.target?;
    let share = target.hole_share().filter(|share| *share > 0.0)?;
    let stored = target.stored?;
    let evidence = format!(
        "{} of {} in holes or unwritten extents ({})",
        show_bytes(stored.hole_bytes),
        show_bytes(target.size),
        crate::facts::method_name(stored.method)
    );
    finding(
        if share >= NEGLIGIBLE_SHARE { Wrong } else { Note },
        format!(
            "{} of the target was never written: the kernel returns zeros without reading the disk",
            show_share(share)
        ),
        evidence,
        "copy it with cp --sparse=never, or let iotui create a scratch file",
    )
}

pub(super) fn not_direct(facts: &Facts) -> Option<Finding> {
    // Without a plan, direct I/O is not requested.
    let target = facts.target.filter(|target| {
        !target.memory
            && facts.plan.is_some()
            && facts.any(|job| job.direct)
            && !target.fs.is_empty()
    })?;
    match target.direct {
        Some(DirectSupport::Known(_)) => None,
        Some(DirectSupport::Refused) => finding(
            Wrong,
            "direct I/O is refused for this file, or goes through the page cache",
            format!("statx(2) on {} reports a direct-I/O alignment of 0", target.fs),
            "omit {direct}, or choose a file on another file system",
        ),
        Some(DirectSupport::Unknown) | None => finding(
            Note,
            "it is unknown whether direct I/O is really direct here",
            format!("{} does not report STATX_DIOALIGN", target.fs),
            "check the verdict: device bytes and residency after each trial prove it",
        ),
    }
}

/// Bits per byte above which data hardly compresses.
const MIN_RANDOM_ENTROPY: f64 = 7.5;

pub(super) fn compressed(facts: &Facts) -> Option<Finding> {
    let target = facts.target?;
    let why = target.compresses.as_deref()?;
    let (severity, data) = match target.entropy {
        Some(bits) if bits >= MIN_RANDOM_ENTROPY => {
            (Note, format!("; sampled data has {bits:.1} bits per byte, so it hardly compresses"))
        }
        Some(bits) => (Wrong, format!("; sampled data has {bits:.1} bits per byte")),
        None => (Misleading, String::new()),
    };
    finding(
        severity,
        "the file system may store fewer bytes than it returns, so the disk may move less than the result shows",
        format!("{why}{data}"),
        "measure random data (iotui's scratch file), or a file that is not compressed",
    )
}

pub(super) fn network_target(facts: &Facts) -> Option<Finding> {
    let target = facts.target.filter(|target| target.network)?;
    finding(
        Misleading,
        "the bytes come from another machine: its caches can be neither inspected nor dropped, and the result includes the network",
        format!("the file system is {}{}", target.fs, from_source(target.source.as_deref())),
        "cold means cold on this machine only; measure on the server for the disk",
    )
}

pub(super) fn fuse_target(facts: &Facts) -> Option<Finding> {
    let target = facts.target.filter(|target| target.fuse && !target.network)?;
    finding(
        Misleading,
        "a user-space program serves this file system: the result includes its cache and its speed",
        format!("the file system is {}{}", target.fs, from_source(target.source.as_deref())),
        "compare with a file on the underlying file system",
    )
}

fn from_source(source: Option<&str>) -> String {
    source.map(|source| format!(", from {source}")).unwrap_or_default()
}

/// Used share above which file systems fragment new data and flash has few free blocks.
const MAX_USED_SHARE: f64 = 0.9;

pub(super) fn full(facts: &Facts) -> Option<Finding> {
    let target = facts.target.filter(|target| !target.read_only)?;
    let used = target.used_share().filter(|used| *used > MAX_USED_SHARE)?;
    // A file that is there is not slower to read.
    let is_new = facts.plan.is_some() && facts.writes() || target.kind == TargetKind::Scratch;
    if facts.plan.is_some() && !is_new {
        return None;
    }
    finding(
        if is_new { Misleading } else { Note },
        "the file system is nearly full: new files are fragmented and writes are slower",
        format!(
            "{} used, {} free",
            show_share(used),
            show_bytes(target.space.map_or(0, |space| space.available))
        ),
        "free some space, or measure on another file system",
    )
}

pub(super) fn cached(facts: &Facts) -> Option<Finding> {
    let target = facts.target.filter(|target| !target.memory)?;
    let resident = target.resident.filter(|resident| resident.share >= 0.5)?;
    if !facts.uses_cold() {
        return None;
    }
    finding(
        Note,
        "most of the target is cached: cold trials drop it, and other programs that use it will have to read it again",
        format!("{} in the page cache", show_share(resident.share)),
        "no action needed, unless another program needs it cached",
    )
}

pub(super) fn residency(facts: &Facts) -> Option<Finding> {
    let target = facts.target?;
    let (message, evidence) = match (target.resident, target.resident_error.as_deref()) {
        (Some(resident), _) if resident.method == ResidencyMethod::Sampled => (
            "residency is estimated from 256 sampled pages, which are cached afterwards",
            "cachestat(2) is unavailable for this file, so preadv2(RWF_NOWAIT) is used",
        ),
        (None, Some(error)) => {
            ("residency is unknown, so warm and cold trials cannot be verified", error)
        }
        _ => return None,
    };
    finding(
        Note,
        message,
        evidence,
        "use a file that you own or may write; Linux 6.5 or newer counts exactly",
    )
}

pub(super) fn access_time(facts: &Facts) -> Option<Finding> {
    facts.target.filter(|target| target.noatime == Some(false))?;
    finding(
        Note,
        "each read checks whether to update the file's access time, which makes small reads 5-10 % slower",
        "O_NOATIME is refused for this file, and its file system is not mounted with noatime",
        "measure as the file's owner, or use a file that you own",
    )
}

#[cfg(test)]
mod tests;
