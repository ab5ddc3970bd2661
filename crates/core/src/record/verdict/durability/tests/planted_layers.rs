//! Cases of commits through layers that hide them, with the expected verdicts.

use super::planted::{Plant, over_file, path, take};
use crate::record::verdict::Reach;
use crate::record::verdict::testing::{Case, count_devices as count, device};
use crate::record::{Ground, Layer, Medium};

pub const PLANTED: &[Plant] = &[
    (
        "flushes that take no time below a layer that takes some",
        |c| {
            path(c).devices[0] = device("dm-0", false);
            take(c, 80_000.0);
            count(c, &[("dm-0", 1.1, 1.0), ("sda", 1.1, 1.0)]);
            c.each(|t| t.evidence.devices[1].flush_nanos = 12_000_000.into());
        },
        Reach::Unknown,
        "60.0 µs each; but a flush takes less than 5 writes into the cache (50.0 µs each)",
    ),
    (
        "flushes below a file, whose cache takes the writes",
        |c| {
            path(c).devices[0] = over_file("loop0", "a file on ext4");
            count(c, &[("loop0", 1.1, 1.0), ("sda", 1.1, 1.0)]);
        },
        Reach::Unknown,
        "300 µs each; but loop0 is a file, so that writes to it do not show how long",
    ),
    (
        "a file on a file system without barriers, while another program runs",
        |c| {
            path(c).devices[0] = over_file("loop0", "a file on ext4");
            let option = Some("nobarrier".into());
            path(c).devices[0].backing.as_mut().unwrap().no_barrier = option;
            count(c, &[("loop0", 1.1, 1.0), ("sda", 1.1, 2.0)]);
        },
        Reach::NotReached,
        "loop0 is a file on a file system mounted with nobarrier, so that no commit empties the",
    ),
    (
        "a layer that drops writes, while another program runs",
        |c| {
            path(c).devices[0] = device("dm-0", false);
            path(c).devices.insert(1, device("sda1", false));
            count(c, &[("dm-0", 1.1, 1.0), ("sda1", 0.0, 1.0), ("sda", 1.1, 1.0)]);
        },
        Reach::NotReached,
        "only 0 B of",
    ),
    (
        "a file in memory below layers that look like disks",
        |c| stand_on(c, Medium::Memory, "loop0 is a file on tmpfs"),
        Reach::NotReached,
        "loop0 is a file on tmpfs",
    ),
    (
        "a file of a program below layers that look like disks",
        |c| stand_on(c, Medium::Program, "loop0 is a file on fuse.sshfs"),
        Reach::Unknown,
        "loop0 is a file on fuse.sshfs: a program confirms each commit, and what it does is not",
    ),
    (
        "another machine below layers that look like disks",
        |c| stand_on(c, Medium::Server, "loop0 is a file on nfs4"),
        Reach::Unknown,
        "loop0 is a file on nfs4: another machine confirms each commit",
    ),
    (
        "an unknown place below layers that look like disks",
        |c| stand_on(c, Medium::Unknown, "the file of loop0 is not visible here"),
        Reach::Unknown,
        "the file of loop0 is not visible here",
    ),
    (
        "fewer bytes on the disk below a layer that compresses",
        |c| {
            stand_on(c, Medium::Disk, "");
            let layer =
                Layer { name: "btrfs".into(), transform: "compresses".into(), ..Layer::default() };
            c.target.ground.as_mut().unwrap().layers = vec![layer];
            count(c, &[("sda", 0.2, 1.0)]);
        },
        Reach::Unknown,
        "reached the disk, but it may be compressed (btrfs)",
    ),
];

fn stand_on(case: &mut Case, medium: Medium, reason: &str) {
    let ground = Ground { medium, reason: reason.into(), layers: Vec::new() };
    case.target.ground = Some(ground);
}
