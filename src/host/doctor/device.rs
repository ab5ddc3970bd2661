//! Checks of the devices below the target, and of who else uses them.

use super::{Facts, Finding, found};
use crate::record::Severity::{Misleading, Note};
use crate::sys::block::{BlockDevice, Kind};
use crate::sys::link::Transport;
use crate::units::{show_bytes, show_share};

pub(super) fn raid_busy(facts: &Facts) -> Option<Finding> {
    let line = facts.host.conditions.raid_busy.first()?;
    // A target whose devices are known and no RAID shares at most the disks' time: other-io sees
    // that.
    let apart = facts.target.is_some_and(|target| {
        !target.devices.is_empty() && target.devices.iter().all(|device| device.kind != Kind::Raid)
    });
    if apart {
        return None;
    }
    found(
        Misleading,
        "a software RAID is being built or checked: the disks are busy with it",
        format!("/proc/mdstat: {line}"),
        "wait until it is done (cat /proc/mdstat)",
    )
}

/// Shares of the last 10 s in which someone waited for I/O: quiet up to the first, disturbed from
/// the second on.
const QUIET: f64 = 0.01;
const DISTURBED: f64 = 0.1;

pub(super) fn other_io(facts: &Facts) -> Option<Finding> {
    let pressure = facts.host.conditions.io_pressure.filter(|share| *share > QUIET)?;
    found(
        if pressure >= DISTURBED { Misleading } else { Note },
        "other programs wait for the disks now: they share what is measured",
        format!(
            "some task waited for I/O in {} of the last 10 s (/proc/pressure/io)",
            show_share(pressure)
        ),
        "wait until they are done; iotop or pidstat -d shows them",
    )
}

pub(super) fn deep_stack(facts: &Facts) -> Option<Finding> {
    let layer = |device: &&BlockDevice| {
        matches!(device.kind, Kind::Mapper | Kind::Raid | Kind::Loop | Kind::Network)
    };
    let target = facts.target?;
    let over = ["overlay", "ecryptfs"]
        .contains(&target.fs.as_str())
        .then(|| format!("{} lies over another file system", target.fs));
    let layers: Vec<_> =
        over.into_iter().chain(target.devices.iter().filter(layer).map(layer_name)).collect();
    if layers.is_empty() {
        return None;
    }
    found(
        Note,
        "layers between file system and disk do work of their own (mapping, encryption, striping, caching)",
        layers.join(", "),
        "the result is the stack's; for the disk alone measure its own device, read-only",
    )
}

fn layer_name(device: &BlockDevice) -> String {
    let kind = match device.kind {
        Kind::Mapper => "device mapper",
        Kind::Raid => "software RAID",
        Kind::Loop => "loop device",
        _ => "network block device",
    };
    match &device.detail {
        Some(detail) => {
            format!("{} is a {kind}: {}", device.name, crate::host::root::clean(detail))
        }
        None => format!("{} is a {kind}", device.name),
    }
}

/// The kernel's default, KiB.
const USUAL_KB: u64 = 128;

pub(super) fn read_ahead(facts: &Facts) -> Option<Finding> {
    let target = facts.target.filter(|_| facts.any(|job| !job.direct))?;
    let bytes = target.read_ahead().filter(|bytes| *bytes == 0 || *bytes > USUAL_KB << 10)?;
    let message = match bytes {
        0 => "nothing is read ahead: small sequential reads wait for the disk each time",
        _ => {
            "the kernel reads far ahead: small sequential reads arrive as a few large ones, and small random reads may fetch more than they use"
        }
    };
    found(
        Note,
        message,
        format!(
            "read_ahead_kb = {} ({}); most kernels have {USUAL_KB}",
            bytes >> 10,
            show_bytes(bytes)
        ),
        "look at the amplification of each result; blockdev --setra changes it",
    )
}

pub(super) fn rotational(facts: &Facts) -> Option<Finding> {
    let disks = facts
        .target?
        .devices
        .iter()
        .filter(|device| device.kind == Kind::Disk && device.rotational == Some(true));
    let (virtual_disks, real): (Vec<_>, Vec<_>) = disks.partition(|device| is_virtual(device));
    if let Some(disk) = real.first() {
        return found(
            Note,
            "the disk turns: order and place of the blocks decide, and the outer tracks are about twice as fast as the inner ones",
            format!("{} is rotational", disk.name),
            "compare only files at a similar place; expect about 100 random reads a second",
        );
    }
    let disk = virtual_disks.first()?;
    found(
        Note,
        "the kernel treats this virtual disk as one that turns, whatever is behind it",
        format!(
            "{} says rotational = 1 over {}",
            disk.name,
            disk.link.as_ref().map_or("a virtual link", |link| link.text.as_str())
        ),
        "nothing to do; judge the disk by its random reads",
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
    use crate::host::doctor::testing::{check, plan};
    use crate::host::{Conditions, Host, TargetFacts};
    use crate::sys::link::Link;

    fn device(name: &str, kind: Kind) -> BlockDevice {
        serde_json::from_value(serde_json::json!({ "name": name, "kind": kind, "major": 8, "minor": 0, "depth": 0, "size": 1 << 30 }))
            .unwrap()
    }

    fn on(devices: &[BlockDevice]) -> TargetFacts {
        TargetFacts { fs: "ext4".into(), devices: devices.to_vec(), ..TargetFacts::default() }
    }

    fn with(conditions: Conditions) -> Host {
        Host { conditions, ..Host::default() }
    }

    #[test]
    fn raids() {
        let host =
            with(Conditions { raid_busy: vec!["resync = 4.3%".into()], ..Conditions::default() });
        assert!(
            check("raid-busy", &host, None, None).is_some_and(|f| f.evidence.contains("resync"))
        );
        assert!(check("raid-busy", &host, Some(&on(&[device("md0", Kind::Raid)])), None).is_some());
        assert_eq!(check("raid-busy", &host, Some(&on(&[device("sda", Kind::Disk)])), None), None);
        assert_eq!(check("raid-busy", &Host::default(), None, None), None);
    }

    #[test]
    fn pressure() {
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
    fn layers() {
        let mut mapper = device("dm-0", Kind::Mapper);
        mapper.detail = Some("vg-root (lvm)".into());
        let found = check(
            "deep-stack",
            &Host::default(),
            Some(&on(&[mapper, device("sda", Kind::Disk)])),
            None,
        );
        assert!(found.is_some_and(|f| f.evidence == "dm-0 is a device mapper: vg-root (lvm)"));
        let overlay = TargetFacts { fs: "overlay".into(), ..TargetFacts::default() };
        assert!(check("deep-stack", &Host::default(), Some(&overlay), None).is_some());
        let plain = on(&[device("sda1", Kind::Partition), device("sda", Kind::Disk)]);
        assert_eq!(check("deep-stack", &Host::default(), Some(&plain), None), None);
    }

    #[test]
    fn ahead() {
        let target = |kb| on(&[BlockDevice { read_ahead_kb: kb, ..device("sda", Kind::Disk) }]);
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
    fn turning_disks() {
        let disk = BlockDevice { rotational: Some(true), ..device("sda", Kind::Disk) };
        let found =
            |disk: BlockDevice| check("rotational", &Host::default(), Some(&on(&[disk])), None);
        assert!(found(disk.clone()).is_some_and(|f| f.message.contains("turns:")));
        let link =
            Link { transport: Transport::Virtio, text: "virtio".into(), bytes_per_second: None };
        assert!(
            found(BlockDevice { link: Some(link), ..disk.clone() })
                .is_some_and(|f| f.message.contains("virtual disk"))
        );
        assert_eq!(found(BlockDevice { rotational: Some(false), ..disk }), None);
    }
}
