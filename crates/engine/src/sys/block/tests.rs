use super::testing::Sysfs;
use super::*;
use std::os::unix::fs::symlink;

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
    let of = |number| describe(&folder(&sys.root(), number)?, 0);
    let device = of((7, 0)).unwrap();
    assert_eq!(
        (device.kind, device.size, device.rotational, device.nr_requests),
        (DeviceKind::Loop, None, None, None)
    );
    assert_eq!(of((1, 1)), None);
    sys.device("virtual/block/bad", "5:5", &[]);
    fs::write(sys.root().join("devices/virtual/block/bad/dev"), "5\n").unwrap();
    assert_eq!(of((5, 5)), None);
    assert_eq!(bracketed("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
    assert_eq!(
        (bracketed("none").as_deref(), bracketed("a b"), bracketed("")),
        (Some("none"), None, None)
    );
}
