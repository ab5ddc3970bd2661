//! The target: its file system, the devices below, holes and residency.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::clean;
use crate::record::{Ground, LinkCeiling};

/// Alignments for direct I/O in bytes, from statx(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectAlign {
    /// Alignment of the buffer address.
    pub mem: u32,
    /// Alignment of file offset and length.
    pub offset: u32,
    /// Alignment of file offset and length for reads, if smaller and reported (Linux 6.14).
    pub read_offset: Option<u32>,
}

/// Whether direct I/O works on a file, as reported by the file system. To be verified by residency
/// and device bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DirectSupport {
    Known(DirectAlign),
    /// The file system reports that it is not supported on this file.
    Refused,
    /// The kernel is older than 6.1, or the file system does not report it (tmpfs accepts O_DIRECT
    /// and serves memory).
    Unknown,
}

/// How the extents were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExtentMethod {
    /// FIEMAP: correct in every cache state.
    Fiemap,
    /// SEEK_DATA and SEEK_HOLE: counts preallocated extents as data while their pages are cached,
    /// so it is reliable only on a cold file.
    SeekData,
    /// No method worked: everything counts as stored.
    Assumed,
}

/// How residency was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResidencyMethod {
    /// cachestat(2): counts every page without side effects.
    Cachestat,
    /// At most 256 pages tried with `RWF_NOWAIT`: an estimate, and each miss starts a read. For a
    /// cold file, drop the cache again afterwards.
    Sampled,
    /// mincore(2) on a mapping, for overlays, FUSE and before Linux 6.5: counts every page without
    /// side effects, but only for files that the user owns or may write.
    Mincore,
}

/// Size of a file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    pub total: u64,
    pub free: u64,
    /// Free bytes available to this user.
    pub available: u64,
}

/// The kind of target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// The user's own file.
    #[default]
    File,
    /// A block device.
    Device,
    /// A file that iotui will create; until it exists, the folder for it.
    Scratch,
}

/// The share of the target in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Resident {
    /// Cached share, 0 to 1.
    pub share: f64,
    pub method: ResidencyMethod,
}

/// The stored part of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Bytes in holes or unwritten extents.
    pub hole_bytes: u64,
    /// Number of extents, or of data ranges.
    pub extents: u64,
    pub method: ExtentMethod,
}

/// Facts about the target; sizes in bytes, `None` = not reported by the system.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetFacts {
    /// The path as the user gave it.
    pub path: String,
    pub kind: TargetKind,
    pub size: u64,
    /// Type of the mounted file system (`ext4`); empty for a block device.
    pub fs: String,
    pub mount_point: Option<String>,
    pub options: Vec<String>,
    /// The mounted device or server.
    pub source: Option<String>,
    pub read_only: bool,
    pub space: Option<Space>,
    /// The devices from the mounted one down to the disks, depth first.
    pub devices: Vec<BlockDevice>,
    pub direct: Option<DirectSupport>,
    /// Whether reads leave the access time unchanged, by `O_NOATIME` or because of the mount.
    pub noatime: Option<bool>,
    pub resident: Option<Resident>,
    /// Why residency is unknown.
    pub resident_error: Option<String>,
    pub stored: Option<Stored>,
    /// Why fewer bytes may be stored than reads return: `btrfs compress=zstd`.
    pub compresses: Option<String>,
    /// Entropy of sampled data, bits per byte.
    pub entropy: Option<f64>,
    /// The ground of the bytes.
    pub ground: Ground,
    /// Whether the bytes are in memory, through all layers: tmpfs, zram, a loop device on tmpfs.
    pub memory: bool,
    /// Whether another machine serves the file system.
    pub network: bool,
    /// Whether a user-space program serves the file system.
    pub fuse: bool,
    /// Page cache of the whole machine in huge pages (FileHugePages), which make mmap up to three
    /// times as fast.
    pub huge_page_cache: Option<u64>,
}

/// Returns the name of the method that session files use.
pub fn method_name(method: ExtentMethod) -> &'static str {
    match method {
        ExtentMethod::Fiemap => "fiemap",
        ExtentMethod::SeekData => "seek_data",
        ExtentMethod::Assumed => "assumed",
    }
}

impl TargetFacts {
    /// Describes the devices from the mounted one to the disk: `dm-0 on nvme0n1 (model)`.
    pub fn device_line(&self) -> String {
        let mut line = String::new();
        let depths = std::iter::once(0).chain(self.devices.iter().map(|device| device.depth));
        for (device, before) in self.devices.iter().zip(depths) {
            if !line.is_empty() {
                line += if device.depth > before { " on " } else { " and " };
            }
            line += &device.name;
        }
        let model = self
            .devices
            .last()
            .and_then(|d| d.model.as_deref())
            .map(|m| format!(" ({})", clean(m)))
            .unwrap_or_default();
        clean(&line) + &model
    }

    /// Describes where it lies: `ext4 on nvme0n1 (model)`, `nfs4 on server:/home`.
    pub fn describe_place(&self) -> String {
        let on = match self.device_line() {
            line if line.is_empty() => self.source.clone().unwrap_or_default(),
            line => line,
        };
        self.ground.describe(&self.fs, &on)
    }

    /// Returns the slowest link to the disks below whose speed is known.
    pub fn link(&self) -> Option<LinkCeiling> {
        let links = self.devices.iter().filter_map(|device| device.link.as_ref());
        let known = links.filter_map(|link| {
            Some(LinkCeiling {
                name: link.text.clone(),
                bytes_per_second: link.bytes_per_second? as f64,
            })
        });
        known.min_by(|a, b| a.bytes_per_second.total_cmp(&b.bytes_per_second))
    }

    /// Returns whether O_DIRECT reaches a device, as reported by the file system; file systems in
    /// memory accept the flag and ignore it.
    pub fn direct_is_real(&self) -> Option<bool> {
        match self.direct {
            _ if self.memory && self.devices.is_empty() => Some(false),
            Some(DirectSupport::Known(_)) => Some(true),
            Some(DirectSupport::Refused) => Some(false),
            Some(DirectSupport::Unknown) | None => None,
        }
    }

    /// Returns the requests that the smallest queue of the disks below holds.
    pub fn queue(&self) -> Option<u64> {
        let disks = self.devices.iter().filter(|device| device.kind == DeviceKind::Disk);
        disks.filter_map(|device| device.nr_requests).min()
    }

    /// Returns the readahead of the mounted device, bytes.
    pub fn read_ahead(&self) -> Option<u64> {
        self.devices.iter().find_map(|device| device.read_ahead_kb)?.checked_mul(1024)
    }

    /// Returns the used share of the file system, 0 to 1, computed like df: space reserved for root
    /// is neither used nor free.
    pub fn used_share(&self) -> Option<f64> {
        let space = self.space?;
        let used = space.total.saturating_sub(space.free) as f64;
        let all = used + space.available as f64;
        (all > 0.0).then(|| used / all)
    }

    /// Returns the share of the target in holes, 0 to 1.
    pub fn hole_share(&self) -> Option<f64> {
        let stored =
            self.stored.filter(|stored| self.size > 0 && stored.method != ExtentMethod::Assumed)?;
        Some(stored.hole_bytes as f64 / self.size as f64)
    }
}

/// The kind of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    Disk,
    Partition,
    /// Device mapper: LVM, encryption, multipath.
    Mapper,
    /// Software RAID.
    Raid,
    /// A file exposed as a device.
    Loop,
    /// zram, brd or null_blk.
    Memory,
    /// nbd, rbd, drbd.
    Network,
    /// Made up by a driver or a program: a ZFS volume, ublk.
    Virtual,
}

/// One block device. `None`: not reported by sysfs, or not applicable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDevice {
    /// Kernel name, e.g. `nvme0n1p2`.
    pub name: String,
    /// 0:0 for a path to a disk, which has no number.
    pub major: u64,
    pub minor: u64,
    /// 0 for the requested device, 1 for those right below it, ...
    pub depth: usize,
    pub kind: DeviceKind,
    /// Details: `raid1`, or the name and kind of a mapper device.
    pub detail: Option<String>,
    pub model: Option<String>,
    /// Bytes.
    pub size: Option<u64>,
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    pub read_ahead_kb: Option<u64>,
    /// Capacity of the request queue.
    pub nr_requests: Option<u64>,
    /// Smallest request, bytes.
    pub logical_block: Option<u64>,
    /// Smallest write without read-modify-write, bytes.
    pub physical_block: Option<u64>,
    /// Largest request in KiB; larger ones are split.
    pub max_sectors_kb: Option<u64>,
    /// `write back` (the device has a volatile cache) or `write through`.
    pub write_cache: Option<String>,
    /// Whether it can write through its cache, request by request (FUA).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fua: Option<bool>,
    /// The cache mode that a SCSI or virtio disk reports: `write back`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_cache: Option<String>,
    /// Whether it counts flushes: it is a whole device with a queue of requests.
    #[serde(default)]
    pub counts_flushes: bool,
    /// Whether requests can be polled for: it has poll queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polls: Option<bool>,
    pub link: Option<Link>,
    /// File of a loop device.
    pub backing_file: Option<PathBuf>,
    /// The SMART log of an NVMe disk, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<DriveHealth>,
    /// Why that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_error: Option<String>,
}

/// The health that an NVMe disk reports in its SMART log, since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriveHealth {
    /// Its critical warnings that are set.
    pub warnings: Vec<String>,
    pub celsius: Option<i64>,
    /// Percent of its spare blocks that are left, and of its life that is used (may exceed 100).
    pub spare: u8,
    pub used: u8,
    /// Bytes.
    pub read: u64,
    pub written: u64,
    pub media_errors: u64,
    /// Time at temperatures at which it warns, and at critical ones.
    pub warm_minutes: u64,
    pub hot_minutes: u64,
    /// How often it slowed down to cool, and how long.
    pub throttled: u64,
    pub throttled_seconds: u64,
}

/// The transport between disk and CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    Pcie,
    Sata,
    Sas,
    Usb,
    Mmc,
    /// NVMe over fabrics, iSCSI: the disk is on another machine.
    Network,
    /// A virtual disk of the hypervisor: the link does not reveal the disk behind it.
    Virtio,
    Xen,
    Hyperv,
}

/// The link of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub transport: Transport,
    /// As usually written: `PCIe 4.0 x4`, `SATA 6.0 Gbps`, `USB 5000 Mbit/s`, `virtio`.
    pub text: String,
    /// Payload bytes per second after line coding, before protocol overhead (another 5 to 20 %).
    /// `None` if the speed is unknown.
    pub bytes_per_second: Option<u64>,
}

impl Link {
    pub fn new(
        transport: Transport,
        text: impl Into<String>,
        bytes_per_second: Option<u64>,
    ) -> Self {
        Self { transport, text: text.into(), bytes_per_second }
    }
}
