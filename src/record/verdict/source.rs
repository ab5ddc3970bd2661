//! Where the bytes came from: shares that add up to 1, for any evidence.
//!
//! Per trial, with `U` the bytes read, `H` those of them in holes, `d` the device bytes of this
//! process (`read_bytes` of `/proc/self/io`, equal to the disk's sectors in each of 60 combinations
//! of call, block size, threads and cache state):
//!
//! ```text
//! hole = H / U      device = min(d, U - H) / U      page_cache = what is left      amplification = d / (U - H)
//! ```
//!
//! What is left is only called page cache where nothing else can explain it: with compression or
//! without an extent map it must be covered by what was resident before or read before in the same
//! trial, and the rest is unknown. Trials are added up in bytes.
//!
//! Writes: `write_bytes` counts when a page is dirtied, long before the device sees it and even if
//! it never does, so a buffered write is unknown. A direct write is charged when it is submitted;
//! it counts as device as far as the disk's own counter grew, or, without one, where no page of the
//! file was left dirty.

use super::facts::share;
use super::reason::reason;
use super::{CellEvidence, Source};
use crate::record::Trial;

/// The bytes of a cell by where they came from. The first four add up to the bytes moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Parts {
    pub device: u128,
    pub page_cache: u128,
    pub hole: u128,
    pub unknown: u128,
    /// At least so much of `device` is sure: repeats and read-ahead can make it look like more.
    pub least: u128,
    /// Device bytes and the bytes that could have come from there, of trials that tell both.
    pub fetched: u128,
    pub wanted: u128,
    /// Bytes visited for the first time that are stored, and how many of them the page cache gave.
    pub first: u128,
    pub first_cached: u128,
}

/// Where the bytes of a cell came from, and how that is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Origin {
    pub source: Option<Source>,
    pub reason: String,
    pub amplification: Option<f64>,
}

/// What can be seen of a read's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    Memory,
    Remote,
    /// The file system does not charge reads to the process.
    Uncounted,
    /// Device bytes, where the kernel tells them.
    Counted,
}

pub(super) fn origin(evidence: &CellEvidence) -> Origin {
    let nothing =
        |reason: &str| Origin { source: None, reason: reason.into(), amplification: None };
    if !evidence.moves() {
        return nothing("no bytes are moved, only calls are made");
    }
    let parts = parts(evidence);
    let all = parts.all();
    if all == 0 {
        return nothing("no trial moved a byte");
    }
    let of = |part: u128| share(part, all);
    let source = Source {
        device: of(parts.device),
        page_cache: of(parts.page_cache),
        hole: of(parts.hole),
        unknown: of(parts.unknown),
    };
    let amplification = (parts.wanted > 0).then(|| share(parts.fetched, parts.wanted));
    Origin { source: Some(source), reason: reason(evidence, &parts), amplification }
}

pub(super) fn parts(evidence: &CellEvidence) -> Parts {
    let sight = sight(evidence);
    let mut sum = Parts::default();
    for trial in evidence.trials {
        match evidence.split(trial) {
            Some((read, written)) => {
                sum.add(&reads(evidence, trial, read, sight));
                sum.add(&writes(evidence, trial, written));
            }
            None => sum.unknown += u128::from(trial.bytes),
        }
    }
    sum
}

impl Parts {
    pub(super) fn all(&self) -> u128 {
        self.device + self.page_cache + self.hole + self.unknown
    }

    /// The share of what is stored that `part` is.
    pub(super) fn of_stored(&self, part: u128) -> f64 {
        share(part, self.all() - self.hole)
    }

    fn add(&mut self, other: &Parts) {
        self.device += other.device;
        self.page_cache += other.page_cache;
        self.hole += other.hole;
        self.unknown += other.unknown;
        self.least += other.least;
        self.fetched += other.fetched;
        self.wanted += other.wanted;
        self.first += other.first;
        self.first_cached += other.first_cached;
    }
}

pub(super) fn sight(evidence: &CellEvidence) -> Sight {
    let target = evidence.target;
    if target.memory {
        Sight::Memory
    } else if target.remote {
        Sight::Remote
    } else if !target.device_counted.unwrap_or_else(|| counts(evidence)) {
        Sight::Uncounted
    } else {
        Sight::Counted
    }
}

/// False where stored bytes came although nothing was cached and nothing was read: then the counter
/// is blind.
fn counts(evidence: &CellEvidence) -> bool {
    let stored = |t: &Trial| {
        evidence.split(t).is_some_and(|(read, _)| read > holes(evidence, t, read).unwrap_or(0))
    };
    let unseen =
        |t: &Trial| t.device_bytes == Some(0) && t.resident_before == Some(0) && !t.is_sampled();
    !(evidence.trials().any(stored) && evidence.trials().all(unseen))
}

/// Bytes of `read` in holes: as counted, or as the whole span has them.
fn holes(evidence: &CellEvidence, trial: &Trial, read: u64) -> Option<u64> {
    let spread = |hole: u64| (share(hole, evidence.job.span) * read as f64) as u64;
    let hole = trial.hole_bytes.or_else(|| evidence.target.hole_bytes.map(spread))?;
    Some(hole.min(read))
}

fn reads(evidence: &CellEvidence, trial: &Trial, read: u64, sight: Sight) -> Parts {
    let holes = holes(evidence, trial, read);
    let hole = holes.unwrap_or(0);
    let stored = read - hole;
    let mut parts = Parts { hole: hole.into(), ..Parts::default() };
    match (sight, trial.device_bytes) {
        (Sight::Memory, _) => parts.page_cache = stored.into(),
        (Sight::Counted, Some(fetched)) => {
            let resident = trial.each_part(trial.resident_before.unwrap_or(0));
            let device = stored.min(fetched);
            let left = stored - device;
            let sure = holes.is_some() && evidence.target.compresses.is_none();
            let cached =
                if sure { left } else { left.min(resident.saturating_add(trial.repeats())) };
            let first = first_visits(trial, read, stored);
            parts.device = device.into();
            parts.page_cache = cached.into();
            parts.unknown = (left - cached).into();
            // A direct read takes no detour, so it can neither be answered by the cache nor read
            // ahead.
            let least = if evidence.job.direct {
                device
            } else {
                device.min(first.saturating_sub(resident))
            };
            parts.least = least.into();
            parts.fetched = fetched.into();
            parts.wanted = stored.into();
            parts.first = first.into();
            parts.first_cached = first.saturating_sub(device).min(cached).into();
        }
        _ => parts.unknown = stored.into(),
    }
    parts
}

/// Stored bytes that a trial visits for the first time; later passes have the same share of holes.
fn first_visits(trial: &Trial, read: u64, stored: u64) -> u64 {
    match trial.each_part(trial.evidence.unique_bytes) {
        0 => stored,
        unique => {
            stored.min((u128::from(unique) * u128::from(stored) / u128::from(read.max(1))) as u64)
        }
    }
}

fn writes(evidence: &CellEvidence, trial: &Trial, written: u64) -> Parts {
    if evidence.target.memory {
        return Parts { page_cache: written.into(), ..Parts::default() };
    }
    let really_direct =
        evidence.job.direct && !evidence.target.remote && evidence.target.direct != Some(false);
    let device = if really_direct { on_device(trial, written).unwrap_or(0) } else { 0 };
    Parts {
        device: device.into(),
        least: device.into(),
        unknown: (written - device).into(),
        ..Parts::default()
    }
}

/// Bytes of direct writes that reached the disk, at most: the disk's counter includes the writes of
/// others.
pub(super) fn on_device(trial: &Trial, written: u64) -> Option<u64> {
    let facts = &trial.evidence;
    let sent = facts.write_bytes.get().unwrap_or(u64::MAX);
    let reached = match (facts.disk_write_bytes, facts.unwritten_bytes.get()) {
        (Some(disk), left) => disk.min(sent).min(written.saturating_sub(left.unwrap_or(0))),
        (None, Some(0)) => facts.write_bytes.get()?,
        _ => return None,
    };
    Some(reached.min(written))
}
