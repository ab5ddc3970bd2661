//! The facts that a verdict rests on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::plan::{Info, Job};
use crate::record::{
    Ceilings, CommitTimes, FirstVisits, Ground, Latency, LinkCeiling, Throttle, Trial,
};

/// Shares of the bytes by their source; they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Source {
    pub device: f64,
    /// That of the target itself.
    pub page_cache: f64,
    pub hole: f64,
    pub unknown: f64,
    /// Memory of this machine below the target: the page cache of an image, a compressed disk in
    /// memory, a program; absent from JSON if none.
    #[serde(default, skip_serializing_if = "crate::units::is_zero")]
    pub below: f64,
}

/// Facts about the target that verdicts rest on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetEvidence {
    /// Type of the mounted file system: `ext4`.
    pub fs: String,
    /// The devices below it, from the mounted one down to the disk: `dm-0 on nvme0n1`; empty if
    /// unknown.
    pub device: String,
    /// True only if iotui created this file, so that it may be written.
    pub ours: bool,
    /// tmpfs, ramfs, a zram or brd disk: the "device" is memory.
    pub memory: bool,
    /// A server or a user-space file system moves the bytes, so this process's device bytes say
    /// nothing.
    pub remote: bool,
    /// Whether a read that had to reach the disk was charged to this process; if not, 0 device
    /// bytes mean nothing here.
    pub device_counted: Option<bool>,
    /// Why the file system may store fewer bytes than it returns (`btrfs compress=zstd`, `zfs`,
    /// encoded extents).
    pub compresses: Option<String>,
    /// Entropy estimate of sampled data, bits per byte, 0 to 8.
    pub entropy: Option<f64>,
    /// By how many percent the data that iotui writes compresses, and how many percent of it
    /// repeat; absent from JSON where nothing was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compressible: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<u8>,
    /// Bytes of the span in holes or unwritten extents.
    pub hole_bytes: Option<u64>,
    /// How they were found: `fiemap`, `seek_data`.
    pub hole_method: String,
    /// Support of O_DIRECT as stated by the file system; `Some(false)` = refused or emulated.
    pub direct: Option<bool>,
    /// Whether reads leave the access time alone; if not, each call pays for checking it.
    pub noatime: Option<bool>,
    /// The disk's readahead, bytes.
    pub read_ahead: Option<u64>,
    /// Requests that the queue of the disk holds; absent from JSON if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u64>,
    /// Used share of the file system, if it can be written.
    pub fs_used: Option<f64>,
    /// The slowest link to the disk, if its speed is known.
    pub link: Option<LinkCeiling>,
    /// The file system and kernel that may scan all blocks of a large folio for each small write;
    /// absent from JSON if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walks_folios: Option<String>,
    /// Limits of control groups.
    pub throttle: Option<Throttle>,
    /// Why the disks serve others before this process: `I/O class idle (ionice)`; absent from JSON
    /// where nothing shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yields: Option<String>,
    /// The way of commits; absent from JSON where nothing is committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_path: Option<CommitPath>,
    /// The times of first and second reads of blocks; absent from JSON where none were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_visits: Option<FirstVisits>,
    /// The layers below it; absent from JSON in older sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ground: Option<Ground>,
}

impl TargetEvidence {
    /// Describes where it lies: `ext4 on nvme0n1 (model)`.
    pub fn describe_place(&self) -> String {
        self.ground.as_ref().unwrap_or(&Ground::default()).describe(&self.fs, &self.device)
    }
}

/// The way of a commit from the file to stable storage, as the kernel describes it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CommitPath {
    /// The mount option with which the file system empties no cache, or syncs nothing: `nobarrier`,
    /// `volatile`.
    pub no_barrier: Option<String>,
    /// Other mount options that change what a sync does: `data=journal`, `sync`.
    pub options: Vec<String>,
    /// The devices from the mounted one down to the disks.
    pub devices: Vec<CommitDevice>,
    /// The fastest of some direct writes of the smallest block, each without a sync, nanoseconds;
    /// `None` = direct I/O is not available.
    pub fastest_write_nanos: Option<u64>,
    /// The median of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_write_nanos: Option<u64>,
}

/// A device on the way of a commit. `None`: not reported.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CommitDevice {
    /// Kernel name: `nvme0n1`.
    pub device: String,
    /// Nothing is below it.
    pub lowest: bool,
    /// The disk, if this is one of several paths to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_of: Option<String>,
    /// Whether the kernel believes that it has a volatile write cache.
    pub volatile_cache: Option<bool>,
    /// The kernel believes that it has none, but the disk, or a device below it, has one: the
    /// kernel then flushes nothing through it.
    pub overridden: bool,
    /// Whether it can write through its cache, request by request.
    pub fua: Option<bool>,
    pub rotational: Option<bool>,
    /// Where its data is, if it is not a disk.
    pub backing: Option<Backing>,
}

impl CommitDevice {
    /// Returns the name of the disk that it is, or leads to.
    pub fn disk(&self) -> &str {
        self.path_of.as_deref().unwrap_or(&self.device)
    }
}

/// Location of the data of a device that is not a disk.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Backing {
    /// `a file on fuse`, `on another machine`, `a virtual disk (virtio)`.
    pub what: String,
    pub memory: bool,
    /// The mount option of the file system of its file that leaves out flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_barrier: Option<String>,
}

/// Facts about the machine that verdicts rest on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineEvidence {
    /// The CPU frequency governor; `None` if the kernel does not control the frequency, as in most
    /// virtual machines.
    pub governor: Option<String>,
    pub on_battery: Option<bool>,
    /// Bytes of usable memory: the machine's, or the limit of the control group.
    pub memory: Option<u64>,
    /// The fewest CPUs that a launcher bound a rank to, where its machine has more; absent from
    /// JSON if none is bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_cpus: Option<u32>,
    /// Rates of bare loops on this machine; `None` = not measured.
    pub ceilings: Option<Ceilings>,
    /// CPUs that control groups let this process keep busy; absent from JSON without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
    /// The hypervisor; absent from JSON on physical hardware.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
}

/// The facts that all verdicts of a run rest on; saved in the session so that a missing verdict can
/// be computed later.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Grounds {
    pub target: TargetEvidence,
    /// Facts about further targets; omitted from JSON without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<TargetEvidence>,
    pub machine: MachineEvidence,
    /// Cost of iotui's loop per operation, nanoseconds.
    pub harness_nanos: f64,
    /// The measuring programs with their versions, iotui first, then the peers: `iotui 0.1.0`,
    /// `fio-3.33`. Empty in older sessions.
    pub programs: Vec<String>,
    /// The name of the machine of each rank; omitted from JSON where one process measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<String>,
}

impl Grounds {
    /// Multiplies the limits by the number of machines, each like this one.
    pub fn extend_to_machines(&mut self, count: u32) {
        self.machine.ceilings = self.machine.ceilings.map(|of| of.of_machines(count));
        self.machine.memory = self.machine.memory.map(|of| of.saturating_mul(count.max(1).into()));
        for target in self.targets_mut() {
            if let Some(link) = &mut target.link {
                link.bytes_per_second *= f64::from(count.max(1));
            }
            target.throttle = target.throttle.take().map(|of| of.of_machines(count));
        }
    }

    /// Returns the facts about all targets, in the order of their letters.
    pub fn targets(&self) -> impl Iterator<Item = &TargetEvidence> {
        std::iter::once(&self.target).chain(&self.others)
    }

    /// Returns the facts about all targets, to change them.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut TargetEvidence> {
        std::iter::once(&mut self.target).chain(&mut self.others)
    }

    /// Returns the facts about the target of a job.
    pub fn target_of(&self, job: &Job) -> &TargetEvidence {
        self.targets().nth(job.target_index()).unwrap_or(&self.target)
    }
}

/// The scatter of a cell's trials.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Relative half-width of the 95 % confidence interval of the median throughput.
    pub half_width: Option<f64>,
    /// Median throughputs of the two groups in bytes per second, if the trials form two.
    pub two_modes: Option<(f64, f64)>,
    pub outliers: usize,
}

/// Everything that the verdict on one cell rests on.
#[derive(Debug, Clone, Copy)]
pub struct CellEvidence<'a> {
    pub job: &'a Job,
    pub info: &'a Info,
    pub target: &'a TargetEvidence,
    pub machine: &'a MachineEvidence,
    pub trials: &'a [Arc<Trial>],
    pub spread: Spread,
    pub latency: Option<&'a Latency>,
    /// At a rate, from the real starts; `latency` is then from the intended ones.
    pub service: Option<&'a Latency>,
    pub commits: Option<&'a CommitTimes>,
    /// One trial is what was requested.
    pub once: bool,
    /// Cost of iotui's loop per operation, nanoseconds, measured in this session.
    pub harness_nanos: f64,
    /// The machine of each rank, where several processes measured; the job is then that of all.
    pub ranks: &'a [String],
}
