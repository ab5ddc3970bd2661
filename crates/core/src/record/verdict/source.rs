//! The source of the bytes: shares that add up to 1, for any evidence.
//!
//! Per trial, with `U` the bytes read, `H` the part of them in holes and `d` the device bytes of
//! this process (`read_bytes` of `/proc/self/io`, which equalled the disk's sectors in all of 60
//! combinations of call, block size, threads and cache state):
//!
//! ```text
//! hole          = H / U
//! device        = min(d, U - H) / U
//! page_cache    = the rest
//! amplification = d / (U - H)
//! ```
//! [`super::below`] finds which part of the device's transfers came from a disk. The rest
//! is attributed to the page cache only if nothing else can explain it: with compression
//! or without an extent map, only bytes that were resident before or already read in the same trial
//! count as page cache, and the others as unknown. Trials are summed in bytes. Writes:
//! `write_bytes` counts when a page is dirtied, long before it reaches the device if it ever does,
//! so a buffered write is unknown. A direct write is charged when it is submitted, and a commit
//! waits until the device has its bytes; both count as device up to the growth of the disk's own
//! counter or, without one, if no page of the file was left dirty.

use super::below::{Split, split};
use super::facts::share;
use super::reason::reason;
use super::{CellEvidence, Source};
use crate::record::Trial;

/// The bytes of a cell by source. The first five add up to the bytes moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Parts {
    pub device: u128,
    pub page_cache: u128,
    pub hole: u128,
    pub unknown: u128,
    /// Memory of this machine below the target.
    pub below: u128,
    /// Bytes that no disk read and no other machine sent, although no page cache of the target had
    /// it.
    pub elsewhere: u128,
    /// Lower bound of `device`, which repeats and readahead can inflate.
    pub device_at_least: u128,
    /// Bytes read from the device, in trials that report them.
    pub fetched: u128,
    /// Stored bytes returned by the same trials; all of them could have come from the device.
    pub stored: u128,
    /// Stored bytes visited for the first time.
    pub first: u128,
    /// The part of `first` that the page cache served.
    pub first_cached: u128,
}

/// The source of a cell's bytes, and how it was determined.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Origin {
    pub source: Option<Source>,
    pub reason: String,
    pub amplification: Option<f64>,
}

/// The visible part of a read's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    /// The target is memory.
    Memory,
    /// A server moves the bytes.
    Remote,
    /// The file system does not charge reads to the process.
    Uncounted,
    /// The kernel counts the device bytes of the process.
    Counted,
}

/// Determines the source of a cell's bytes.
pub(super) fn origin(evidence: &CellEvidence) -> Origin {
    if !evidence.moves() {
        return Origin::without_source("the cell moves no bytes, it only makes calls");
    }
    let parts = parts(evidence);
    let all = parts.all();
    if all == 0 {
        return Origin::without_source("no trial moved any bytes");
    }
    let source = Source {
        device: share(parts.device, all),
        page_cache: share(parts.page_cache, all),
        hole: share(parts.hole, all),
        unknown: share(parts.unknown, all),
        below: share(parts.below, all),
    };
    let amplification = (parts.stored > 0).then(|| share(parts.fetched, parts.stored));
    Origin { source: Some(source), reason: reason(evidence, &parts), amplification }
}

impl Origin {
    fn without_source(reason: &str) -> Origin {
        Origin { source: None, reason: reason.into(), amplification: None }
    }
}

/// Sums the bytes of all trials by source.
pub(super) fn parts(evidence: &CellEvidence) -> Parts {
    let visibility = visibility(evidence);
    let mut sum = Parts::default();
    for trial in evidence.trials {
        match evidence.split_bytes(trial) {
            Some((read, written)) => {
                sum.add(&split_reads(evidence, trial, read, visibility));
                sum.add(&split_writes(evidence, trial, written));
            }
            None => sum.unknown += u128::from(trial.bytes),
        }
    }
    sum
}

impl Parts {
    pub(super) fn all(&self) -> u128 {
        self.device + self.page_cache + self.hole + self.unknown + self.below
    }

    /// Returns `part` as a share of the bytes outside holes.
    pub(super) fn share_of_stored(&self, part: u128) -> f64 {
        share(part, self.all() - self.hole)
    }

    fn add_split(&mut self, of: &Split) {
        self.device += u128::from(of.device);
        self.device_at_least += u128::from(of.device);
        self.below += u128::from(of.below);
        self.hole += u128::from(of.hole);
        self.unknown += u128::from(of.unknown);
        self.elsewhere += u128::from(of.elsewhere);
    }

    fn add(&mut self, other: &Parts) {
        self.device += other.device;
        self.page_cache += other.page_cache;
        self.hole += other.hole;
        self.unknown += other.unknown;
        self.below += other.below;
        self.elsewhere += other.elsewhere;
        self.device_at_least += other.device_at_least;
        self.fetched += other.fetched;
        self.stored += other.stored;
        self.first += other.first;
        self.first_cached += other.first_cached;
    }
}

pub(super) fn visibility(evidence: &CellEvidence) -> Visibility {
    let target = evidence.target;
    if target.memory {
        Visibility::Memory
    } else if target.remote {
        Visibility::Remote
    } else if !target.device_counted.unwrap_or_else(|| is_counter_live(evidence)) {
        Visibility::Uncounted
    } else {
        Visibility::Counted
    }
}

/// Returns false if trials returned stored bytes although nothing was cached and no device read was
/// counted: then the counter does not work here.
fn is_counter_live(evidence: &CellEvidence) -> bool {
    let has_stored = |t: &Trial| {
        evidence
            .split_bytes(t)
            .is_some_and(|(read, _)| read > hole_bytes(evidence, t, read).unwrap_or(0))
    };
    let is_unexplained =
        |t: &Trial| t.device_bytes == Some(0) && t.resident_before == Some(0) && !t.is_sampled();
    !(evidence.trials().any(has_stored) && evidence.trials().all(is_unexplained))
}

/// Returns the bytes of `read` in holes: as counted, or in proportion to the holes of the span.
fn hole_bytes(evidence: &CellEvidence, trial: &Trial, read: u64) -> Option<u64> {
    let hole = match (trial.hole_bytes, evidence.target.hole_bytes) {
        (Some(counted), _) => counted,
        (None, Some(of_span)) => (share(of_span, evidence.job.span) * read as f64) as u64,
        (None, None) => return None,
    };
    Some(hole.min(read))
}

/// Splits the bytes that a trial read by source.
fn split_reads(evidence: &CellEvidence, trial: &Trial, read: u64, visibility: Visibility) -> Parts {
    let holes = hole_bytes(evidence, trial, read);
    let hole = holes.unwrap_or(0);
    let stored = read - hole;
    let mut parts = Parts { hole: hole.into(), ..Parts::default() };
    match (visibility, trial.device_bytes) {
        (Visibility::Memory, charged) => {
            let moved = charged.filter(|_| has_memory_device(evidence)).unwrap_or(0).min(stored);
            parts.page_cache = (stored - moved).into();
            parts.add_split(&split(evidence, trial, moved));
        }
        (Visibility::Counted, Some(fetched)) => {
            let resident = trial.over_parts(trial.resident_before.unwrap_or(0));
            let charged = stored.min(fetched);
            let rest = stored - charged;
            let is_certain = holes.is_some() && evidence.target.compresses.is_none();
            let cached = if is_certain {
                rest
            } else {
                rest.min(resident.saturating_add(trial.repeat_bytes()))
            };
            let first = first_visits(trial, read, stored);
            parts.page_cache = cached.into();
            parts.unknown = (rest - cached).into();
            parts.add_split(&split(evidence, trial, charged));
            // A direct read bypasses the cache and readahead, so its device bytes are exact.
            if !evidence.job.direct {
                let at_least = u128::from(first.saturating_sub(resident));
                parts.device_at_least = parts.device_at_least.min(at_least);
            }
            parts.fetched = fetched.into();
            parts.stored = stored.into();
            parts.first = first.into();
            parts.first_cached = first.saturating_sub(charged).min(cached).into();
        }
        _ if evidence.is_served_by_cache(trial) => parts.page_cache = stored.into(),
        (Visibility::Remote, _) => {
            let mut found = split(evidence, trial, stored);
            // Bytes that the page cache of the target may have served are not from below.
            let own = match evidence.job.direct {
                true => 0,
                false => trial
                    .over_parts(trial.resident_before.unwrap_or(u64::MAX))
                    .saturating_add(trial.repeat_bytes()),
            };
            let from_either = found.below.min(own);
            found.below -= from_either;
            found.unknown += from_either;
            found.elsewhere = found.elsewhere.saturating_sub(own);
            parts.add_split(&found);
        }
        _ => parts.unknown = stored.into(),
    }
    parts
}

/// Returns the stored bytes that a trial visits for the first time; later passes have the same
/// share of holes.
fn first_visits(trial: &Trial, read: u64, stored: u64) -> u64 {
    match trial.over_parts(trial.evidence.unique_bytes) {
        0 => stored,
        unique => {
            stored.min((u128::from(unique) * u128::from(stored) / u128::from(read.max(1))) as u64)
        }
    }
}

/// Returns whether the memory of a target is a device below the page cache; tmpfs is the page
/// cache.
fn has_memory_device(evidence: &CellEvidence) -> bool {
    evidence.target.ground.is_some() && !evidence.target.device.is_empty()
}

/// Splits the bytes that a trial wrote by destination.
fn split_writes(evidence: &CellEvidence, trial: &Trial, written: u64) -> Parts {
    if evidence.target.memory {
        let all = u128::from(written);
        return match has_memory_device(evidence) && evidence.job.direct {
            true => Parts { below: all, elsewhere: all, ..Parts::default() },
            false => Parts { page_cache: all, ..Parts::default() },
        };
    }
    let device = match evidence.waits_for_device() && evidence.may_be_on_disk() {
        true => bytes_on_device(evidence, trial, written).unwrap_or(0),
        false => 0,
    };
    Parts {
        device: device.into(),
        device_at_least: device.into(),
        unknown: (written - device).into(),
        ..Parts::default()
    }
}

/// Returns an upper bound of the written bytes that reached the disk, whose counter
/// includes the writes of others, and through the caches below; `None` without a counter.
pub(super) fn bytes_on_device(evidence: &CellEvidence, trial: &Trial, written: u64) -> Option<u64> {
    let facts = &trial.evidence;
    let sent = facts.write_bytes.get().unwrap_or(u64::MAX);
    let reached = match (facts.disk_write_bytes, facts.unwritten_bytes.get()) {
        (Some(disk), dirty) => disk.min(sent).min(written.saturating_sub(dirty.unwrap_or(0))),
        (None, Some(0)) => facts.write_bytes.get()?,
        _ => return None,
    };
    let left = left_below(trial).map_or(0, |(left, _)| left);
    let lowest = evidence.written_to_disks(trial).unwrap_or(u64::MAX);
    Some(reached.min(written.saturating_sub(left)).min(lowest))
}

/// Returns how many bytes the page cache below had not yet written when a trial ended, and its
/// name: of several, the one with most.
pub(super) fn left_below(trial: &Trial) -> Option<(u64, &str)> {
    let caches = &trial.evidence.below.as_ref()?.caches;
    let left = caches.iter().map(|of| (of.unwritten_bytes.get().unwrap_or(0), of.name.as_str()));
    left.max().filter(|(left, _)| *left > 0)
}
