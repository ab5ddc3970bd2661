//! Facts about the target: its file system, the devices below, holes and residency.

use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ground::{Below, compression};
use super::root::{Root, clean};
use super::{priority, throttle};
use crate::record::{Ground, LinkCeiling, Medium, TargetEvidence, Throttle};
use crate::sys::block::{BlockDevice, Kind};
use crate::sys::direct::{DirectSupport, direct_support};
use crate::sys::extents::{ExtentMethod, Extents};
use crate::sys::io_priority::io_priority;
use crate::sys::mounts::{self, Mount, Space};
use crate::sys::residency::{Method, residency};
use crate::sys::{fd, memory};

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
    pub method: Method,
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
    /// Entropy of sampled data, bits per byte; set by the caller of [`super::entropy`].
    pub entropy: Option<f64>,
    /// What the bytes lie on.
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

impl TargetFacts {
    /// Inspects an open target. Writes its dirty pages back (FIEMAP_FLAG_SYNC) and, if cachestat(2)
    /// is refused, reads up to 256 of its pages.
    pub fn inspect(file: &File, path: &Path, kind: TargetKind) -> TargetFacts {
        TargetFacts::inspect_above(&Below::of(file), file, path, kind)
    }

    /// Inspects an open target, as [`TargetFacts::inspect`], of which it is known what lies below.
    pub fn inspect_above(below: &Below, file: &File, path: &Path, kind: TargetKind) -> TargetFacts {
        let mut facts =
            TargetFacts { path: clean(&path.to_string_lossy()), kind, ..TargetFacts::default() };
        let meta = file.metadata().ok();
        let is_device = meta.as_ref().is_some_and(|meta| meta.file_type().is_block_device());
        let is_file = meta.as_ref().is_some_and(|meta| meta.is_file());
        facts.devices = below.devices();
        facts.ground = below.ground.clone();
        if is_device {
            facts.kind = TargetKind::Device;
        }
        facts.size = match meta {
            Some(meta) if is_file => meta.len(),
            _ if is_device => fd::size(file)
                .ok()
                .or(facts.devices.first().and_then(|device| device.size))
                .unwrap_or(0),
            _ => 0,
        };
        if let Some(mount) = below.mount.clone() {
            facts.add_mount(mount, mounts::space(file).ok());
        }
        facts.memory |= facts.ground.medium == Medium::Memory;
        if is_file || is_device {
            facts.add_data(file, below);
        }
        facts.huge_page_cache =
            memory::Memory::now().ok().and_then(|memory| memory.file_huge_pages);
        facts
    }

    /// Adds facts about the mount.
    fn add_mount(&mut self, mount: Mount, space: Option<Space>) {
        self.memory = mount.is_memory();
        self.network = mount.is_network();
        self.fuse = mount.is_fuse();
        self.compresses = compression(&mount.fs, &mount.options).or_else(|| {
            let is_vdo = |device: &BlockDevice| {
                device.detail.as_ref().is_some_and(|detail| detail.to_lowercase().contains("vdo"))
            };
            self.devices.iter().any(is_vdo).then(|| "a VDO device".to_string())
        });
        self.fs = clean(&mount.fs);
        self.mount_point = mount.mount_point.map(|path| clean(&path.to_string_lossy()));
        self.source = mount.source.as_deref().map(clean);
        self.read_only = mount.read_only;
        self.options = mount.options.iter().map(|option| clean(option)).collect();
        self.space = space.filter(|space| space.total > 0);
    }

    /// Adds facts about the data: direct I/O, access time, residency, extents.
    fn add_data(&mut self, file: &File, below: &Below) {
        self.direct = direct_support(file).ok();
        let by_mount = self.read_only || self.options.iter().any(|option| option == "noatime");
        self.noatime = fd::reopen(file)
            .and_then(|reopened| fd::is_noatime(&reopened))
            .ok()
            .map(|by_flag| by_flag || by_mount);
        match residency(file, 0, self.size) {
            Ok(found) => {
                self.resident = Some(Resident { share: found.share(), method: found.method })
            }
            Err(error) => self.resident_error = Some(error.to_string()),
        }
        if let Ok(found) = below.extents(file, self.size) {
            if found.encoded && self.compresses.is_none() {
                self.compresses = Some("encoded extents".into());
            }
            self.stored = Some(Stored {
                hole_bytes: found.hole_bytes(),
                extents: found.count,
                method: found.method,
            });
        }
    }

    /// Returns the facts that verdicts on the first `span` bytes are based on; `extents` if the
    /// engine has read them.
    pub fn evidence(&self, span: u64, extents: Option<&Extents>) -> TargetEvidence {
        let holes = match (extents, self.stored) {
            (Some(extents), _) => {
                Some((extents.hole_bytes_in(0..span.min(extents.len)), extents.method))
            }
            (None, Some(stored)) if span >= self.size => Some((stored.hole_bytes, stored.method)),
            _ => None,
        };
        // An assumption is not evidence.
        let holes = holes.filter(|(_, method)| *method != ExtentMethod::Assumed);
        // Other modules fill the fields of the evidence that the target does not know.
        #[allow(clippy::needless_update)]
        TargetEvidence {
            fs: self.fs.clone(),
            device: self.device_line(),
            memory: self.memory,
            remote: self.network || self.fuse,
            compresses: self.compresses.clone(),
            entropy: self.entropy,
            ground: Some(self.ground.clone()).filter(Ground::is_walked),
            hole_bytes: holes.map(|(bytes, _)| bytes),
            hole_method: holes
                .map(|(_, method)| method_name(method).to_string())
                .unwrap_or_default(),
            direct: self.direct_is_real(),
            noatime: self.noatime,
            read_ahead: self.read_ahead(),
            queue: self.queue(),
            fs_used: self.used_share().filter(|_| !self.read_only),
            link: self.link(),
            throttle: self.throttle(),
            yields: priority::yields(&Root::system(), &self.devices, io_priority()),
            walks_folios: walks_folios(
                &self.fs,
                &self.options,
                &Root::system().line("/proc/sys/kernel/osrelease").unwrap_or_default(),
            ),
            ..TargetEvidence::default()
        }
    }

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

    /// Returns the limits of control groups for the devices below.
    pub fn throttle(&self) -> Option<Throttle> {
        let numbers: Vec<(u64, u64)> =
            self.devices.iter().map(|device| (device.major, device.minor)).collect();
        throttle::limits(&Root::system(), &numbers)
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
    fn queue(&self) -> Option<u64> {
        let disks = self.devices.iter().filter(|device| device.kind == Kind::Disk);
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

/// Returns the name of the method that session files use.
pub fn method_name(method: ExtentMethod) -> &'static str {
    match method {
        ExtentMethod::Fiemap => "fiemap",
        ExtentMethod::SeekData => "seek_data",
        ExtentMethod::Assumed => "assumed",
    }
}

/// Returns the file system and kernel if small writes scan large folios. ext4 has large folios for
/// regular files since Linux 6.16, unless it journals data. Its buffered writes visit every buffer
/// head of the folio ("ext4: avoid tail walks for cached large-folio writes", linux-ext4, June
/// 2026: 4.7 us for 1 KiB on 6.18, 0.6 us on 6.12). XFS and btrfs keep bitmaps instead.
fn walks_folios(fs: &str, options: &[String], release: &str) -> Option<String> {
    let journals = options.iter().any(|option| option == "data=journal");
    let (major, minor) = super::kernel::version(release)?;
    (fs == "ext4" && !journals && (major, minor) >= (6, 16))
        .then(|| format!("ext4 on Linux {major}.{minor}"))
}

#[cfg(test)]
mod tests;
