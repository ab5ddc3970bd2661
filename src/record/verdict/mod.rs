//! The verdict: where the bytes came from, and what disturbs the result. A pure function of its
//! evidence.

mod facts;
mod reason;
mod rules;
mod source;
#[cfg(test)]
mod testing;

use std::cmp::Reverse;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::rules::{RULES, Rule};
use super::{Ceilings, Latency, LinkCeiling, Throttle, Trial, Warning};
use crate::plan::{Info, Job};

/// Shares of the bytes by where they came from; they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Source {
    pub device: f64,
    pub page_cache: f64,
    pub hole: f64,
    pub unknown: f64,
}

/// What is known about the target for its verdicts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetEvidence {
    /// Type of the file system as mounted: `ext4`.
    pub fs: String,
    /// The devices below it, from the mounted one to the disk: `dm-0 on nvme0n1`; empty where none
    /// is known.
    pub device: String,
    /// iotui made this file, so it may be written. False until shown.
    pub ours: bool,
    /// tmpfs, ramfs, a zram or brd disk: the "device" is memory.
    pub memory: bool,
    /// Bytes are moved by a server or a user-space file system: device bytes are not ours to see.
    pub remote: bool,
    /// A read that had to reach the disk was charged to this process; `Some(false)`: 0 device bytes
    /// mean nothing here.
    pub device_counted: Option<bool>,
    /// The file system may store fewer bytes than it returns: why (`btrfs compress=zstd`, `zfs`,
    /// encoded extents).
    pub compresses: Option<String>,
    /// Entropy estimate of sampled data, bits per byte, 0 to 8.
    pub entropy: Option<f64>,
    /// Bytes in holes or unwritten extents of the span, and how it was found (`fiemap`,
    /// `seek_data`).
    pub hole_bytes: Option<u64>,
    pub hole_method: String,
    /// O_DIRECT as the file system states it: `Some(false)` = refused or not real.
    pub direct: Option<bool>,
    /// Reading leaves the time of last access alone; `Some(false)`: each call pays for a look at
    /// it.
    pub noatime: Option<bool>,
    /// The read-ahead of the disk, bytes.
    pub read_ahead: Option<u64>,
    /// Share of the file system that is in use.
    pub fs_used: Option<f64>,
    /// The narrowest way to the disk, where its speed is known.
    pub link: Option<LinkCeiling>,
    /// The file system and kernel that may go through all blocks of a large folio for each small
    /// write to it; left out of JSON where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walks_folios: Option<String>,
    /// What control groups let through to it.
    pub throttle: Option<Throttle>,
}

/// What is known about the machine for its verdicts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineEvidence {
    /// The CPU frequency governor; `None` where the kernel controls no frequency, as in most
    /// virtual machines.
    pub governor: Option<String>,
    pub on_battery: Option<bool>,
    /// Bytes of memory that may be used: the machine's, or those of the control group.
    pub memory: Option<u64>,
    /// What bare loops reached here; `None` = not measured.
    pub ceilings: Option<Ceilings>,
}

/// What all verdicts of a run are judged by; kept in the session, so that a missing verdict can be
/// found later.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Grounds {
    pub target: TargetEvidence,
    pub machine: MachineEvidence,
    /// Cost of iotui's own loop per operation, nanoseconds.
    pub harness_nanos: f64,
    /// What measured, each with its version, iotui first and then the peers: `iotui 0.1.0`,
    /// `fio-3.33`. None in older sessions.
    pub programs: Vec<String>,
}

/// How the trials of a cell scatter.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Relative half width of the 95 % interval of the median throughput.
    pub half_width: Option<f64>,
    /// Median throughputs of two groups in bytes per second, where the trials form two.
    pub two_modes: Option<(f64, f64)>,
    pub outliers: usize,
}

/// Everything a verdict is judged by.
#[derive(Debug, Clone, Copy)]
pub struct CellEvidence<'a> {
    pub job: &'a Job,
    pub info: &'a Info,
    pub target: &'a TargetEvidence,
    pub machine: &'a MachineEvidence,
    pub trials: &'a [Arc<Trial>],
    pub spread: Spread,
    pub latency: Option<&'a Latency>,
    /// Cost of iotui's own loop per operation, nanoseconds, measured in this session.
    pub harness_nanos: f64,
}

/// Where the bytes came from, whether the result can be trusted, what disturbed it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Verdict {
    pub source: Option<Source>,
    pub source_reason: String,
    /// Device bytes per byte that had to come from it; above 1 is read-ahead or metadata.
    pub amplification: Option<f64>,
    pub warnings: Vec<Warning>,
    pub latency: Option<Latency>,
}

/// The verdict on one cell; the worst warnings come first.
pub fn judge(evidence: &CellEvidence) -> Verdict {
    let origin = source::origin(evidence);
    let mut warnings: Vec<Warning> =
        RULES.iter().filter_map(|rule| (rule.check)(evidence)).collect();
    warnings.sort_by_key(|warning| Reverse(warning.severity));
    Verdict {
        source: origin.source,
        source_reason: origin.reason,
        amplification: origin.amplification,
        warnings,
        latency: evidence.latency.cloned(),
    }
}

#[cfg(test)]
mod tests;
