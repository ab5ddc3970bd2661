//! The path of a commit from the file down to the disk, as mount and devices describe it.

use crate::facts::{BlockDevice, DeviceKind, TargetFacts, Transport, clean};
use crate::record::{Backing, CommitDevice, CommitPath, Ground, Layer, LayerKind};
use crate::sys::scsi::{self, WriteCache};

/// Returns the path of commits to this target; the time of a write is not measured here.
pub fn commit_path(facts: &TargetFacts) -> CommitPath {
    let options = facts.options.iter().map(String::as_str);
    CommitPath {
        no_barrier: without_barrier(&facts.ground.layers),
        options: options.filter(|option| changes_syncs(option)).map(String::from).collect(),
        devices: describe_all(&facts.devices, &facts.ground),
        fastest_write_nanos: None,
        median_write_nanos: None,
    }
}

/// Returns the mount option without flushes, of the file systems above the next image of a loop
/// device.
fn without_barrier(layers: &[Layer]) -> Option<String> {
    let above = layers.iter().take_while(|layer| layer.kind != LayerKind::Loop);
    above.filter_map(|layer| layer.no_barrier.clone()).next()
}

/// Returns whether a mount option changes what a sync has to write.
fn changes_syncs(option: &str) -> bool {
    let names =
        ["data", "journal_async_commit", "barrier", "logdev", "flushoncommit", "fsync_mode"];
    matches!(option, "sync" | "dirsync" | "barrier")
        || names.contains(&option.split_once('=').map_or(option, |(name, _)| name))
}

fn describe_all(devices: &[BlockDevice], ground: &Ground) -> Vec<CommitDevice> {
    let depths = devices.iter().skip(1).map(|device| device.depth).chain([0]);
    let pairs = devices.iter().zip(depths);
    let mut all: Vec<CommitDevice> =
        pairs.map(|(device, next)| describe(device, next, ground)).collect();
    for (at, device) in devices.iter().enumerate() {
        // A path is listed directly below its disk.
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

/// Returns whether the devices below are paths to one disk: dm-multipath, or an NVMe disk of a
/// subsystem.
fn has_paths(device: &BlockDevice) -> bool {
    let is_mapped = device.detail.as_deref().is_some_and(|detail| detail.ends_with("(mpath)"));
    device.kind == DeviceKind::Disk || device.kind == DeviceKind::Mapper && is_mapped
}

/// Returns the layers below a loop device; `None` if it is another device.
fn below_loop<'a>(device: &BlockDevice, ground: &'a Ground) -> Option<&'a [Layer]> {
    let is_it = |layer: &Layer| layer.kind == LayerKind::Loop && layer.name == device.name;
    let at = ground.layers.iter().position(is_it).filter(|_| device.kind == DeviceKind::Loop)?;
    Some(ground.below(at))
}

/// Describes a device; `next` is the depth of the next listed device.
fn describe(device: &BlockDevice, next: usize, ground: &Ground) -> CommitDevice {
    let below = below_loop(device, ground);
    // A device that is below two others is listed once.
    let is_on_one = below.is_some_and(|below| below.iter().any(is_device));
    let divides =
        matches!(device.kind, DeviceKind::Partition | DeviceKind::Mapper | DeviceKind::Raid);
    let lowest = next <= device.depth && !divides && !is_on_one;
    let volatile = |text: &str| match text {
        "write back" => Some(true),
        "write through" | "none" => Some(false),
        _ => None,
    };
    let reported = device.write_cache.as_deref().and_then(volatile);
    // A user can override the cache of a SCSI disk, and the kernel then reports it everywhere.
    let asked = reported.filter(|reported| !reported).and_then(|_| scsi::write_cache(&device.name));
    let volatile_cache = reported.filter(|_| asked != Some(WriteCache::Unknown));
    let claimed = device.claimed_cache.as_deref().is_some_and(|text| text.contains("write back"))
        || asked == Some(WriteCache::On);
    // Without a cache there is nothing to write through: drivers offer FUA only with a cache.
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
        backing: if lowest || device.kind == DeviceKind::Loop {
            backing(device, below)
        } else {
            None
        },
    }
}

/// Returns the backing of a device that is not a disk of this machine.
fn backing(device: &BlockDevice, below: Option<&[Layer]>) -> Option<Backing> {
    let elsewhere = |what: String| Some(Backing { what, ..Backing::default() });
    match device.kind {
        DeviceKind::Memory => {
            Some(Backing { what: "memory".into(), memory: true, no_barrier: None })
        }
        DeviceKind::Network => elsewhere("on another machine".into()),
        DeviceKind::Loop => Some(backing_of_loop(below.unwrap_or_default())),
        DeviceKind::Virtual => elsewhere("a virtual device".into()),
        DeviceKind::Disk => {
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
        DeviceKind::Partition | DeviceKind::Mapper | DeviceKind::Raid => None,
    }
}

/// Returns whether a program provides disks of this model, although they are attached like real
/// ones.
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

/// Returns whether a layer is a disk, or a device on other devices.
fn is_device(layer: &Layer) -> bool {
    use LayerKind::{Disk, Loop, Mapper, Partition, Raid};
    matches!(layer.kind, Disk | Loop | Mapper | Partition | Raid)
}

fn backing_of_loop(below: &[Layer]) -> Backing {
    let kind_is = |kind: LayerKind| move |layer: &Layer| layer.kind == kind;
    let memory = below.iter().find(|layer| kind_is(LayerKind::Memory)(layer));
    let memory = memory.filter(|_| !below.iter().any(kind_is(LayerKind::Disk)));
    let what = match (memory, below) {
        (Some(memory), _) => format!("a file in memory ({})", memory.name),
        (None, [image, fs, ..]) if image.kind == LayerKind::Image => {
            format!("a file on {}", fs.name)
        }
        (None, [device, ..]) if is_device(device) => format!("on {}", device.name),
        _ => "a file".into(),
    };
    Backing { what, memory: memory.is_some(), no_barrier: without_barrier(below) }
}

#[cfg(test)]
mod tests;
