use super::*;
use crate::sys::link::Transport;
use crate::sys::testing;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A fake sysfs.
struct Sysfs(TempDir);

impl Sysfs {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap()
    }

    /// Creates a device folder with its files, and its entry in dev/block.
    fn device(&self, place: &str, number: &str, files: &[(&str, &str)]) -> PathBuf {
        let dir = self.files(place, files);
        fs::write(dir.join("dev"), format!("{number}\n")).unwrap();
        fs::create_dir_all(self.root().join("dev/block")).unwrap();
        symlink(&dir, self.root().join("dev/block").join(number)).unwrap();
        dir
    }

    fn files(&self, place: &str, files: &[(&str, &str)]) -> PathBuf {
        let dir = self.root().join("devices").join(place);
        fs::create_dir_all(&dir).unwrap();
        for (name, text) in files {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        dir
    }
}

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
fn encrypted_partition_of_an_nvme_disk_in_a_narrow_slot() {
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

    let stack = stack_in(&sys.root(), 252, 0);
    let kinds: Vec<_> = stack.iter().map(|d| (d.name.as_str(), d.kind, d.depth)).collect();
    assert_eq!(
        kinds,
        [("dm-0", Kind::Mapper, 0), ("nvme0n1p2", Kind::Partition, 1), ("nvme0n1", Kind::Disk, 2)]
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
        assert_eq!(disks_in(&sys.root(), device), BTreeSet::from([(259, 0)]));
    }
    assert_eq!(disks_in(&sys.root(), (0, 40)), BTreeSet::from([(0, 40)]), "no block device");
}

#[test]
fn raid_of_two_disks_lists_each_once() {
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
    let stack = stack_in(&sys.root(), 9, 0);
    assert_eq!(stack.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["md0", "sda", "sdb"]);
    assert_eq!(stack[0].detail.as_deref(), Some("raid1"));
    assert_eq!(disks_in(&sys.root(), (9, 0)), BTreeSet::from([(8, 0), (8, 16)]));
    let link = stack[1].link.as_ref().unwrap();
    assert_eq!((link.text.as_str(), link.bytes_per_second), ("SATA 6.0 Gbps", Some(600_000_000)));
    assert_eq!(stack[2].model.as_deref(), Some("Disk"));
}

#[test]
fn a_btrfs_file_system_has_all_its_devices() {
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
    let names = |minor| {
        let stack = stack_in(&sys.root(), 8, minor);
        stack.into_iter().map(|device| (device.name, device.depth)).collect::<Vec<_>>()
    };
    let [a, b, c] = ["sda", "sdb", "sdc"].map(|name| (name.to_string(), 0));
    assert_eq!(names(0), [a.clone(), b.clone()]);
    assert_eq!(names(16), [b, a]);
    assert_eq!(names(32), [c]);
}

#[test]
fn an_nvme_disk_of_a_subsystem_has_its_paths_below() {
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
    let stack = stack_in(&sys.root(), 259, 1);
    let found: Vec<_> =
        stack.iter().map(|d| (d.name.as_str(), d.depth, d.major, d.counts_flushes)).collect();
    assert_eq!(
        found,
        [("nvme1n1", 0, 259, false), ("nvme1c0n1", 1, 0, true), ("nvme1c1n1", 1, 0, true)]
    );
    assert_eq!(disks_in(&sys.root(), (259, 1)), BTreeSet::from([(259, 1)]));
}

#[test]
fn what_drivers_make_up_is_no_disk() {
    let sys = Sysfs::new();
    for (place, number, kind) in [
        ("virtual/block/zd0", "230:0", Kind::Virtual),
        ("virtual/block/ublkb0", "259:1", Kind::Virtual),
        ("virtual/block/nullb0", "259:2", Kind::Memory),
        ("virtual/block/nbd0", "43:0", Kind::Network),
        ("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "259:3", Kind::Disk),
        ("pci0/virtio1/block/vda", "254:0", Kind::Disk),
    ] {
        sys.device(place, number, &[("cache_type", "write back")]);
        let (major, minor) = numbers(number).unwrap();
        let device = &stack_in(&sys.root(), major, minor)[0];
        assert_eq!(device.kind, kind, "{place}");
        assert_eq!(device.claimed_cache.as_deref(), Some("write back"));
    }
}

#[test]
fn attachments() {
    let sys = Sysfs::new();
    sys.files("pci0/0000:00:14.0/usb2/2-1", &[("idVendor", "1234"), ("speed", "5000")]);
    sys.files("virtual/nvme-fabrics/ctl/nvme7", &[("transport", "tcp")]);
    sys.files(
        "pci0/0000:05:00.0",
        &[("current_link_speed", "16.0 GT/s PCIe"), ("current_link_width", "4")],
    );
    let local = sys.files("pci0/0000:05:00.0/nvme/nvme3", &[("transport", "pcie")]);
    let subsystem = sys.files("virtual/nvme-subsystem/nvme-subsys0", &[]);
    symlink(local, subsystem.join("nvme3")).unwrap();
    sys.files(
        "pci0/0000:00:02.0",
        &[("current_link_speed", "2.5 GT/s PCIe"), ("current_link_width", "1")],
    );
    for (place, want) in [
        (
            "pci0/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdc",
            Some("USB 5000 Mbit/s"),
        ),
        ("virtual/nvme-fabrics/ctl/nvme7/nvme7n1", Some("NVMe over tcp")),
        ("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", Some("PCIe 4.0 x4")),
        ("pci0/0000:00:02.0/virtio1/block/vda", Some("virtio")),
        ("platform/soc/mmc_host/mmc0/mmc0:0001/block/mmcblk0", Some("MMC")),
        ("platform/host2/session1/target2:0:0/2:0:0:0/block/sdd", Some("iSCSI")),
        (
            "pci0/0000:01:00.0/host1/port-1:0/end_device-1:0/target1:0:0/1:0:0:0/block/sde",
            Some("SAS"),
        ),
        ("vbd-51712/block/xvda", Some("Xen")),
        ("LNXSYSTM:00/VMBUS:01/f8b3781a/host0/target0:0:0/0:0:0:0/block/sdf", Some("Hyper-V")),
        ("virtual/block/whatever", None),
    ] {
        let dir = sys.files(place, &[]);
        assert_eq!(link::detect(&dir).map(|l| l.text).as_deref(), want, "{place}");
    }
}

#[test]
fn garbage_is_left_out() {
    let sys = Sysfs::new();
    let odd: Vec<_> = QUEUE.iter().map(|(name, _)| (*name, "\u{fffd} -1 [")).collect();
    sys.device("virtual/block/loop0", "7:0", &odd);
    let [device] = &stack_in(&sys.root(), 7, 0)[..] else { panic!("one device") };
    assert_eq!(
        (device.kind, device.size, device.rotational, device.nr_requests),
        (Kind::Loop, None, None, None)
    );
    assert_eq!(stack_in(&sys.root(), 1, 1), []);
    sys.device("virtual/block/bad", "5:5", &[]);
    fs::write(sys.root().join("devices/virtual/block/bad/dev"), "5\n").unwrap();
    assert_eq!(stack_in(&sys.root(), 5, 5), []);
    assert_eq!(bracketed("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
    assert_eq!(
        (bracketed("none").as_deref(), bracketed("a b"), bracketed("")),
        (Some("none"), None, None)
    );
}

#[test]
fn this_machine() {
    let Some(file) = testing::file_on_disk(1) else {
        return;
    };
    let Some((major, minor)) = disk::device_of(&file) else {
        return testing::skip("no block device below");
    };
    let stack = stack(major, minor);
    assert!(!stack.is_empty() && stack.iter().any(|d| d.size.is_some_and(|n| n > 0)), "{stack:?}");
    assert!(stack.iter().all(|d| !d.name.is_empty()));
}
