use super::*;
use crate::facts::Link;
use crate::host::ground::is_without_barrier;

fn disk(name: &str, depth: usize, cache: &str) -> BlockDevice {
    let kind = match name {
        _ if name.starts_with("dm") => DeviceKind::Mapper,
        _ if name.starts_with("loop") => DeviceKind::Loop,
        _ => DeviceKind::Disk,
    };
    serde_json::from_value(serde_json::json!({
        "name": name, "kind": kind, "major": 8, "minor": 0, "depth": depth,
        "write_cache": cache, "fua": false
    }))
    .unwrap()
}

fn overridden(devices: &[BlockDevice]) -> Vec<String> {
    let found =
        describe_all(devices, &Ground::default()).into_iter().filter(|device| device.overridden);
    found.map(|device| device.device).collect()
}

#[test]
fn an_overridden_cache_is_found() {
    let sda = || disk("sda", 0, "write through");
    let none = [""; 0];
    assert_eq!(overridden(&[sda()]), none);
    assert_eq!(overridden(&[disk("sda", 0, "write back")]), none);
    let claims = |text: &str| Some(text.to_string());
    let differs = BlockDevice { claimed_cache: claims("write back"), ..sda() };
    assert_eq!(overridden(&[differs]), ["sda"]);
    let agrees = BlockDevice { claimed_cache: claims("write through"), ..sda() };
    assert_eq!(overridden(&[agrees]), none);
    // The report of the NVMe driver for the neighbouring disk.
    let differs = BlockDevice { fua: Some(true), ..disk("nvme0n1", 0, "write through") };
    assert_eq!(overridden(&[differs]), ["nvme0n1"]);
}

#[test]
fn a_layer_dropping_flushes_is_found() {
    let layer = || disk("dm-0", 0, "write through");
    assert_eq!(overridden(&[layer(), disk("sda", 1, "write back")]), ["dm-0"]);
    assert_eq!(overridden(&[layer(), disk("sda", 1, "write through")]), [""; 0]);
    // The neighbouring disk is not below.
    let neighbours = [layer(), disk("sda", 1, "write through"), disk("sdb", 0, "write back")];
    assert_eq!(overridden(&neighbours), [""; 0]);
    assert_eq!(
        describe_all(&neighbours, &Ground::default()).iter().filter(|device| device.lowest).count(),
        2
    );
}

#[test]
fn several_paths_lead_to_one_disk() {
    let mapper =
        |detail: &str| BlockDevice { detail: Some(detail.into()), ..disk("dm-0", 0, "write back") };
    let below = || [disk("sda", 1, "write back"), disk("sdb", 1, "write back")];
    let of = |over: BlockDevice| {
        let all = describe_all(&[&[over][..], &below()].concat(), &Ground::default());
        all.into_iter().map(|device| device.disk().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of(mapper("data (mpath)")), ["dm-0", "dm-0", "dm-0"]);
    assert_eq!(of(mapper("data (lvm)")), ["dm-0", "sda", "sdb"]);
    assert_eq!(of(disk("nvme0n1", 0, "write back")), ["nvme0n1", "nvme0n1", "nvme0n1"]);
}

/// Returns a ground of these layers: depth, kind and name.
fn ground(layers: &[(u32, LayerKind, &str)]) -> Ground {
    let layer = |(depth, kind, name): &(u32, LayerKind, &str)| Layer {
        name: name.to_string(),
        kind: *kind,
        depth: *depth,
        ..Layer::default()
    };
    Ground { layers: layers.iter().map(layer).collect(), ..Ground::default() }
}

#[test]
fn loop_devices_share_a_disk() {
    use LayerKind::{Disk, FileSystem, Image, Loop, Raid};
    let ground = ground(&[
        (0, Raid, "md0"),
        (1, Loop, "loop0"),
        (2, Image, "a"),
        (3, FileSystem, "ext4"),
        (4, Disk, "sda"),
        (1, Loop, "loop1"),
        (2, Image, "b"),
        (3, FileSystem, "ext4"),
        (4, Disk, "sda"),
    ]);
    let lowest = |devices: &[BlockDevice], ground: &Ground| {
        let all = describe_all(devices, ground).into_iter().filter(|device| device.lowest);
        all.map(|device| device.device).collect::<Vec<_>>()
    };
    let [one, below, other] =
        [("loop0", 0), ("sda", 1), ("loop1", 0)].map(|(name, at)| disk(name, at, "write back"));
    assert_eq!(lowest(&[one.clone(), below, other], &ground), ["sda"]);
    assert_eq!(lowest(&[one], &Ground::default()), ["loop0"]);
}

#[test]
fn a_loop_device_names_its_backing() {
    use LayerKind::{Disk, FileSystem, Image, Loop, Memory, Overlay};
    let of = |layers: &[(u32, LayerKind, &str)], option: Option<&str>| {
        let mut ground = ground(&[&[(0, Loop, "loop0")], layers].concat());
        if let Some(last) = ground.layers.last_mut() {
            last.no_barrier = option.map(String::from);
        }
        describe(&disk("loop0", 0, "write back"), 1, &ground).backing.unwrap()
    };
    let file = |what: &str, memory| Backing { what: what.into(), memory, no_barrier: None };
    let image = (1, Image, "img");
    assert_eq!(of(&[], None), file("a file", false));
    assert_eq!(of(&[image, (2, Memory, "tmpfs")], None), file("a file in memory (tmpfs)", true));
    let overlay = [image, (2, Overlay, "overlay"), (3, Image, "u/img"), (4, Memory, "tmpfs")];
    assert_eq!(of(&overlay, None), file("a file in memory (tmpfs)", true));
    assert_eq!(of(&[(1, Loop, "loop1"), (2, Image, "img")], None), file("on loop1", false));
    let option = Some("nobarrier");
    let expected =
        Backing { no_barrier: option.map(String::from), ..file("a file on ext4", false) };
    assert_eq!(of(&[image, (2, FileSystem, "ext4")], option), expected);
    assert_eq!(
        of(&[image, (2, FileSystem, "xfs"), (3, Disk, "sda")], None),
        file("a file on xfs", false)
    );
}

#[test]
fn other_disks_name_their_backing() {
    let what = |device: BlockDevice| {
        let found = describe(&device, 0, &Ground::default()).backing;
        found.map_or(String::new(), |backing| format!("{} {}", backing.what, backing.memory))
    };
    let plain = || disk("nvme0n1", 0, "write back");
    let linked = |transport, text: &str| BlockDevice {
        link: Some(Link { transport, text: text.into(), bytes_per_second: None }),
        ..plain()
    };
    let model = |text: &str| BlockDevice { model: Some(text.into()), ..plain() };
    assert_eq!(what(plain()), "");
    assert_eq!(what(linked(Transport::Pcie, "PCIe 4.0 x4")), "");
    assert_eq!(what(linked(Transport::Virtio, "virtio")), "a virtual disk (virtio) false");
    assert_eq!(what(linked(Transport::Network, "iSCSI")), "on another machine (iSCSI) false");
    for real in ["Samsung SSD 980 PRO 1TB", "INTEL SSDPE2KX010T8", "ST4000DM004-2CV104"] {
        assert_eq!(what(model(real)), "");
    }
    for emulated in [
        "QEMU NVMe Ctrl",
        "QEMU HARDDISK",
        "VMware Virtual NVMe Disk",
        "VBOX HARDDISK",
        "Msft Virtual Disk",
        "Amazon Elastic Block Store",
        "Google PersistentDisk",
    ] {
        assert_eq!(what(model(emulated)), format!("a virtual disk ({emulated}) false"));
    }
    let kind = |kind| BlockDevice { kind, ..plain() };
    assert_eq!(what(kind(DeviceKind::Memory)), "memory true");
    assert_eq!(what(kind(DeviceKind::Virtual)), "a virtual device false");
}

#[test]
fn options_without_flushes_are_known() {
    for (fs, option, is) in [
        ("ext4", "nobarrier", true),
        ("ext4", "barrier=0", true),
        ("ext4", "barrier=1", false),
        ("f2fs", "fsync_mode=nobarrier", true),
        ("f2fs", "fsync_mode=posix", false),
        ("overlay", "volatile", true),
        ("overlay", "fsync=volatile", true),
        ("ext4", "volatile", false),
    ] {
        assert_eq!(is_without_barrier(fs, option), is, "{fs} {option}");
    }
}
