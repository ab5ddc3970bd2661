//! Checks of the target: where its bytes can come from, and what of it is really there.

use super::{Facts, Finding, found};
use crate::host::TargetKind;
use crate::record::Severity::{Misleading, Note, Wrong};
use crate::sys::direct::DirectSupport;
use crate::sys::residency::Method;
use crate::units::{show_bytes, show_share};

pub(super) fn memory_target(facts: &Facts) -> Option<Finding> {
    let target = facts.target.filter(|target| target.memory)?;
    let what = match target.devices.first() {
        Some(device) => format!("{} keeps its data in memory", device.name),
        None => format!("the file system is {}", target.fs),
    };
    found(
        Wrong,
        "the target lies in memory: no disk is measured",
        what,
        "choose a file on a disk, or read the result as the memory's",
    )
}

/// Below this share of holes the throughput is hardly changed.
const FEW: f64 = 0.01;

pub(super) fn holes(facts: &Facts) -> Option<Finding> {
    let target = facts.target?;
    let (share, stored) = (target.hole_share().filter(|share| *share > 0.0)?, target.stored?);
    let evidence = format!(
        "{} of {} in holes or unwritten extents ({})",
        show_bytes(stored.hole_bytes),
        show_bytes(target.size),
        crate::host::target::method_name(stored.method)
    );
    found(
        if share >= FEW { Wrong } else { Note },
        format!(
            "{} of the target was never written: the kernel makes zeros for it, no disk does",
            show_share(share)
        ),
        evidence,
        "copy it with cp --sparse=never, or let iotui make a scratch file",
    )
}

pub(super) fn not_direct(facts: &Facts) -> Option<Finding> {
    // Without a plan nobody asked for direct I/O.
    let target = facts.target.filter(|target| {
        !target.memory
            && facts.plan.is_some()
            && facts.any(|job| job.direct)
            && !target.fs.is_empty()
    })?;
    match target.direct {
        Some(DirectSupport::Known(_)) => None,
        Some(DirectSupport::Refused) => found(
            Wrong,
            "direct I/O is refused on this file, or done through the page cache",
            format!("statx(2) of {} gives a direct-I/O alignment of 0", target.fs),
            "leave out --direct, or choose a file on another file system",
        ),
        Some(DirectSupport::Unknown) | None => found(
            Note,
            "whether direct I/O is direct here is not told",
            format!("no STATX_DIOALIGN from {}", target.fs),
            "look at the verdict: device bytes and residency after each trial prove it",
        ),
    }
}

/// Bits per byte above which no compressor gains much.
const RANDOM: f64 = 7.5;

pub(super) fn compressed(facts: &Facts) -> Option<Finding> {
    let target = facts.target?;
    let why = target.compresses.as_deref()?;
    let (severity, data) = match target.entropy {
        Some(bits) if bits >= RANDOM => {
            (Note, format!("; sampled data has {bits:.1} bits per byte, so it hardly shrinks"))
        }
        Some(bits) => (Wrong, format!("; sampled data has {bits:.1} bits per byte")),
        None => (Misleading, String::new()),
    };
    found(
        severity,
        "the file system may store fewer bytes than it returns: the disk moves less than the result says",
        format!("{why}{data}"),
        "measure with random data (iotui's scratch file), or on a file that is not compressed",
    )
}

pub(super) fn network_target(facts: &Facts) -> Option<Finding> {
    let target = facts.target.filter(|target| target.network)?;
    found(
        Misleading,
        "the bytes come from another machine: its caches cannot be seen or emptied, and the network is part of the result",
        format!("the file system is {}{}", target.fs, from(target.source.as_deref())),
        "read cold as cold on this side only; for the disk measure on the server",
    )
}

pub(super) fn fuse_target(facts: &Facts) -> Option<Finding> {
    let target = facts.target.filter(|target| target.fuse && !target.network)?;
    found(
        Misleading,
        "a program serves this file system: its own cache and its speed are part of the result",
        format!("the file system is {}{}", target.fs, from(target.source.as_deref())),
        "compare with a file on the file system below",
    )
}

fn from(source: Option<&str>) -> String {
    source.map(|source| format!(", from {source}")).unwrap_or_default()
}

/// File systems place new data badly above this, and flash has little left to write to.
const FULL: f64 = 0.9;

pub(super) fn full(facts: &Facts) -> Option<Finding> {
    let target = facts.target?;
    let used = target.used().filter(|used| *used > FULL)?;
    let severity = if facts.plan.is_some() && facts.writes() || target.kind == TargetKind::Scratch {
        Misleading
    } else {
        Note
    };
    found(
        severity,
        "the file system is nearly full: new files are scattered and writes are slower",
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
    let now = target.resident.filter(|now| now.share >= 0.5)?;
    if !facts.cold_wanted() {
        return None;
    }
    found(
        Note,
        "most of the target is cached: cold trials drop it first, and other programs that use it will wait for the disk",
        format!("{} in the page cache", show_share(now.share)),
        "nothing to do, unless another program needs it cached",
    )
}

pub(super) fn residency(facts: &Facts) -> Option<Finding> {
    let target = facts.target?;
    let asked = |evidence: String, message: &str| {
        found(
            Note,
            message,
            evidence,
            "use a file of your own, or one that you may write; Linux 6.5 or newer counts exactly",
        )
    };
    match (target.resident, target.resident_error.as_deref()) {
        (Some(now), _) if now.method == Method::Sampled => asked(
            "cachestat(2) is not to be had for this file; preadv2(RWF_NOWAIT) is".into(),
            "what is cached is estimated from 256 pages, which then are cached themselves",
        ),
        (None, Some(error)) => asked(
            error.to_string(),
            "what is cached cannot be told: warm and cold cannot be proved",
        ),
        _ => None,
    }
}

pub(super) fn access_time(facts: &Facts) -> Option<Finding> {
    facts.target.filter(|target| target.noatime == Some(false))?;
    found(
        Note,
        "each read looks whether the file's time of last access is to be set anew: small reads take some 5-10 % longer",
        "O_NOATIME is refused on this file, and its file system is not mounted with noatime",
        "measure as the file's owner, or on a file of your own",
    )
}

#[cfg(test)]
mod tests;
