//! What the target is: its file system, the devices below, what of it is stored and what is cached.

use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::root::{Root, clean};
use super::throttle;
use crate::record::{LinkCeiling, TargetEvidence, Throttle};
use crate::sys::block::{self, BlockDevice};
use crate::sys::direct::{DirectSupport, direct_support};
use crate::sys::extents::{ExtentMethod, Extents, extents};
use crate::sys::mounts::{self, Mount, Space};
use crate::sys::residency::{Method, residency};
use crate::sys::{disk, fd, memory};

/// What sort of target it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// The user's own file.
    #[default]
    File,
    /// A block device.
    Device,
    /// A file that iotui makes; before it exists, the folder it will lie in.
    Scratch,
}

/// How much of the target was in the page cache when asked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Resident {
    /// 0 to 1.
    pub share: f64,
    pub method: Method,
}

/// What of the target is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Bytes in holes or in extents that were never written.
    pub hole_bytes: u64,
    /// Extents, or ranges of data.
    pub extents: u64,
    pub method: ExtentMethod,
}

/// Facts about the target; sizes in bytes, `None` = the system does not tell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetFacts {
    /// As the user wrote it.
    pub path: String,
    pub kind: TargetKind,
    pub size: u64,
    /// Type of the file system as mounted (`ext4`); empty for a block device.
    pub fs: String,
    pub mount_point: Option<String>,
    pub options: Vec<String>,
    /// What is mounted there: a device, a server.
    pub source: Option<String>,
    pub read_only: bool,
    pub space: Option<Space>,
    /// From the mounted device down to the disks, depth first.
    pub devices: Vec<BlockDevice>,
    pub direct: Option<DirectSupport>,
    /// Whether reading leaves the time of last access alone: opened so (`O_NOATIME`), or mounted
    /// so.
    pub noatime: Option<bool>,
    pub resident: Option<Resident>,
    /// Why residency is not known.
    pub resident_error: Option<String>,
    pub stored: Option<Stored>,
    /// Why fewer bytes may be stored than are returned: `btrfs compress=zstd`.
    pub compresses: Option<String>,
    /// Entropy of sampled data, bits per byte; set by who calls [`super::entropy`].
    pub entropy: Option<f64>,
    /// Its bytes live in memory: tmpfs, zram.
    pub memory: bool,
    /// Its bytes come from another machine.
    pub network: bool,
    /// A program serves the file system.
    pub fuse: bool,
    /// Page cache of the whole machine in huge pages (FileHugePages): those make mmap up to three
    /// times as fast.
    pub huge_page_cache: Option<u64>,
}

impl TargetFacts {
    /// Looks at an open target. Writes its dirty pages back (FIEMAP_FLAG_SYNC); where cachestat(2)
    /// is refused, up to 256 of its pages are read.
    pub fn of(file: &File, shown: &Path, kind: TargetKind) -> TargetFacts {
        let mut facts =
            TargetFacts { path: clean(&shown.to_string_lossy()), kind, ..TargetFacts::default() };
        let meta = file.metadata().ok();
        let is_device = meta.as_ref().is_some_and(|meta| meta.file_type().is_block_device());
        let is_file = meta.as_ref().is_some_and(|meta| meta.is_file());
        facts.devices = disk::device_of(file)
            .map(|(major, minor)| block::stack(major, minor))
            .unwrap_or_default();
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
        match mounts::mount_of(file) {
            // The mount of a device's node in /dev says nothing about the device.
            Ok(mount) if is_device => facts.memory = mount.memory_device,
            Ok(mount) => facts.take_mount(mount, mounts::space(file).ok()),
            Err(_) => {}
        }
        if is_file || is_device {
            facts.take_data(file);
        }
        facts.huge_page_cache =
            memory::Memory::now().ok().and_then(|memory| memory.file_huge_pages);
        facts
    }

    fn take_mount(&mut self, mount: Mount, space: Option<Space>) {
        self.memory = mount.is_memory();
        self.network = mount.is_network();
        self.fuse = mount.is_fuse();
        self.compresses = compression(&mount.fs, &mount.options, &self.devices);
        self.fs = clean(&mount.fs);
        self.mount_point = mount.mount_point.map(|path| clean(&path.to_string_lossy()));
        self.source = mount.source.as_deref().map(clean);
        self.read_only = mount.read_only;
        self.options = mount.options.iter().map(|option| clean(option)).collect();
        self.space = space.filter(|space| space.total > 0);
    }

    fn take_data(&mut self, file: &File) {
        self.direct = direct_support(file).ok();
        let mounted = self.read_only || self.options.iter().any(|option| option == "noatime");
        self.noatime = fd::reopen(file)
            .and_then(|own| fd::is_noatime(&own))
            .ok()
            .map(|opened| opened || mounted);
        match residency(file, 0, self.size) {
            Ok(now) => self.resident = Some(Resident { share: now.share(), method: now.method }),
            Err(error) => self.resident_error = Some(error.to_string()),
        }
        if let Ok(found) = extents(file, self.size) {
            if found.encoded && self.compresses.is_none() {
                self.compresses = Some("extents that are stored encoded".into());
            }
            self.stored = Some(Stored {
                hole_bytes: found.hole_bytes(),
                extents: found.count,
                method: found.method,
            });
        }
    }

    /// What a verdict needs, for the first `span` bytes; `extents` where the engine has walked
    /// them.
    pub fn evidence(&self, span: u64, extents: Option<&Extents>) -> TargetEvidence {
        let walked =
            extents.map(|found| (found.hole_bytes_in(0..span.min(found.len)), found.method));
        let whole = self
            .stored
            .filter(|_| span >= self.size)
            .map(|stored| (stored.hole_bytes, stored.method));
        // "Assumed" is no finding.
        let holes = walked.or(whole).filter(|(_, method)| *method != ExtentMethod::Assumed);
        // The verdict's evidence may have fields that are not the target's to fill.
        #[allow(clippy::needless_update)]
        TargetEvidence {
            fs: self.fs.clone(),
            device: self.device_line(),
            memory: self.memory,
            remote: self.network || self.fuse,
            compresses: self.compresses.clone(),
            entropy: self.entropy,
            hole_bytes: holes.map(|(bytes, _)| bytes),
            hole_method: holes
                .map(|(_, method)| method_name(method).to_string())
                .unwrap_or_default(),
            direct: self.direct_is_real(),
            noatime: self.noatime,
            read_ahead: self.read_ahead(),
            fs_used: self.used(),
            link: self.link(),
            throttle: self.throttle(),
            walks_folios: walks_folios(
                &self.fs,
                &self.options,
                &Root::system().line("/proc/sys/kernel/osrelease").unwrap_or_default(),
            ),
            ..TargetEvidence::default()
        }
    }

    /// The devices in one line, from the mounted one to the disk: `dm-0 on nvme0n1 (model)`.
    pub fn device_line(&self) -> String {
        let names: Vec<&str> = self.devices.iter().map(|d| d.name.as_str()).collect();
        let model = self
            .devices
            .last()
            .and_then(|d| d.model.as_deref())
            .map(|m| format!(" ({})", clean(m)))
            .unwrap_or_default();
        if names.is_empty() { String::new() } else { clean(&names.join(" on ")) + &model }
    }

    /// What control groups let this process move to and from the devices below.
    pub fn throttle(&self) -> Option<Throttle> {
        let numbers: Vec<(u64, u64)> =
            self.devices.iter().map(|device| (device.major, device.minor)).collect();
        throttle::limits(&Root::system(), &numbers)
    }

    /// The narrowest link of the disks below, where its speed is known.
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

    /// Whether O_DIRECT reaches a device, as far as the file system says; memory takes the flag and
    /// ignores it.
    pub fn direct_is_real(&self) -> Option<bool> {
        match self.direct {
            _ if self.memory && self.devices.is_empty() => Some(false),
            Some(DirectSupport::Known(_)) => Some(true),
            Some(DirectSupport::Refused) => Some(false),
            Some(DirectSupport::Unknown) | None => None,
        }
    }

    /// Bytes that the kernel reads ahead: those of the device that is mounted.
    pub fn read_ahead(&self) -> Option<u64> {
        self.devices.iter().find_map(|device| device.read_ahead_kb)?.checked_mul(1024)
    }

    /// Share of the file system that is in use, 0 to 1, as df counts: what is reserved for root is
    /// neither used nor free.
    pub fn used(&self) -> Option<f64> {
        let space = self.space?;
        let used = space.total.saturating_sub(space.free) as f64;
        let all = used + space.available as f64;
        (all > 0.0).then(|| used / all)
    }

    /// Share of the target in holes, 0 to 1.
    pub fn hole_share(&self) -> Option<f64> {
        let stored =
            self.stored.filter(|stored| self.size > 0 && stored.method != ExtentMethod::Assumed)?;
        Some(stored.hole_bytes as f64 / self.size as f64)
    }
}

/// As the session writes it.
pub fn method_name(method: ExtentMethod) -> &'static str {
    match method {
        ExtentMethod::Fiemap => "fiemap",
        ExtentMethod::SeekData => "seek_data",
        ExtentMethod::Assumed => "assumed",
    }
}

/// ext4 has large folios for regular files since Linux 6.16, but where it journals data. Its
/// buffered writes go from buffer head to buffer head of the whole folio ("ext4: avoid tail walks
/// for cached large-folio writes", linux-ext4, June 2026: 4.7 us for 1 KiB on 6.18, 0.6 us on
/// 6.12). XFS and btrfs keep bitmaps instead.
fn walks_folios(fs: &str, options: &[String], release: &str) -> Option<String> {
    let journals = options.iter().any(|option| option == "data=journal");
    let (major, minor) = super::kernel::version(release)?;
    (fs == "ext4" && !journals && (major, minor) >= (6, 16))
        .then(|| format!("ext4 on Linux {major}.{minor}"))
}

/// Why data may be stored in fewer bytes than it has, as file system, mount options and devices
/// say.
fn compression(fs: &str, options: &[String], devices: &[BlockDevice]) -> Option<String> {
    const ALWAYS: &[&str] = &["zfs", "squashfs", "erofs", "cramfs", "fuse.squashfuse"];
    const OPTIONS: &[(&str, &str)] = &[
        ("btrfs", "compress"),
        ("bcachefs", "compression"),
        ("bcachefs", "background_compression"),
        ("f2fs", "compress_algorithm"),
        ("ubifs", "compr"),
    ];
    if ALWAYS.contains(&fs) {
        return Some(fs.to_string());
    }
    let said = options.iter().find(|option| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let known = OPTIONS.iter().any(|(kind, start)| *kind == fs && name.starts_with(start));
        known && !matches!(value, "no" | "none")
    });
    let vdo = || {
        devices.iter().any(|device| {
            device.detail.as_deref().is_some_and(|detail| detail.to_lowercase().contains("vdo"))
        })
    };
    said.map(|option| format!("{fs} {}", clean(option)))
        .or_else(|| vdo().then(|| "a VDO device".to_string()))
}

#[cfg(test)]
mod tests;
