//! Checks of the devices below the target, and of other programs that use them.

use super::Facts;
use crate::facts::{BlockDevice, DeviceKind, Transport};
use crate::record::Severity::{Misleading, Note};
use crate::record::{Finding, finding};
use crate::units::{show_bytes, show_share};

pub(super) fn raid_busy(facts: &Facts) -> Option<Finding> {
    let line = facts.host.conditions.raid_busy.first()?;
    // A target known not to be on RAID competes with a rebuild at most for the disks, which
    // other-io detects.
    let is_unaffected = facts.target.is_some_and(|target| {
        !target.devices.is_empty()
            && target.devices.iter().all(|device| device.kind != DeviceKind::Raid)
    });
    if is_unaffected {
        return None;
    }
    finding(
        Misleading,
        "a software RAID is being rebuilt or checked, which keeps the disks busy",
        format!("/proc/mdstat: {line}"),
        "wait until it is done (see /proc/mdstat)",
    )
}

/// I/O pressure up to which the disks count as idle.
const MAX_IDLE_PRESSURE: f64 = 0.01;
/// I/O pressure from which results are misleading.
const MIN_BUSY_PRESSURE: f64 = 0.1;

pub(super) fn other_io(facts: &Facts) -> Option<Finding> {
    let pressure = facts.host.conditions.io_pressure.filter(|share| *share > MAX_IDLE_PRESSURE)?;
    finding(
        if pressure >= MIN_BUSY_PRESSURE { Misleading } else { Note },
        "other programs are using the disks now and compete with the measurement",
        format!(
            "tasks waited for I/O during {} of the last 10 s (/proc/pressure/io)",
            show_share(pressure)
        ),
        "wait until they are done; iotop or pidstat -d shows them",
    )
}

pub(super) fn deep_stack(facts: &Facts) -> Option<Finding> {
    let layer = |device: &&BlockDevice| {
        matches!(
            device.kind,
            DeviceKind::Mapper | DeviceKind::Raid | DeviceKind::Loop | DeviceKind::Network
        )
    };
    let target = facts.target?;
    let over = ["overlay", "ecryptfs"]
        .contains(&target.fs.as_str())
        .then(|| format!("{} is on top of another file system", target.fs));
    let layers: Vec<_> =
        over.into_iter().chain(target.devices.iter().filter(layer).map(layer_name)).collect();
    if layers.is_empty() {
        return None;
    }
    finding(
        Note,
        "layers between file system and disk add their own work (mapping, encryption, striping, caching)",
        layers.join(", "),
        "the result includes all layers; to measure the disk alone, read its block device",
    )
}

fn layer_name(device: &BlockDevice) -> String {
    let kind = match device.kind {
        DeviceKind::Mapper => "device mapper",
        DeviceKind::Raid => "software RAID",
        DeviceKind::Loop => "loop device",
        _ => "network block device",
    };
    match &device.detail {
        Some(detail) => {
            format!("{} is a {kind}: {}", device.name, crate::facts::clean(detail))
        }
        None => format!("{} is a {kind}", device.name),
    }
}

/// The kernel's default readahead, KiB.
const DEFAULT_READ_AHEAD_KB: u64 = 128;

pub(super) fn read_ahead(facts: &Facts) -> Option<Finding> {
    let target = facts.target.filter(|_| facts.any(|job| !job.direct))?;
    let bytes =
        target.read_ahead().filter(|bytes| *bytes == 0 || *bytes > DEFAULT_READ_AHEAD_KB << 10)?;
    let message = if bytes == 0 {
        "readahead is off: every small sequential read waits for the disk"
    } else {
        "readahead is large: small sequential reads become a few large requests, and small random reads may fetch unused data"
    };
    finding(
        Note,
        message,
        format!(
            "read_ahead_kb = {} ({}); the usual default is {DEFAULT_READ_AHEAD_KB}",
            bytes >> 10,
            show_bytes(bytes)
        ),
        "check the amplification of each result; blockdev --setra changes the setting",
    )
}

pub(super) fn rotational(facts: &Facts) -> Option<Finding> {
    let disks = facts
        .target?
        .devices
        .iter()
        .filter(|device| device.kind == DeviceKind::Disk && device.rotational == Some(true));
    let (virtual_disks, real): (Vec<_>, Vec<_>) = disks.partition(|device| is_virtual(device));
    if let Some(disk) = real.first() {
        return finding(
            Note,
            "the disk is rotational: access order and position matter, and outer tracks are about twice as fast as inner ones",
            format!("{} is rotational", disk.name),
            "compare only files at similar positions; expect about 100 random reads per second",
        );
    }
    let disk = virtual_disks.first()?;
    finding(
        Note,
        "the kernel treats this virtual disk as rotational, whatever its real storage is",
        format!(
            "{} reports rotational = 1 over {}",
            disk.name,
            disk.link.as_ref().map_or("a virtual link", |link| link.text.as_str())
        ),
        "no action needed; random reads show the disk's real behaviour",
    )
}

pub(super) fn no_poll_queues(facts: &Facts) -> Option<Finding> {
    // Most disks have none, which matters only to a plan that polls.
    let planned = facts.plan.is_some() && facts.any(|job| job.backend.has("iopoll"));
    let disks = facts.target.filter(|_| planned)?.devices.iter();
    let disk =
        disks.filter(|device| device.kind == DeviceKind::Disk).find(|d| d.polls == Some(false))?;
    finding(
        Misleading,
        "the disk has no poll queues: with +iopoll requests are refused, or before Linux 6.10 \
         completed by interrupts as without it",
        format!("/sys/block/{}/queue/io_poll = 0", disk.name),
        "give it poll queues (NVMe: nvme.poll_queues=N on the kernel's command line), or leave \
         out +iopoll",
    )
}

fn is_virtual(device: &BlockDevice) -> bool {
    device.link.as_ref().is_some_and(|link| {
        matches!(link.transport, Transport::Virtio | Transport::Xen | Transport::Hyperv)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::testing::{check, plan};
    use crate::facts::{Conditions, Host, Link, TargetFacts};

    fn device(name: &str, kind: DeviceKind) -> BlockDevice {
        serde_json::from_value(serde_json::json!({
            "name": name, "kind": kind, "major": 8, "minor": 0, "depth": 0, "size": 1 << 30
        }))
        .unwrap()
    }

    fn on(devices: &[BlockDevice]) -> TargetFacts {
        TargetFacts { fs: "ext4".into(), devices: devices.to_vec(), ..TargetFacts::default() }
    }

    fn with(conditions: Conditions) -> Host {
        Host { conditions, ..Host::default() }
    }

    #[test]
    fn busy_raids_matter_below_the_target() {
        let host =
            with(Conditions { raid_busy: vec!["resync = 4.3%".into()], ..Conditions::default() });
        assert!(
            check("raid-busy", &host, None, None).is_some_and(|f| f.evidence.contains("resync"))
        );
        assert!(
            check("raid-busy", &host, Some(&on(&[device("md0", DeviceKind::Raid)])), None)
                .is_some()
        );
        assert_eq!(
            check("raid-busy", &host, Some(&on(&[device("sda", DeviceKind::Disk)])), None),
            None
        );
        assert_eq!(check("raid-busy", &Host::default(), None, None), None);
    }

    #[test]
    fn io_pressure_decides_the_severity() {
        let found = |share| {
            check(
                "other-io",
                &with(Conditions { io_pressure: Some(share), ..Conditions::default() }),
                None,
                None,
            )
        };
        assert!(found(0.5).is_some_and(|f| f.severity == Misleading));
        assert!(found(0.05).is_some_and(|f| f.severity == Note));
        assert_eq!(found(0.002), None);
    }

    #[test]
    fn reports_layers_above_the_disk() {
        let mut mapper = device("dm-0", DeviceKind::Mapper);
        mapper.detail = Some("vg-root (lvm)".into());
        let found = check(
            "deep-stack",
            &Host::default(),
            Some(&on(&[mapper, device("sda", DeviceKind::Disk)])),
            None,
        );
        assert!(found.is_some_and(|f| f.evidence == "dm-0 is a device mapper: vg-root (lvm)"));
        let overlay = TargetFacts { fs: "overlay".into(), ..TargetFacts::default() };
        assert!(check("deep-stack", &Host::default(), Some(&overlay), None).is_some());
        let plain = on(&[device("sda1", DeviceKind::Partition), device("sda", DeviceKind::Disk)]);
        assert_eq!(check("deep-stack", &Host::default(), Some(&plain), None), None);
    }

    #[test]
    fn reports_unusual_readahead_of_buffered_reads() {
        let target =
            |kb| on(&[BlockDevice { read_ahead_kb: kb, ..device("sda", DeviceKind::Disk) }]);
        for odd in [0, 8192] {
            assert!(
                check("read-ahead", &Host::default(), Some(&target(Some(odd))), None).is_some(),
                "{odd}"
            );
            assert_eq!(
                check(
                    "read-ahead",
                    &Host::default(),
                    Some(&target(Some(odd))),
                    Some(&plan(&["direct"]))
                ),
                None
            );
        }
        assert_eq!(check("read-ahead", &Host::default(), Some(&target(Some(128))), None), None);
        assert_eq!(check("read-ahead", &Host::default(), Some(&target(None)), None), None);
    }

    #[test]
    fn polling_needs_poll_queues() {
        let found = |polls, backend| {
            let target = on(&[BlockDevice { polls, ..device("sda", DeviceKind::Disk) }]);
            check("no-poll-queues", &Host::default(), Some(&target), Some(&plan(&[backend])))
        };
        assert!(found(Some(false), "uring+iopoll").is_some_and(|f| f.evidence.contains("sda")));
        assert_eq!(found(Some(true), "uring+iopoll"), None);
        assert_eq!(found(None, "uring+iopoll"), None, "unknown");
        assert_eq!(found(Some(false), "uring"), None, "nothing is polled");
        let target = on(&[BlockDevice { polls: Some(false), ..device("sda", DeviceKind::Disk) }]);
        assert_eq!(check("no-poll-queues", &Host::default(), Some(&target), None), None, "no plan");
    }

    #[test]
    fn virtual_rotational_disks_differ_from_real() {
        let disk = BlockDevice { rotational: Some(true), ..device("sda", DeviceKind::Disk) };
        let found =
            |disk: BlockDevice| check("rotational", &Host::default(), Some(&on(&[disk])), None);
        assert!(found(disk.clone()).is_some_and(|f| f.message.contains("the disk is rotational")));
        let link =
            Link { transport: Transport::Virtio, text: "virtio".into(), bytes_per_second: None };
        assert!(
            found(BlockDevice { link: Some(link), ..disk.clone() })
                .is_some_and(|f| f.message.contains("virtual disk"))
        );
        assert_eq!(found(BlockDevice { rotational: Some(false), ..disk }), None);
    }
}
