//! Captured lines of mount tables.

use super::*;

/// A line of mountinfo, the layers, what keeps the bytes, and the reason.
const MOUNTS: &[(&str, &str, Medium, &str)] = &[
    (
        "0:52 / /n rw - nfs4 host:/x rw,vers=4.2",
        "nfs4",
        Medium::Server,
        "another machine, or the host of this one, serves nfs4",
    ),
    (
        "0:53 / /n rw - cifs //host/x rw",
        "cifs",
        Medium::Server,
        "another machine, or the host of this one, serves cifs",
    ),
    (
        "0:54 / /n rw - virtiofs data rw",
        "virtiofs",
        Medium::Server,
        "another machine, or the host of this one, serves virtiofs",
    ),
    (
        "0:55 / /n rw - fuse.bindfs /x rw",
        "fuse.bindfs",
        Medium::Program,
        "a program serves fuse.bindfs",
    ),
    ("0:56 / /n rw - tmpfs tmpfs rw", "tmpfs", Medium::Memory, "tmpfs is memory"),
    (
        "0:57 / /n rw - zfs tank/x rw",
        "zfs",
        Medium::Unknown,
        "zfs does not say which disks it has, and has a cache of its own",
    ),
    (
        "0:58 / /n rw - ecryptfs /x rw",
        "ecryptfs",
        Medium::Unknown,
        "ecryptfs does not say what it lies on",
    ),
    (
        "8:99 / /n rw - ext4 /dev/sdz rw",
        "ext4",
        Medium::Unknown,
        "/sys does not describe the device 8:99",
    ),
    (
        "0:59 / /n rw - overlay overlay rw,lowerdir=l,upperdir=u,workdir=w",
        "overlay",
        Medium::Unknown,
        "a folder of the overlay is not visible here: its path is relative",
    ),
    (
        "0:60 / /n rw - erofs no/image rw",
        "erofs",
        Medium::Unknown,
        "the file of erofs is not visible here: its path is relative",
    ),
];

#[test]
fn served_paths_are_not_opened() {
    let sys = Sysfs::new();
    for (line, stack, medium, reason) in MOUNTS {
        let below = mounted(&sys, line);
        let Ground { medium: found, reason: why, .. } = &below.ground;
        assert_eq!((&*below.ground.stack(), found, &**why), (*stack, medium, *reason));
        assert_eq!(below.disks().is_some(), *medium == Medium::Memory, "{line}");
    }
}

#[test]
fn the_first_mount_hides_others() {
    let table = "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                 20 1 0:50 / /net rw - nfs4 h:/x rw\n\
                 21 20 8:2 / /net/local rw - ext4 /dev/sdb rw\n\
                 22 1 8:3 / /a/b rw - ext4 /dev/sdc rw\n\
                 23 1 0:51 / /a rw - fuse.x x rw\n\
                 24 1 8:4 / /data rw - ext4 /dev/sdd rw\n\
                 25 24 8:5 / /data rw - xfs /dev/sde rw\n";
    let sys = Sysfs::new();
    let world = world(&sys, table);
    for (path, silent) in [
        ("/etc/x", None),
        ("/network", None),
        ("/net/local/x", Some("nfs4")),
        ("/a/b/x", Some("fuse.x")),
        ("/data/x", None),
    ] {
        assert_eq!(world.silent(Path::new(path)), silent, "{path}");
    }
    let last = |path: &str| {
        mounts::on_the_way(&world.mounts, Path::new(path)).last().map(|entry| entry.id)
    };
    assert_eq!((last("/data/x"), last("/net/local/x"), last("/")), (Some(25), Some(21), Some(1)));
    // The root of a container is served by the host, and a disk is mounted below.
    let kata = "1 0 0:9 / / rw - virtiofs root rw\n2 1 8:1 / /data rw - ext4 /dev/sda rw\n";
    let world = self::world(&sys, kata);
    assert_eq!(world.silent(Path::new("/data/img")), None);
    assert_eq!(world.silent(Path::new("/img")), Some("virtiofs"));
    assert!(mounts::on_the_way(&[], Path::new("/x")).is_empty());
}

#[test]
fn the_home_is_a_tilde() {
    let world = world(&Sysfs::new(), "");
    let shown = |path: &str| world.shown(Path::new(path));
    assert_eq!((shown("/home/me/img"), shown("/home/mine")), ("~/img".into(), "/home/mine".into()));
}
