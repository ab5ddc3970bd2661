//! The block devices under a file, from the mounted device down to the disks, as sysfs describes
//! them.

use crate::facts::{BlockDevice, DeviceKind};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::link::{self};
use super::text::{line, number};

/// Maximum number of entries read from a folder.
const MAX_DEVICES: usize = 256;

/// Returns the folder of a block device (major, minor) with sysfs at `sys`.
pub fn folder(sys: &Path, (major, minor): (u64, u64)) -> Option<PathBuf> {
    fs::canonicalize(sys.join(format!("dev/block/{major}:{minor}"))).ok()
}

/// Returns the sysfs folders of all devices of the btrfs file system that this device belongs to.
pub fn btrfs_members(sys: &Path, dir: &Path) -> Vec<PathBuf> {
    let systems = folders(&sys.join("fs/btrfs"));
    let members = systems.iter().map(|system| folders(&system.join("devices")));
    members.into_iter().find(|all| all.iter().any(|member| member == dir)).unwrap_or_default()
}

/// Returns the real folders in a folder, in order.
fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let entries = entries.take(MAX_DEVICES).filter_map(|entry| fs::canonicalize(entry.path()).ok());
    let mut found: Vec<_> = entries.collect();
    found.sort();
    found
}

/// Returns the sysfs folders of the devices directly below, as the kernel knows them: the disk of a
/// partition, the paths to an NVMe disk, the members of mapper and RAID devices. Not what is below
/// the file of a loop device.
pub fn below(dir: &Path) -> Vec<PathBuf> {
    if dir.join("partition").exists() {
        return dir.parent().map(PathBuf::from).into_iter().collect();
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

/// Returns the kernel name of the device with this folder; empty if it is not text.
pub fn named(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Returns the number of the device with this folder, 0:0 for a path to a disk; `None` if it is
/// not a device.
pub fn number_of(dir: &Path) -> Option<(u64, u64)> {
    match line(dir.join("dev")) {
        Some(text) => numbers(&text),
        None => line(dir.join("hidden")).is_some_and(|text| text == "1").then_some((0, 0)),
    }
}

/// Describes the device with this folder.
pub fn describe(dir: &Path, depth: usize) -> Option<BlockDevice> {
    let name = dir.file_name()?.to_string_lossy().into_owned();
    let (major, minor) = number_of(dir)?;
    let kind = kind(dir);
    let queue = dir.join("queue");
    Some(BlockDevice {
        major,
        minor,
        depth,
        kind,
        detail: detail(dir),
        model: model(dir),
        size: size(dir),
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
        counts_flushes: kind != DeviceKind::Partition && dir.join("mq").is_dir(),
        polls: number::<u8>(queue.join("io_poll")).map(|n| n != 0),
        link: if kind == DeviceKind::Disk { link::detect(dir) } else { None },
        backing_file: backing_file(dir),
        health: None,
        health_error: None,
        name,
    })
}

/// Returns the kind of the device with this folder.
pub fn kind(dir: &Path) -> DeviceKind {
    let is = |prefix: &str| {
        named(dir)
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if dir.join("partition").exists() {
        DeviceKind::Partition
    } else if dir.join("dm").is_dir() {
        DeviceKind::Mapper
    } else if dir.join("md").is_dir() {
        DeviceKind::Raid
    } else if is("loop") {
        DeviceKind::Loop
    } else if is("zram") || is("ram") || is("nullb") {
        DeviceKind::Memory
    } else if is("nbd") || is("rbd") || is("drbd") {
        DeviceKind::Network
    } else if dir.parent().is_some_and(|parent| parent.ends_with("virtual/block")) {
        DeviceKind::Virtual
    } else {
        DeviceKind::Disk
    }
}

/// Returns the bytes of the device with this folder.
pub fn size(dir: &Path) -> Option<u64> {
    sectors(dir, "size")
}

/// Returns the bytes in a file that counts in units of 512, whatever the block size is.
pub fn sectors(dir: &Path, file: &str) -> Option<u64> {
    number::<u64>(dir.join(file)).and_then(|sectors| sectors.checked_mul(512))
}

/// Returns the name of the file of a loop device, as the kernel shows it: ` (deleted)` may follow.
pub fn backing_file(dir: &Path) -> Option<PathBuf> {
    let mut name = fs::read(dir.join("loop/backing_file")).ok()?;
    name.pop_if(|last| *last == b'\n');
    (!name.is_empty()).then(|| OsString::from_vec(name).into())
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
pub fn model(dir: &Path) -> Option<String> {
    let device = dir.join("device");
    let model = line(device.join("model")).or_else(|| line(device.join("name")))?;
    match line(device.join("vendor")).filter(|v| v != "ATA" && !v.starts_with("0x")) {
        Some(vendor) => Some(format!("{vendor} {model}")),
        None => Some(model),
    }
}

/// Returns the cache that the driver of a virtio or SCSI disk reports.
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
pub(crate) mod testing;
#[cfg(test)]
mod tests;
