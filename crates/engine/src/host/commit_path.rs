//! The way of a commit from the file down to the disk, as mount and devices describe it.

use std::fs::File;
use std::path::Path;

use super::root::clean;
use super::target::TargetFacts;
use crate::record::{Backing, CommitDevice, CommitPath};
use crate::sys::block::{BlockDevice, Kind};
use crate::sys::link::Transport;
use crate::sys::scsi::{self, WriteCache};
use crate::sys::{disk, mounts};

impl TargetFacts {
    /// Returns the way of commits to this target; the time of a write is not measured here.
    pub fn commit_path(&self) -> CommitPath {
        let options = self.options.iter().map(String::as_str);
        CommitPath {
            no_barrier: options
                .clone()
                .find(|option| is_without_barrier(&self.fs, option))
                .map(String::from),
            options: options.filter(|option| changes_syncs(option)).map(String::from).collect(),
            devices: describe_all(&self.devices),
            fastest_write_nanos: None,
            median_write_nanos: None,
        }
    }
}

/// Returns whether a mount option keeps the file system from emptying the device's cache: ext4 and
/// btrfs `nobarrier`, ext4 `barrier=0`, f2fs `fsync_mode=nobarrier`, reiserfs `barrier=none`,
/// overlay `volatile`, in newer kernels `fsync=volatile`.
fn is_without_barrier(fs: &str, option: &str) -> bool {
    matches!(option, "nobarrier" | "barrier=0" | "barrier=none" | "fsync_mode=nobarrier")
        || fs == "overlay" && matches!(option, "volatile" | "fsync=volatile")
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
    let pairs = devices.iter().zip(depths);
    let mut all: Vec<CommitDevice> =
        pairs.map(|(device, next)| describe(device, next, devices)).collect();
    for (at, device) in devices.iter().enumerate() {
        // A path is right below the disk that it leads to.
        let over = devices[..at].iter().rev().find(|over| over.depth < device.depth);
        let over = over.filter(|over| has_paths(over)).map(|over| clean(&over.name));
        all[at].path_of = over;
        let below = devices[at + 1..].iter().take_while(|below| below.depth > device.depth).count();
        let cached =
            all[at + 1..at + 1 + below].iter().any(|below| below.volatile_cache == Some(true));
        all[at].overridden |= all[at].volatile_cache == Some(false) && cached;
    }
    all
}

/// Returns whether what is below a device are paths to the same disk: dm-multipath, or an NVMe disk
/// of a subsystem.
fn has_paths(device: &BlockDevice) -> bool {
    let is_mapped = device.detail.as_deref().is_some_and(|detail| detail.ends_with("(mpath)"));
    device.kind == Kind::Disk || device.kind == Kind::Mapper && is_mapped
}

/// Returns whether the file of a loop device is on one of these devices.
fn is_on_one(device: &BlockDevice, all: &[BlockDevice]) -> bool {
    let holder = device.backing_file.as_deref().and_then(disk::device_of_path);
    holder.is_some_and(|number| all.iter().any(|other| (other.major, other.minor) == number))
}

/// Describes a device of `all`; `next` is the depth of the one that is listed after it.
fn describe(device: &BlockDevice, next: usize, all: &[BlockDevice]) -> CommitDevice {
    // A device that is below two others is listed once.
    let divides = matches!(device.kind, Kind::Partition | Kind::Mapper | Kind::Raid);
    let lowest = next <= device.depth && !divides && !is_on_one(device, all);
    let volatile = |text: &str| match text {
        "write back" => Some(true),
        "write through" | "none" => Some(false),
        _ => None,
    };
    let told = device.write_cache.as_deref().and_then(volatile);
    // The kernel may have been told that a SCSI disk has none, and then says so everywhere.
    let asked = told.filter(|told| !told).and_then(|_| scsi::write_cache(&device.name));
    let volatile_cache = told.filter(|_| asked != Some(WriteCache::Unknown));
    let claimed = device.claimed_cache.as_deref().is_some_and(|text| text.contains("write back"))
        || asked == Some(WriteCache::On);
    // What has no cache needs no writing through it: drivers offer FUA only with a cache.
    let claims_cache = claimed || lowest && device.fua == Some(true);
    CommitDevice {
        device: clean(&device.name),
        lowest,
        path_of: None,
        volatile_cache,
        overridden: volatile_cache == Some(false) && claims_cache,
        fua: device.fua,
        rotational: device.rotational,
        // The cache above the file of a loop device is the page cache.
        backing: if lowest || device.kind == Kind::Loop { backing(device) } else { None },
    }
}

/// Returns where the data of a device is that is no disk of this machine.
fn backing(device: &BlockDevice) -> Option<Backing> {
    let elsewhere = |what: String| Some(Backing { what, ..Backing::default() });
    match device.kind {
        Kind::Memory => Some(Backing { what: "memory".into(), memory: true, no_barrier: None }),
        Kind::Network => elsewhere("on another machine".into()),
        Kind::Loop => Some(backing_of_loop(device.backing_file.as_deref())),
        Kind::Virtual => elsewhere("a virtual device".into()),
        Kind::Disk => {
            let link = device.link.as_ref();
            let model = device.model.as_deref().filter(|model| is_virtual_model(model));
            match (link.map(|link| (link.transport, &link.text)), model) {
                (Some((Transport::Network, text)), _) => {
                    elsewhere(format!("on another machine ({})", clean(text)))
                }
                (Some((Transport::Virtio | Transport::Xen | Transport::Hyperv, text)), _) => {
                    elsewhere(format!("a virtual disk ({})", clean(text)))
                }
                (_, Some(model)) => elsewhere(format!("a virtual disk ({})", clean(model))),
                _ => None,
            }
        }
        Kind::Partition | Kind::Mapper | Kind::Raid => None,
    }
}

/// Returns whether a disk of this model is a program's, though it is attached like a real one.
fn is_virtual_model(model: &str) -> bool {
    const PARTS: [&str; 10] = [
        "qemu",
        "vmware",
        "vbox",
        "virtual",
        "bhyve",
        "elastic block store",
        "persistentdisk",
        "nvme_card-pd",
        "lio-org",
        "scsi_debug",
    ];
    let model = model.to_ascii_lowercase();
    PARTS.iter().any(|part| model.contains(part))
}

fn backing_of_loop(file: Option<&Path>) -> Backing {
    // By the folder, if the file was removed since.
    let places = file.into_iter().flat_map(|file| [Some(file), file.parent()]).flatten();
    let no_barrier = file.and_then(barrier_left_out);
    match places.map(mounts::fs_at).find_map(Result::ok) {
        Some(fs) if matches!(&*fs, "tmpfs" | "ramfs") => {
            Backing { what: format!("a file in memory ({fs})"), memory: true, no_barrier }
        }
        Some(fs) => Backing { what: format!("a file on {fs}"), memory: false, no_barrier },
        None => Backing { what: "a file".into(), memory: false, no_barrier },
    }
}

/// Returns the mount option of the file system of a file that leaves out flushes.
fn barrier_left_out(file: &Path) -> Option<String> {
    // The folder: opening the file of a device is not needed for it.
    let mount = mounts::mount_of(&File::open(file.parent()?).ok()?).ok()?;
    let found = mount.options.iter().find(|option| is_without_barrier(&mount.fs, option));
    found.map(|option| clean(option))
}

#[cfg(test)]
mod tests;
