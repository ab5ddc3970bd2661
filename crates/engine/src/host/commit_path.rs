//! The way of a commit from the file down to the disk, as mount and devices describe it.

use std::path::Path;

use super::root::clean;
use super::target::TargetFacts;
use crate::record::{Backing, CommitDevice, CommitPath};
use crate::sys::block::{BlockDevice, Kind};
use crate::sys::mounts;

impl TargetFacts {
    /// Returns the way of commits to this target; the time of a write is not measured here.
    pub fn commit_path(&self) -> CommitPath {
        let options = self.options.iter().map(String::as_str);
        CommitPath {
            no_barrier: options.clone().find(|option| is_without_barrier(option)).map(String::from),
            options: options.filter(|option| changes_syncs(option)).map(String::from).collect(),
            devices: describe_all(&self.devices),
            fastest_write_nanos: None,
        }
    }
}

/// Returns whether a mount option keeps the file system from emptying the device's cache: ext4 and
/// btrfs `nobarrier`, ext4 `barrier=0`, f2fs `fsync_mode=nobarrier`, reiserfs `barrier=none`.
fn is_without_barrier(option: &str) -> bool {
    matches!(option, "nobarrier" | "barrier=0" | "barrier=none" | "fsync_mode=nobarrier")
}

/// Returns whether a mount option changes what a sync has to write.
fn changes_syncs(option: &str) -> bool {
    let names =
        ["data", "journal_async_commit", "barrier", "logdev", "flushoncommit", "fsync_mode"];
    matches!(option, "sync" | "dirsync" | "barrier")
        || names.contains(&option.split_once('=').map_or(option, |(name, _)| name))
}

fn describe_all(devices: &[BlockDevice]) -> Vec<CommitDevice> {
    let depths = devices.iter().skip(1).map(|device| device.depth).chain([0]);
    devices.iter().zip(depths).map(|(device, next)| describe(device, next)).collect()
}

/// Describes a device; `next` is the depth of the one that is listed after it.
fn describe(device: &BlockDevice, next: usize) -> CommitDevice {
    // A device that is below two others is listed once.
    let divides = matches!(device.kind, Kind::Partition | Kind::Mapper | Kind::Raid);
    let lowest = next <= device.depth && !divides;
    let volatile = |text: &str| match text {
        "write back" => Some(true),
        "write through" | "none" => Some(false),
        _ => None,
    };
    let volatile_cache = device.write_cache.as_deref().and_then(volatile);
    let claimed = device.scsi_cache.as_deref().map(|text| text.contains("write back"));
    CommitDevice {
        device: clean(&device.name),
        lowest,
        volatile_cache,
        overridden: volatile_cache == Some(false) && claimed == Some(true),
        fua: device.fua,
        rotational: device.rotational,
        backing: if lowest { backing(device) } else { None },
    }
}

/// Returns where the data of a device is that is no disk.
fn backing(device: &BlockDevice) -> Option<Backing> {
    match device.kind {
        Kind::Memory => Some(Backing { what: "memory".into(), memory: true }),
        Kind::Network => Some(Backing { what: "on another machine".into(), memory: false }),
        Kind::Loop => Some(backing_of_loop(device.backing_file.as_deref())),
        Kind::Disk | Kind::Partition | Kind::Mapper | Kind::Raid => None,
    }
}

fn backing_of_loop(file: Option<&Path>) -> Backing {
    // By the folder, if the file was removed since.
    let places = file.into_iter().flat_map(|file| [Some(file), file.parent()]).flatten();
    match places.map(mounts::fs_at).find_map(Result::ok) {
        Some(fs) => {
            Backing { what: format!("a file on {fs}"), memory: matches!(&*fs, "tmpfs" | "ramfs") }
        }
        None => Backing { what: "a file".into(), memory: false },
    }
}
