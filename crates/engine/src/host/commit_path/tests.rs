use super::*;
use crate::sys::disk::device_of_path as disk_of;
use crate::sys::link::Link;

fn disk(name: &str, depth: usize, cache: &str) -> BlockDevice {
    let kind = match name {
        _ if name.starts_with("dm") => Kind::Mapper,
        _ if name.starts_with("loop") => Kind::Loop,
        _ => Kind::Disk,
    };
    serde_json::from_value(serde_json::json!({
        "name": name, "kind": kind, "major": 8, "minor": 0, "depth": depth,
        "write_cache": cache, "fua": false
    }))
    .unwrap()
}

fn overridden(devices: &[BlockDevice]) -> Vec<String> {
    let told = describe_all(devices).into_iter().filter(|device| device.overridden);
    told.map(|device| device.device).collect()
}

#[test]
fn a_cache_that_the_kernel_was_told_not_to_believe_in_is_found() {
    let sda = || disk("sda", 0, "write through");
    let none = [""; 0];
    assert_eq!(overridden(&[sda()]), none);
    assert_eq!(overridden(&[disk("sda", 0, "write back")]), none);
    let claims = |text: &str| Some(text.to_string());
    let told = BlockDevice { claimed_cache: claims("write back"), ..sda() };
    assert_eq!(overridden(&[told]), ["sda"]);
    let agrees = BlockDevice { claimed_cache: claims("write through"), ..sda() };
    assert_eq!(overridden(&[agrees]), none);
    // What an NVMe driver says of the disk beside it.
    let told = BlockDevice { fua: Some(true), ..disk("nvme0n1", 0, "write through") };
    assert_eq!(overridden(&[told]), ["nvme0n1"]);
}

#[test]
fn a_layer_that_passes_no_flush_on_is_found() {
    let layer = || disk("dm-0", 0, "write through");
    assert_eq!(overridden(&[layer(), disk("sda", 1, "write back")]), ["dm-0"]);
    assert_eq!(overridden(&[layer(), disk("sda", 1, "write through")]), [""; 0]);
    // The disk beside it is not below.
    let beside = [layer(), disk("sda", 1, "write through"), disk("sdb", 0, "write back")];
    assert_eq!(overridden(&beside), [""; 0]);
    assert_eq!(describe_all(&beside).iter().filter(|device| device.lowest).count(), 2);
}

#[test]
fn several_paths_lead_to_one_disk() {
    let mapper =
        |detail: &str| BlockDevice { detail: Some(detail.into()), ..disk("dm-0", 0, "write back") };
    let below = || [disk("sda", 1, "write back"), disk("sdb", 1, "write back")];
    let of = |over: BlockDevice| {
        let all = describe_all(&[&[over][..], &below()].concat());
        all.into_iter().map(|device| device.disk().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of(mapper("data (mpath)")), ["dm-0", "dm-0", "dm-0"]);
    assert_eq!(of(mapper("data (lvm)")), ["dm-0", "sda", "sdb"]);
    assert_eq!(of(disk("nvme0n1", 0, "write back")), ["nvme0n1", "nvme0n1", "nvme0n1"]);
}

#[test]
fn two_loop_devices_on_one_disk_are_above_it() {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let Some((major, minor)) = disk_of(file.path()) else {
        return crate::sys::testing::skip("the build folder is on no block device");
    };
    let above = |name: &str| BlockDevice {
        backing_file: Some(file.path().into()),
        ..disk(name, 0, "write back")
    };
    let below = BlockDevice { major, minor, ..disk("sda", 1, "write back") };
    let lowest = |devices: &[BlockDevice]| {
        let all = describe_all(devices).into_iter().filter(|device| device.lowest);
        all.map(|device| device.device).collect::<Vec<_>>()
    };
    assert_eq!(lowest(&[above("loop0"), below, above("loop1")]), ["sda"]);
    assert_eq!(lowest(&[above("loop0")]), ["loop0"]);
}

#[test]
fn what_is_no_disk_of_this_machine_says_where_its_data_is() {
    let what = |device: BlockDevice| {
        let found = describe(&device, 0, &[]).backing;
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
    assert_eq!(what(kind(Kind::Memory)), "memory true");
    assert_eq!(what(kind(Kind::Virtual)), "a virtual device false");
    let over = |place: &str| BlockDevice {
        backing_file: Some(Path::new(place).join("removed")),
        ..disk("loop0", 0, "write back")
    };
    assert_eq!(what(over("/nonexistent")), "a file false");
    if mounts::fs_at(Path::new("/dev/shm")).is_ok_and(|fs| fs == "tmpfs") {
        assert_eq!(what(over("/dev/shm")), "a file in memory (tmpfs) true");
    }
}

#[test]
fn options_that_leave_out_flushes_are_known() {
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
