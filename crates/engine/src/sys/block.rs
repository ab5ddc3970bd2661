//! The block devices under a file, from the one that is mounted down to the disks, as sysfs
//! describes them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk;
use super::link::{self, Link};
use super::text::{line, number};

/// Maximum number of devices listed; also ends any cycle.
const MAX_DEVICES: usize = 64;

/// The kind of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
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
    pub kind: Kind,
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
    /// What a SCSI or virtio disk itself says of its cache: `write back`.
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
}

/// Returns the device (major, minor) and everything below it: a partition's disk, the members of
/// mapper and RAID devices, the paths to an NVMe disk, the disk of a loop device's file. Each once,
/// depth first; then, as deep as the device, the others of a btrfs file system that has several.
pub fn stack(major: u64, minor: u64) -> Vec<BlockDevice> {
    stack_in(Path::new("/sys"), major, minor)
}

/// Returns the [`stack`] with sysfs at `sys`.
fn stack_in(sys: &Path, major: u64, minor: u64) -> Vec<BlockDevice> {
    let mut found = Vec::new();
    if let Ok(dir) = fs::canonicalize(sys.join(format!("dev/block/{major}:{minor}"))) {
        descend(sys, &dir, 0, &mut found);
        btrfs_members(sys, &dir).iter().for_each(|dir| descend(sys, dir, 0, &mut found));
    }
    found
}

/// Returns the sysfs folders of the devices that a btrfs file system has, if this is one of them.
fn btrfs_members(sys: &Path, dir: &Path) -> Vec<PathBuf> {
    let systems = folders(&sys.join("fs/btrfs"));
    let members = systems.iter().map(|system| folders(&system.join("devices")));
    members.into_iter().find(|all| all.iter().any(|member| member == dir)).unwrap_or_default()
}

/// Returns the real folders in a folder, in order.
fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.filter_map(|e| fs::canonicalize(e.path()).ok()).collect();
    found.sort();
    found
}

fn descend(sys: &Path, dir: &Path, depth: usize, found: &mut Vec<BlockDevice>) {
    let Some(device) = describe(dir, depth) else {
        return;
    };
    if found.len() == MAX_DEVICES || found.iter().any(|d| d.name == device.name) {
        return;
    }
    found.push(device);
    below(sys, dir).iter().for_each(|dir| descend(sys, dir, depth + 1, found));
}

/// Returns the disks (major, minor) that the data of a device is on: the lowest devices of its
/// stack; the device itself if sysfs does not describe it.
pub fn disks(device: (u64, u64)) -> BTreeSet<(u64, u64)> {
    disks_in(Path::new("/sys"), device)
}

fn disks_in(sys: &Path, (major, minor): (u64, u64)) -> BTreeSet<(u64, u64)> {
    let (mut disks, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut waiting: Vec<PathBuf> =
        fs::canonicalize(sys.join(format!("dev/block/{major}:{minor}"))).into_iter().collect();
    while let Some(dir) = waiting.pop() {
        if seen.len() == MAX_DEVICES || !seen.insert(dir.clone()) {
            continue;
        }
        match below(sys, &dir) {
            below if below.is_empty() => {
                disks.extend(line(dir.join("dev")).and_then(|text| numbers(&text)));
            }
            below => waiting.extend(below),
        }
    }
    if disks.is_empty() { BTreeSet::from([(major, minor)]) } else { disks }
}

/// Returns the sysfs folders of the devices directly below.
fn below(sys: &Path, dir: &Path) -> Vec<PathBuf> {
    if dir.join("partition").exists() {
        return dir.parent().map(PathBuf::from).into_iter().collect();
    }
    if let Some(file) = line(dir.join("loop/backing_file")) {
        let holder = disk::device_of_path(Path::new(&file));
        return holder
            .and_then(|(major, minor)| {
                fs::canonicalize(sys.join(format!("dev/block/{major}:{minor}"))).ok()
            })
            .into_iter()
            .collect();
    }
    match nvme_paths(dir) {
        paths if paths.is_empty() => folders(&dir.join("slaves")),
        paths => paths,
    }
}

/// Returns the sysfs folders of the paths to an NVMe disk with several controllers: for `nvme0n1`
/// of a subsystem `nvme0c0n1`, `nvme0c1n1`. They are hidden, and count what the disk does not.
fn nvme_paths(dir: &Path) -> Vec<PathBuf> {
    let subsystem = dir.parent().filter(|parent| named(parent).starts_with("nvme-subsys"));
    let (Some(subsystem), Some((instance, id))) = (subsystem, named(dir).rsplit_once('n')) else {
        return Vec::new();
    };
    let is_path = |path: &PathBuf| {
        let rest = named(path).strip_prefix(instance).and_then(|rest| rest.strip_prefix('c'));
        rest.and_then(|rest| rest.split_once('n')).is_some_and(|(_, of)| of == id)
    };
    folders(subsystem).iter().flat_map(|controller| folders(controller)).filter(is_path).collect()
}

/// Returns the last part of a path; empty if it is not text.
fn named(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn describe(dir: &Path, depth: usize) -> Option<BlockDevice> {
    let name = dir.file_name()?.to_string_lossy().into_owned();
    let (major, minor) = match line(dir.join("dev")) {
        Some(text) => numbers(&text)?,
        None if line(dir.join("hidden")).is_some_and(|text| text == "1") => (0, 0),
        None => return None,
    };
    let kind = kind(dir, &name);
    let queue = dir.join("queue");
    Some(BlockDevice {
        major,
        minor,
        depth,
        kind,
        detail: detail(dir),
        model: model(dir),
        // In units of 512 bytes, whatever the block size.
        size: number::<u64>(dir.join("size")).and_then(|sectors| sectors.checked_mul(512)),
        rotational: number::<u8>(queue.join("rotational")).map(|n| n != 0),
        scheduler: line(queue.join("scheduler")).and_then(|text| bracketed(&text)),
        read_ahead_kb: number(queue.join("read_ahead_kb")),
        nr_requests: number(queue.join("nr_requests")),
        logical_block: number(queue.join("logical_block_size")),
        physical_block: number(queue.join("physical_block_size")),
        max_sectors_kb: number(queue.join("max_sectors_kb")),
        write_cache: line(queue.join("write_cache")),
        fua: number::<u8>(queue.join("fua")).map(|n| n != 0),
        claimed_cache: claimed_cache(dir),
        counts_flushes: kind != Kind::Partition && dir.join("mq").is_dir(),
        polls: number::<u8>(queue.join("io_poll")).map(|n| n != 0),
        link: if kind == Kind::Disk { link::detect(dir) } else { None },
        backing_file: line(dir.join("loop/backing_file")).map(PathBuf::from),
        name,
    })
}

fn kind(dir: &Path, name: &str) -> Kind {
    let is = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if dir.join("partition").exists() {
        Kind::Partition
    } else if dir.join("dm").is_dir() {
        Kind::Mapper
    } else if dir.join("md").is_dir() {
        Kind::Raid
    } else if is("loop") {
        Kind::Loop
    } else if is("zram") || is("ram") || is("nullb") {
        Kind::Memory
    } else if is("nbd") || is("rbd") || is("drbd") {
        Kind::Network
    } else if dir.parent().is_some_and(|parent| parent.ends_with("virtual/block")) {
        Kind::Virtual
    } else {
        Kind::Disk
    }
}

/// Parses `8:17`.
fn numbers(text: &str) -> Option<(u64, u64)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Returns the word in brackets of `none [mq-deadline] kyber`, or the only word.
fn bracketed(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let inside = words.find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let mut all = text.split_whitespace();
    let only = all.next().filter(|_| all.next().is_none());
    inside.or(only).map(String::from)
}

/// Returns the model name. SCSI splits it into vendor and model ("ATA" and numbers are not names),
/// NVMe has one model, memory cards a name.
fn model(dir: &Path) -> Option<String> {
    let device = dir.join("device");
    let model = line(device.join("model")).or_else(|| line(device.join("name")))?;
    match line(device.join("vendor")).filter(|v| v != "ATA" && !v.starts_with("0x")) {
        Some(vendor) => Some(format!("{vendor} {model}")),
        None => Some(model),
    }
}

/// Returns what the driver of a virtio or SCSI disk says of its cache.
fn claimed_cache(dir: &Path) -> Option<String> {
    let scsi = folders(&dir.join("device/scsi_disk")).into_iter().next();
    line(dir.join("cache_type")).or_else(|| line(scsi?.join("cache_type")))
}

/// Returns the RAID level, or the name and kind of a mapper device (the prefix of its uuid: `LVM-`,
/// `CRYPT-LUKS2-`).
fn detail(dir: &Path) -> Option<String> {
    if let Some(level) = line(dir.join("md/level")) {
        return Some(level);
    }
    let name = line(dir.join("dm/name"))?;
    match line(dir.join("dm/uuid"))
        .as_deref()
        .and_then(|uuid| uuid.split('-').next())
        .filter(|sort| !sort.is_empty())
    {
        Some(sort) => Some(format!("{name} ({})", sort.to_ascii_lowercase())),
        None => Some(name),
    }
}

#[cfg(test)]
mod tests;
