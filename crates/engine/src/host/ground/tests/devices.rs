//! Captured trees of devices.

use super::*;

const SLOT: &str = "pci0000:00/0000:00:1d.0";
const QUEUE: [(&str, &str); 10] = [
    ("size", "2048"),
    ("queue/rotational", "0"),
    ("queue/scheduler", "[none] mq-deadline"),
    ("queue/read_ahead_kb", "128"),
    ("queue/nr_requests", "1023"),
    ("queue/logical_block_size", "512"),
    ("queue/physical_block_size", "4096"),
    ("queue/max_sectors_kb", "1280"),
    ("queue/write_cache", "write back"),
    ("queue/io_poll", "0"),
];

#[test]
fn an_encrypted_partition_in_a_slot() {
    let sys = Sysfs::new();
    sys.files(SLOT, &[("current_link_speed", "8.0 GT/s PCIe"), ("current_link_width", "2")]);
    sys.files(
        &format!("{SLOT}/0000:03:00.0"),
        &[("current_link_speed", "16.0 GT/s PCIe"), ("current_link_width", "4")],
    );
    let disk = format!("{SLOT}/0000:03:00.0/nvme/nvme0/nvme0n1");
    sys.files(&format!("{SLOT}/0000:03:00.0/nvme/nvme0"), &[("transport", "pcie")]);
    sys.device(&disk, "259:0", &[&QUEUE[..], &[("device/model", "Some SSD 1TB   ")]].concat());
    let part =
        sys.device(&format!("{disk}/nvme0n1p2"), "259:2", &[("partition", "2"), ("size", "1024")]);
    let mapper = sys.device(
        "virtual/block/dm-0",
        "252:0",
        &[("dm/name", "root"), ("dm/uuid", "CRYPT-LUKS2-0123-root")],
    );
    fs::create_dir_all(mapper.join("slaves")).unwrap();
    symlink(&part, mapper.join("slaves/nvme0n1p2")).unwrap();

    let stack = devices(&sys, (252, 0));
    let kinds: Vec<_> = stack.iter().map(|d| (d.name.as_str(), d.kind, d.depth)).collect();
    assert_eq!(
        kinds,
        [
            ("dm-0", DeviceKind::Mapper, 0),
            ("nvme0n1p2", DeviceKind::Partition, 1),
            ("nvme0n1", DeviceKind::Disk, 2)
        ]
    );
    assert_eq!(stack[0].detail.as_deref(), Some("root (crypt)"));
    assert_eq!(stack[1].size, Some(1024 * 512));
    let disk = &stack[2];
    assert_eq!(
        (disk.model.as_deref(), disk.scheduler.as_deref()),
        (Some("Some SSD 1TB"), Some("none"))
    );
    assert_eq!(
        (disk.rotational, disk.nr_requests, disk.physical_block, disk.polls),
        (Some(false), Some(1023), Some(4096), Some(false))
    );
    let link = disk.link.as_ref().unwrap();
    assert_eq!((link.transport, link.text.as_str()), (Transport::Pcie, "PCIe 3.0 x2"));
    for device in [(252, 0), (259, 2), (259, 0)] {
        assert_eq!(lowest(&sys, device), BTreeSet::from([(259, 0)]));
    }
    assert_eq!(lowest(&sys, (0, 40)), BTreeSet::from([(0, 40)]), "no block device");
}

#[test]
fn raid_lists_each_disk_once() {
    let sys = Sysfs::new();
    let raid = sys.device("virtual/block/md0", "9:0", &[("md/level", "raid1")]);
    fs::create_dir_all(raid.join("slaves")).unwrap();
    for (name, number) in [("sda", "8:0"), ("sdb", "8:16")] {
        let port = if name == "sda" { "ata1" } else { "ata2" };
        let place =
            format!("pci0000:00/0000:00:17.0/{port}/host0/target0:0:0/0:0:0:0/block/{name}");
        let disk = sys.device(
            &place,
            number,
            &[("device/vendor", "ATA"), ("device/model", "Disk"), ("queue/rotational", "1")],
        );
        sys.files(
            &format!("pci0000:00/0000:00:17.0/{port}/link1/ata_link/link1"),
            &[("sata_spd", "6.0 Gbps")],
        );
        symlink(&disk, raid.join("slaves").join(name)).unwrap();
    }
    // A cycle, which no kernel creates.
    symlink(&raid, raid.join("slaves/md0")).unwrap();
    let stack = devices(&sys, (9, 0));
    assert_eq!(stack.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["md0", "sda", "sdb"]);
    assert_eq!(stack[0].detail.as_deref(), Some("raid1"));
    assert_eq!(lowest(&sys, (9, 0)), BTreeSet::from([(8, 0), (8, 16)]));
    let link = stack[1].link.as_ref().unwrap();
    assert_eq!((link.text.as_str(), link.bytes_per_second), ("SATA 6.0 Gbps", Some(600_000_000)));
    assert_eq!(stack[2].model.as_deref(), Some("Disk"));
}

#[test]
fn btrfs_has_all_its_devices() {
    let sys = Sysfs::new();
    let disks = [("sda", "8:0"), ("sdb", "8:16"), ("sdc", "8:32")]
        .map(|(name, number)| sys.device(&format!("pci0/ata1/{name}"), number, &[]));
    for (system, members) in [("one", &disks[..2]), ("other", &disks[2..])] {
        let devices = sys.root().join("fs/btrfs").join(system).join("devices");
        fs::create_dir_all(&devices).unwrap();
        for member in members {
            symlink(member, devices.join(member.file_name().unwrap())).unwrap();
        }
    }
    let of = |source: &str| {
        let below = mounted(&sys, &format!("0:40 / /m rw - btrfs {source} rw,compress=zstd:3"));
        (below.ground.stack(), below.ground.medium, below.lowest().len())
    };
    assert_eq!(of("/dev/sda"), ("btrfs on sda and sdb".into(), Medium::Disk, 2));
    assert_eq!(of("/dev/sdb"), ("btrfs on sda and sdb".into(), Medium::Disk, 2));
    assert_eq!(of("/dev/sdc"), ("btrfs on sdc".into(), Medium::Disk, 1));
    assert_eq!(of("/dev/sdd"), ("btrfs".into(), Medium::Unknown, 0));
}

#[test]
fn nvme_paths_are_below_the_disk() {
    let sys = Sysfs::new();
    let place = "virtual/nvme-subsystem/nvme-subsys1";
    sys.device(&format!("{place}/nvme1n1"), "259:1", &QUEUE);
    for number in [0, 1] {
        let controller = format!("pci0000:00/0000:00:0{number}.0/nvme/nvme{number}");
        for id in ["1", "2", "11"] {
            let path = format!("{controller}/nvme1c{number}n{id}");
            sys.files(&path, &[("hidden", "1"), ("mq/0/cpu_list", "0")]);
        }
        let link = sys.root().join("devices").join(place).join(format!("nvme{number}"));
        symlink(sys.root().join("devices").join(controller), link).unwrap();
    }
    let stack = devices(&sys, (259, 1));
    let found: Vec<_> =
        stack.iter().map(|d| (d.name.as_str(), d.depth, d.major, d.counts_flushes)).collect();
    assert_eq!(
        found,
        [("nvme1n1", 0, 259, false), ("nvme1c0n1", 1, 0, true), ("nvme1c1n1", 1, 0, true)]
    );
    assert_eq!(lowest(&sys, (259, 1)), BTreeSet::from([(259, 1)]));
}

#[test]
fn devices_made_by_drivers_are_distinguished() {
    let sys = Sysfs::new();
    for (place, number, kind) in [
        ("virtual/block/zd0", "230:0", DeviceKind::Virtual),
        ("virtual/block/ublkb0", "259:1", DeviceKind::Virtual),
        ("virtual/block/nullb0", "259:2", DeviceKind::Memory),
        ("virtual/block/nbd0", "43:0", DeviceKind::Network),
        ("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "259:3", DeviceKind::Disk),
        ("pci0/virtio1/block/vda", "254:0", DeviceKind::Disk),
    ] {
        sys.device(place, number, &[("cache_type", "write back")]);
        let (major, minor) = number.split_once(':').unwrap();
        let device = &devices(&sys, (major.parse().unwrap(), minor.parse().unwrap()))[0];
        assert_eq!(device.kind, kind, "{place}");
        assert_eq!(device.claimed_cache.as_deref(), Some("write back"));
    }
}

/// The folder and files of a device, what keeps its bytes, and the reason.
type Lowest = (&'static str, &'static [(&'static str, &'static str)], Medium, &'static str);

const LOWEST: &[Lowest] = &[
    ("pci0/virtio1/block/vda", &[], Medium::Disk, ""),
    ("virtual/block/ram0", &[], Medium::Memory, "ram0 is memory"),
    (
        "virtual/block/zram0",
        &[("backing_dev", "none")],
        Medium::Memory,
        "zram0 is compressed memory",
    ),
    ("virtual/block/nullb0", &[], Medium::Memory, "nullb0 is memory"),
    (
        "pseudo_0/adapter0/host3/target3:0:0/3:0:0:0/block/sdx",
        &[],
        Medium::Memory,
        "sdx is memory (scsi_debug)",
    ),
    (
        "tcm_loop_0/tcm_loop_adapter_0/host4/target4:0:1/4:0:1:0/block/sdy",
        &[],
        Medium::Unknown,
        "sdy is a target of this machine itself",
    ),
    (
        "platform/host2/session1/target2:0:0/2:0:0:0/block/sdd",
        &[],
        Medium::Server,
        "sdd is on another machine",
    ),
    (
        "virtual/nvme-fabrics/ctl/nvme7/nvme7n1",
        &[],
        Medium::Server,
        "nvme7n1 is on another machine",
    ),
    (
        "virtual/nvme-fabrics/ctl/nvme9/nvme9n1",
        &[],
        Medium::Server,
        "nvme9n1 is on another machine",
    ),
    (
        "virtual/nvme-fabrics/ctl/nvme8/nvme8n1",
        &[],
        Medium::Unknown,
        "nvme8n1 is a target of this machine itself",
    ),
    ("virtual/block/rbd0", &[], Medium::Server, "rbd0 is on another machine"),
    (
        "virtual/block/nbd0",
        &[],
        Medium::Unknown,
        "nbd0 may be served by a program or by another machine",
    ),
    ("virtual/block/ublkb0", &[], Medium::Program, "a program serves ublkb0"),
    ("virtual/block/zd0", &[], Medium::Unknown, "zd0 does not say what it lies on"),
    (
        "virtual/block/dm-7",
        &[("dm/name", "zero")],
        Medium::Unknown,
        "the kernel names no device below dm-7",
    ),
];

#[test]
fn every_device_has_a_medium() {
    let sys = Sysfs::new();
    for (name, transport) in [("nvme7", "tcp"), ("nvme8", "loop"), ("nvme9", "rdma")] {
        sys.files(&format!("virtual/nvme-fabrics/ctl/{name}"), &[("transport", transport)]);
    }
    for (at, (place, files, medium, reason)) in LOWEST.iter().enumerate() {
        sys.device(place, &format!("99:{at}"), files);
        let found = world(&sys, "").below_device((99, at as u64)).ground;
        assert_eq!((&found.medium, &*found.reason), (medium, *reason), "{place}");
    }
}

#[test]
fn mapper_paths_lead_to_disks() {
    let sys = Sysfs::new();
    let uuid = ("dm/uuid", "mpath-3600508b400105e21");
    let mapper = sys.device("virtual/block/dm-0", "252:0", &[("dm/name", "data"), uuid]);
    let vdo = ("dm/uuid", "VDO-1234");
    let above = sys.device("virtual/block/dm-1", "252:1", &[("dm/name", "dense"), vdo]);
    for folder in [&mapper, &above] {
        fs::create_dir_all(folder.join("slaves")).unwrap();
    }
    symlink(&mapper, above.join("slaves/dm-0")).unwrap();
    for (name, number) in [("sda", "8:0"), ("sdb", "8:16")] {
        let disk = sys.device(&format!("pci0/0000:01:00.0/host1/{name}"), number, &[]);
        symlink(&disk, mapper.join("slaves").join(name)).unwrap();
    }
    let found = world(&sys, "").below_device((252, 1));
    assert_eq!(found.ground.stack(), "dm-1 on dm-0 on sda and sdb");
    assert_eq!(found.disks(), Some(vec![(8, 0), (8, 16)]));
    let transforms: Vec<_> = found.ground.layers.iter().map(|layer| &*layer.transform).collect();
    assert_eq!(transforms, ["compresses", "", "", ""]);
}
