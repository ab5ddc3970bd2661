//! Trees that no kernel has, and many layers.

use super::*;
use nix::sys::stat::makedev;
use proptest::prelude::*;

/// A number of devices below `7:N` or `9:N`: how each is, and which are below it.
type Device = (usize, Vec<usize>, String);

fn device() -> impl Strategy<Value = Device> {
    (0..10usize, prop::collection::vec(0..12usize, 0..4), "\\PC{0,12}")
}

/// Builds them; loop devices lie on each other by their numbers.
fn build(sys: &Sysfs, devices: &[Device]) {
    let folders: Vec<_> = devices
        .iter()
        .enumerate()
        .map(|(at, (kind, _, text))| {
            let (name, file) = match kind {
                0 => (format!("md{at}"), "md/level"),
                1 => (format!("dm-{at}"), "dm/name"),
                2 => (format!("dm-{at}"), "dm/uuid"),
                3 => (format!("zram{at}"), "backing_dev"),
                4 => (format!("nbd{at}"), "pid"),
                5 => (format!("sd{at}"), "start"),
                6 => (format!("sd{at}"), "partition"),
                7 => (format!("nvme{at}n1"), "size"),
                _ => (format!("loop{at}"), "loop/backing_file"),
            };
            let place = format!("virtual/block/{name}");
            sys.device(&place, &format!("7:{at}"), &[(file, text), ("size", text)])
        })
        .collect();
    for (folder, (_, below, _)) in folders.iter().zip(devices) {
        let slaves = folder.join("slaves");
        fs::create_dir_all(&slaves).unwrap();
        for to in below.iter().filter(|to| **to < folders.len()) {
            let _ = symlink(&folders[*to], slaves.join(to.to_string()));
        }
    }
}

/// Returns that a loop device lies on another loop device, whose number follows from its own.
fn on_another(_: &str, number: u64) -> io::Result<LoopFile> {
    let minor = (nix::sys::stat::minor(number) * 5 + 3) % 12;
    let block_device = makedev(7, minor);
    Ok(LoopFile { block_device, offset: u64::MAX / 2, size_limit: 7, ..LoopFile::default() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_tree_panics_or_hides_why(
        devices in prop::collection::vec(device(), 1..12),
        table in "\\PC{0,60}",
    ) {
        let sys = Sysfs::new();
        build(&sys, &devices);
        let world = World { ask: on_another, ..world(&sys, &table) };
        for at in 0..devices.len() as u64 {
            let below = world.below_device((7, at));
            let Ground { medium, reason, layers } = &below.ground;
            prop_assert_eq!(reason.is_empty(), *medium == Medium::Disk, "{:?}", below);
            prop_assert!(layers.len() <= 256 && !below.ground.stack().is_empty());
            prop_assert_eq!(below.change_since(&below), None);
            for file in &below.files {
                let part = file.part_of(0..4096);
                prop_assert!(part.start <= part.end, "{:?}", file);
            }
        }
    }
}

#[test]
fn deep_stacks_are_bounded() {
    let sys = Sysfs::new();
    let mut below = sys.device("pci0/ata1/sda", "8:0", &[("size", "2048")]);
    for at in 0..400 {
        let files = [("dm/name", "x"), ("dm/uuid", "LVM-x")];
        let above = sys.device(&format!("virtual/block/dm-{at}"), &format!("9:{at}"), &files);
        fs::create_dir_all(above.join("slaves")).unwrap();
        symlink(&below, above.join("slaves/one")).unwrap();
        below = above;
    }
    let of = |at| world(&sys, "").below_device((9, at)).ground;
    assert_eq!((of(39).medium, of(39).layers.len()), (Medium::Disk, 41));
    assert_eq!((of(399).medium, of(399).layers.len()), (Medium::Unknown, 192));
    assert_eq!(of(399).reason, "there are more than 192 layers");
}

#[test]
fn a_circle_is_unknown() {
    let sys = Sysfs::new();
    for at in 0..2 {
        sys.device(&format!("virtual/block/loop{at}"), &format!("7:{at}"), &[("loop/x", "")]);
    }
    let ask = |_: &str, number: u64| {
        let block_device = makedev(7, 1 - nix::sys::stat::minor(number));
        Ok(LoopFile { block_device, ..LoopFile::default() })
    };
    let below = World { ask, ..world(&sys, "") }.below_device((7, 0));
    assert_eq!(below.ground.medium, Medium::Unknown);
    assert_eq!(below.ground.reason, "loop0 lies on itself");
    assert_eq!(below.disks(), None);
}

#[test]
fn a_silent_loop_device_is_unknown() {
    let sys = Sysfs::new();
    sys.device("virtual/block/loop0", "7:0", &[("loop/backing_file", "/net/img")]);
    let refused = |errno| -> fn(&str, u64) -> io::Result<LoopFile> {
        match errno {
            libc::EACCES => |_, _| Err(io::Error::from_raw_os_error(libc::EACCES)),
            libc::ENXIO => |_, _| Err(io::Error::from_raw_os_error(libc::ENXIO)),
            _ => |_, _| panic!("it is asked"),
        }
    };
    let of = |errno, table: &str| {
        let world = World { ask: refused(errno), ..world(&sys, table) };
        let below = world.below_device((7, 0));
        assert_eq!((below.ground.medium, below.disks()), (Medium::Unknown, None));
        below.ground.reason
    };
    let local = "1 0 8:1 / / rw - ext4 /dev/sda rw\n";
    let net = format!("{local}2 1 0:40 / /net rw - nfs4 host:/x rw\n");
    assert_eq!(
        of(libc::EACCES, local),
        "the file of loop0 is not known: this user may not ask the device for it"
    );
    assert_eq!(of(libc::ENXIO, local), "the file of loop0 is gone");
    assert_eq!(
        of(0, &net),
        "the file of loop0 seems to be on nfs4, which may not answer: it is not looked at"
    );
}

#[test]
fn what_changes_is_named() {
    let sys = Sysfs::new();
    let raid = sys.device("virtual/block/md0", "9:0", &[("md/level", "raid1")]);
    fs::create_dir_all(raid.join("slaves")).unwrap();
    for (name, number) in [("sda", "8:0"), ("zram0", "252:0")] {
        let place = if name == "sda" { "pci0/ata1/sda" } else { "virtual/block/zram0" };
        let member = sys.device(place, number, &[]);
        symlink(member, raid.join("slaves").join(name)).unwrap();
    }
    let find = || world(&sys, "").below_device((9, 0));
    let mixed = find();
    assert_eq!(mixed.ground.reason, "partly a disk (sda), partly memory (zram0)");
    assert_eq!((mixed.ground.medium, mixed.disks()), (Medium::Unknown, Some(vec![(8, 0)])));
    fs::remove_file(raid.join("slaves/zram0")).unwrap();
    let alone = find();
    assert_eq!(alone.ground.medium, Medium::Disk);
    assert_eq!(
        alone.change_since(&mixed).as_deref(),
        Some("the target lay on md0 on sda and zram0, and now on md0 on sda")
    );
    let file = |direct, id| FileBelow {
        name: "~/img".into(),
        layer: 0,
        id: (1, id),
        file: Err("closed".into()),
        part: 0..8,
        fixed: true,
        direct,
        own: false,
    };
    let with = |file| Below { files: vec![file], ..alone.clone() };
    let was = with(file(false, 1));
    assert_eq!(with(file(false, 1)).change_since(&was), None);
    for (now, change) in [
        (file(true, 1), "direct I/O to ~/img was switched"),
        (file(false, 2), "~/img is another file now"),
        (FileBelow { part: 4..8, ..file(false, 1) }, "another part of ~/img is used now"),
    ] {
        assert_eq!(with(now).change_since(&was).as_deref(), Some(change));
    }
    fs::write(sys.root().join("devices/virtual/block/zram0/backing_dev"), "/dev/sdb\n").unwrap();
    let zram = world(&sys, "").below_device((252, 0)).ground;
    assert_eq!(zram.reason, "zram0 keeps a part in memory and a part on another device");
}
