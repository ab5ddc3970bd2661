//! The block devices under a target, as a tree: mounts at the top, disks at the bottom.

use super::layout::HostText;
use crate::facts::{BlockDevice, DeviceKind};
use crate::text::{Replacement, safe};
use crate::units::{counted, show_bytes, show_rate};

/// Adds two lines per device: its description, and the properties of its queue.
pub(super) fn tree(page: &mut HostText, devices: &[BlockDevice]) {
    if devices.is_empty() {
        return;
    }
    page.section("Devices below the target");
    for (i, device) in devices.iter().enumerate() {
        let (branch, trunk) = (branch(devices, i), trunk(devices, i));
        let text = describe_device(device);
        page.line(&format!("  {branch}{}  {}", text.name, text.what));
        for line in text.more {
            page.line(&format!("  {trunk}{line}"));
        }
    }
}

/// Returns whether another device of this depth follows below the same parent.
fn has_sibling(devices: &[BlockDevice], i: usize, depth: usize) -> bool {
    devices[i + 1..]
        .iter()
        .take_while(|later| later.depth >= depth)
        .any(|later| later.depth == depth)
}

/// Returns the vertical lines on the left, for the ancestors of device `i` below the top.
fn passing(devices: &[BlockDevice], i: usize) -> String {
    (1..devices[i].depth)
        .map(|depth| if has_sibling(devices, i, depth) { "│  " } else { "   " })
        .collect()
}

fn branch(devices: &[BlockDevice], i: usize) -> String {
    match devices[i].depth {
        0 => String::new(),
        depth => {
            passing(devices, i) + if has_sibling(devices, i, depth) { "├─ " } else { "└─ " }
        }
    }
}

/// Returns the tree lines next to the second line of device `i`, down to the next device.
fn trunk(devices: &[BlockDevice], i: usize) -> String {
    let depth = devices[i].depth;
    let branches = match depth {
        0 => String::new(),
        _ => passing(devices, i) + if has_sibling(devices, i, depth) { "│  " } else { "   " },
    };
    let has_child = devices.get(i + 1).is_some_and(|next| next.depth > depth);
    branches + if has_child { "│ " } else { "  " }
}

/// The description of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceText {
    pub name: String,
    /// Its kind, model and size.
    pub what: String,
    /// Its queue, its link and its health.
    pub more: Vec<String>,
}

pub fn describe_device(device: &BlockDevice) -> DeviceText {
    let more = [describe_queue(device), describe_path(device)]
        .into_iter()
        .chain(describe_health(device))
        .filter(|line| !line.is_empty())
        .collect();
    DeviceText { name: clean(&device.name), what: describe_kind(device), more }
}

fn describe_kind(device: &BlockDevice) -> String {
    let kind = match device.kind {
        DeviceKind::Disk => "disk",
        DeviceKind::Partition => "partition",
        DeviceKind::Mapper => "device mapper",
        DeviceKind::Raid => "software RAID",
        DeviceKind::Loop => "loop device",
        DeviceKind::Memory => "memory",
        DeviceKind::Network => "network block device",
        DeviceKind::Virtual => "virtual device",
    };
    let file = device.backing_file.as_ref().map(|file| clean(&file.to_string_lossy()));
    let more = [
        device.detail.as_deref().map(clean),
        device.model.as_deref().map(clean),
        file,
        device.size.map(show_bytes),
    ];
    let parts: Vec<String> =
        std::iter::once(kind.to_string()).chain(more.into_iter().flatten()).collect();
    parts.join(", ")
}

fn describe_queue(device: &BlockDevice) -> String {
    let parts = [
        device.scheduler.as_deref().map(|name| format!("scheduler {}", clean(name))),
        device
            .read_ahead_kb
            .and_then(|kb| kb.checked_mul(1024))
            .map(|bytes| format!("readahead {}", show_bytes(bytes))),
        device.nr_requests.map(|n| format!("{n} requests")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn describe_path(device: &BlockDevice) -> String {
    let link = device.link.as_ref().map(|link| match link.bytes_per_second {
        Some(rate) => format!("link {} = {}", clean(&link.text), show_rate(rate as f64)),
        None => format!("link {}", clean(&link.text)),
    });
    let turns = device
        .rotational
        .map(|turns| if turns { "rotational".to_string() } else { "not rotational".to_string() });
    let blocks = match (device.logical_block, device.physical_block) {
        (Some(logical), Some(physical)) => Some(format!("blocks {logical}/{physical} B")),
        _ => None,
    };
    [turns, blocks, link].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Describes the SMART log of a disk: facts, what is wrong, and how hot it was.
fn describe_health(device: &BlockDevice) -> [String; 3] {
    let Some(health) = &device.health else {
        let unknown = device.health_error.as_ref().map(|why| format!("SMART log: {}", clean(why)));
        return [unknown.unwrap_or_default(), String::new(), String::new()];
    };
    let some = |count: u64, text: String| (count > 0).then_some(text);
    let times = |count: u64, one| counted(count as usize, one);
    let facts = [
        health.celsius.map(|celsius| format!("{celsius} C")),
        Some(format!("{} % of its life used, {} % spare", health.used, health.spare)),
        Some(format!("read {}, written {}", show_bytes(health.read), show_bytes(health.written))),
    ];
    let warnings = clean(&health.warnings.join(", "));
    let wrong = [
        some(health.media_errors, times(health.media_errors, "media error")),
        (!warnings.is_empty()).then(|| format!("critical warning: {warnings}")),
    ];
    let [warm, hot, slow] = [health.warm_minutes, health.hot_minutes, health.throttled_seconds];
    let throttled = format!("slowed down {} for {slow} s", times(health.throttled, "time"));
    let heat = [
        some(warm, format!("too warm for {warm} min")),
        some(hot, format!("critically hot for {hot} min")),
        some(health.throttled, throttled),
    ];
    let join = |parts: &[Option<String>]| parts.iter().flatten().cloned().collect::<Vec<_>>();
    [join(&facts).join(", "), join(&wrong).join(", "), join(&heat).join(", ")]
}

/// Replaces control characters: an attacker may have named the disk.
fn clean(text: &str) -> String {
    safe(text, Replacement::Mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::DriveHealth;

    fn device(name: &str, depth: usize, kind: DeviceKind) -> BlockDevice {
        serde_json::from_value(serde_json::json!({ "name": name, "kind": kind, "major": 8, "minor": 0, "depth": depth, "size": 1 << 30 }))
            .unwrap()
    }

    fn shown(devices: &[BlockDevice]) -> String {
        let mut page = HostText::default();
        tree(&mut page, devices);
        page.text()
    }

    #[test]
    fn a_mirror_of_partitions() {
        fn queued(device: BlockDevice) -> BlockDevice {
            BlockDevice { scheduler: Some("mq-deadline".into()), rotational: Some(false), ..device }
        }
        let raid = BlockDevice {
            detail: Some("raid1".into()),
            ..queued(device("md0", 1, DeviceKind::Raid))
        };
        let stack = [
            queued(device("dm-0", 0, DeviceKind::Mapper)),
            raid,
            device("sda1", 2, DeviceKind::Partition),
            queued(device("sda", 3, DeviceKind::Disk)),
            device("sdb1", 2, DeviceKind::Partition),
            queued(device("sdb", 3, DeviceKind::Disk)),
        ];
        insta::assert_snapshot!(shown(&stack), @r"
        Devices below the target
          dm-0  device mapper, 1 GiB
          │ scheduler mq-deadline
          │ not rotational
          └─ md0  software RAID, raid1, 1 GiB
             │ scheduler mq-deadline
             │ not rotational
             ├─ sda1  partition, 1 GiB
             │  └─ sda  disk, 1 GiB
             │       scheduler mq-deadline
             │       not rotational
             └─ sdb1  partition, 1 GiB
                └─ sdb  disk, 1 GiB
                     scheduler mq-deadline
                     not rotational
        ");
    }

    #[test]
    fn health_is_below_a_disk() {
        let disk = |health| BlockDevice { health, ..device("nvme0n1", 0, DeviceKind::Disk) };
        let new = DriveHealth {
            celsius: Some(50),
            spare: 100,
            read: 3 << 40,
            written: 1 << 30,
            ..DriveHealth::default()
        };
        let worn = DriveHealth {
            warnings: vec!["temperature".into(), "read-only\u{1b}".into()],
            celsius: None,
            used: 104,
            media_errors: 2,
            warm_minutes: 12,
            hot_minutes: 3,
            throttled: 8,
            throttled_seconds: 61,
            ..new.clone()
        };
        let refused =
            BlockDevice { health_error: Some("needs root (CAP_SYS_ADMIN)".into()), ..disk(None) };
        insta::assert_snapshot!(shown(&[disk(Some(new)), disk(Some(worn)), refused]), @r"
        Devices below the target
          nvme0n1  disk, 1 GiB
            50 C, 0 % of its life used, 100 % spare, read 3 TiB, written 1 GiB
          nvme0n1  disk, 1 GiB
            104 % of its life used, 100 % spare, read 3 TiB, written 1 GiB
            2 media errors, critical warning: temperature, read-only?
            too warm for 12 min, critically hot for 3 min, slowed down 8 times for 61 s
          nvme0n1  disk, 1 GiB
            SMART log: needs root (CAP_SYS_ADMIN)
        ");
    }

    #[test]
    fn odd_depths_never_panic() {
        assert_eq!(shown(&[]), "");
        let odd = [
            device("a", 5, DeviceKind::Disk),
            device("b", 0, DeviceKind::Loop),
            device("c", 9, DeviceKind::Disk),
            device("\u{1b}[2J", 1, DeviceKind::Network),
        ];
        assert!(!shown(&odd).contains('\u{1b}'));
    }
}
