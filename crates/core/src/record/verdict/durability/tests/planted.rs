//! Cases of commits on their way to the disk, with the expected verdicts.

use crate::plan::{Pattern, Sync};
use crate::record::verdict::Reach;
use crate::record::verdict::testing::{Case, count_devices as count, device};
use crate::record::{Backing, CommitDevice, CommitPath};

pub fn path(case: &mut Case) -> &mut CommitPath {
    case.target.commit_path.as_mut().unwrap()
}

pub fn disk(case: &mut Case) -> &mut CommitDevice {
    path(case).devices.last_mut().unwrap()
}

/// Sets how long commits took.
pub fn take(case: &mut Case, nanos: f64) {
    let total = &mut case.commits.as_mut().unwrap().total;
    (total.p50, total.mean) = (Some(nanos), nanos);
}

fn write_through(case: &mut Case, sync: Sync) {
    (case.job.sync, case.job.direct, disk(case).fua) = (sync, true, Some(true));
    count(case, &[("sda", 1.0, 0.0)]);
}

/// Commits `every` blocks at once, in a file of some blocks.
fn sync_every(case: &mut Case, every: u32, blocks: u64) {
    (case.job.sync_every, case.job.span) = (every, blocks * case.job.block);
    let written = case.trials.iter().map(|t| t.bytes).sum::<u64>();
    case.commits.as_mut().unwrap().total.count = written / (case.job.block * u64::from(every));
}

fn elsewhere(case: &mut Case, what: &str) {
    disk(case).backing = Some(Backing { what: what.into(), ..Backing::default() });
}

pub fn over_file(name: &str, what: &str) -> CommitDevice {
    CommitDevice {
        backing: Some(Backing { what: what.into(), ..Backing::default() }),
        ..device(name, false)
    }
}

/// The name of a case, its change, the expected verdict, and a part of the reason.
pub type Plant = (&'static str, fn(&mut Case), Reach, &'static str);

pub const PLANTED: &[Plant] = &[
    ("a flush each", |_| {}, Reach::Flushed, "sda was flushed 1.00 times per commit, 300 µs each"),
    (
        "flushes of less than a millisecond together",
        |c| {
            c.each(|t| t.evidence.devices[0].flush_nanos = 0.into());
            path(c).median_write_nanos = Some(100);
        },
        Reach::Flushed,
        "sda was flushed 1.00 times per commit, less than ",
    ),
    (
        "write through",
        |c| disk(c).volatile_cache = Some(false),
        Reach::NoCache,
        "1.10 bytes reached",
    ),
    (
        "write through, and a virtual machine",
        |c| {
            disk(c).volatile_cache = Some(false);
            c.machine.hypervisor = Some("KVM".into());
        },
        Reach::Unknown,
        "sda is write through: 1.10 bytes reached it per byte committed; but this machine is virtual",
    ),
    (
        "write through without barriers",
        |c| {
            disk(c).volatile_cache = Some(false);
            path(c).no_barrier = Some("nobarrier".into());
        },
        Reach::NoCache,
        "sda is write through",
    ),
    (
        "nobarrier",
        |c| {
            path(c).no_barrier = Some("nobarrier".into());
            count(c, &[("sda", 1.1, 0.0)]);
        },
        Reach::NotReached,
        "ext4 is mounted with nobarrier",
    ),
    (
        "nobarrier, and bytes that stayed in memory",
        |c| {
            path(c).no_barrier = Some("nobarrier".into());
            count(c, &[("sda", 0.1, 0.0)]);
        },
        Reach::NotReached,
        "empties the cache of sda; only 128 MiB of 1000 MiB reached the disk",
    ),
    (
        "nobarrier above a loop device on a disk without a cache",
        |c| {
            path(c).no_barrier = Some("nobarrier".into());
            path(c).devices[0] = over_file("loop0", "a file on ext4");
            disk(c).volatile_cache = Some(false);
        },
        Reach::NotReached,
        "empties the cache of loop0",
    ),
    (
        "nobarrier of a virtual disk",
        |c| {
            path(c).no_barrier = Some("nobarrier".into());
            elsewhere(c, "a virtual disk (virtio)");
        },
        Reach::NotReached,
        "mounted with nobarrier",
    ),
    (
        "nobarrier, but written through",
        |c| {
            path(c).no_barrier = Some("nobarrier".into());
            write_through(c, Sync::RwfDsync);
        },
        Reach::WrittenThrough,
        "as direct I/O with rwf-dsync does",
    ),
    (
        "nobarrier and O_SYNC, which is not written through",
        |c| {
            path(c).no_barrier = Some("nobarrier".into());
            write_through(c, Sync::Osync);
        },
        Reach::NotReached,
        "mounted with nobarrier",
    ),
    (
        "nobarrier while other programs flush",
        |c| path(c).no_barrier = Some("barrier=0".into()),
        Reach::NotReached,
        "mounted with barrier=0",
    ),
    ("memory", |c| c.target.memory = true, Reach::NotReached, "ext4 is memory"),
    (
        "a disk in memory",
        |c| {
            c.target.memory = true;
            disk(c).backing =
                Some(Backing { what: "memory".into(), memory: true, no_barrier: None });
        },
        Reach::NotReached,
        "sda is memory",
    ),
    (
        "an overlay that leaves out syncs",
        |c| {
            c.target.fs = "overlay".into();
            path(c).devices.clear();
            path(c).no_barrier = Some("volatile".into());
        },
        Reach::NotReached,
        "overlay is mounted with volatile",
    ),
    (
        "a server",
        |c| (c.target.remote, c.target.fs) = (true, "nfs4".into()),
        Reach::Unknown,
        "nfs4: a server confirms each commit",
    ),
    (
        "a program",
        |c| (c.target.remote, c.target.fs) = (true, "fuse.sshfs".into()),
        Reach::Unknown,
        "a program confirms",
    ),
    (
        "no flush reaches the disk",
        |c| count(c, &[("sda", 1.1, 0.0)]),
        Reach::NotReached,
        "flushed 0.00 times per commit, and it has a volatile cache",
    ),
    (
        "every other flush is swallowed",
        |c| count(c, &[("sda", 1.1, 0.5)]),
        Reach::NotReached,
        "0.50 times",
    ),
    (
        "a layer swallows flushes",
        |c| {
            path(c).devices[0] = device("dm-0", false);
            count(c, &[("dm-0", 1.1, 1.0), ("sda", 1.1, 0.0)]);
        },
        Reach::NotReached,
        "dm-0 was flushed 1.00 times per commit, but sda was flushed 0.00",
    ),
    (
        "a layer was set to have no cache",
        |c| {
            path(c).devices[0] = device("dm-0", false);
            (path(c).devices[0].volatile_cache, path(c).devices[0].overridden) =
                (Some(false), true);
            write_through(c, Sync::Dsync);
        },
        Reach::NotReached,
        "dm-0 passes no flush on",
    ),
    (
        "two paths to a disk, of which one is idle",
        |c| {
            path(c).devices[0] = device("dm-0", false);
            path(c).devices.push(device("sdb", true));
            path(c).devices[1..].iter_mut().for_each(|of| of.path_of = Some("dm-0".into()));
            count(c, &[("sda", 1.1, 1.0), ("sdb", 0.0, 0.0)]);
        },
        Reach::Flushed,
        "dm-0 was flushed 1.00 times per commit",
    ),
    (
        "two paths to a disk that count no flushes",
        |c| {
            path(c).devices[0] = device("dm-0", false);
            path(c).devices.push(device("sdb", true));
            path(c).devices[1..].iter_mut().for_each(|of| of.path_of = Some("dm-0".into()));
            count(c, &[("dm-0", 1.1, 1.0), ("sda", 0.6, 0.0), ("sdb", 0.5, 0.0)]);
        },
        Reach::Flushed,
        "dm-0 was flushed 1.00 times per commit, 300 µs each",
    ),
    (
        "two disks without a cache",
        |c| {
            path(c).devices.push(device("sdb", true));
            path(c).devices[1..].iter_mut().for_each(|disk| disk.volatile_cache = Some(false));
            count(c, &[("sda", 0.6, 0.0), ("sdb", 0.6, 0.0)]);
        },
        Reach::NoCache,
        "sda and sdb are write through: 1.20 bytes",
    ),
    (
        "one of two disks is not flushed",
        |c| {
            path(c).devices.push(device("sdb", true));
            count(c, &[("sda", 0.6, 1.0), ("sdb", 0.6, 0.0)]);
        },
        Reach::NotReached,
        "0.00 times",
    ),
    (
        "a layer keeps the bytes",
        |c| count(c, &[("sda", 0.2, 1.0)]),
        Reach::NotReached,
        "reached the disk",
    ),
    (
        "bytes are compressed",
        |c| {
            c.target.compresses = Some("btrfs compress=zstd".into());
            count(c, &[("sda", 0.2, 1.0)]);
        },
        Reach::Unknown,
        "may be compressed",
    ),
    (
        "sooner than a write, and nothing else is counted",
        |c| {
            take(c, 10_000.0);
            c.each(|t| t.evidence.devices.clear());
        },
        Reach::NotReached,
        "half of them took less than 10.0 µs, the fastest direct write here 50.0 µs",
    ),
    (
        "sooner than a write that was measured in a busier moment",
        |c| {
            take(c, 300_000.0);
            path(c).fastest_write_nanos = Some(8_000_000);
        },
        Reach::Unknown,
        "what was counted may be of other programs",
    ),
    (
        "sooner than a write, without a cache",
        |c| {
            disk(c).volatile_cache = Some(false);
            take(c, 10_000.0);
        },
        Reach::Unknown,
        "the fastest direct write here 50.0 µs",
    ),
    (
        "sooner than a flush",
        |c| take(c, 100_000.0),
        Reach::Unknown,
        "other programs may have flushed",
    ),
    (
        "a few slow flushes raise their mean",
        |c| {
            take(c, 280_000.0);
            c.commits.as_mut().unwrap().total.p50 = Some(100_000.0);
        },
        Reach::Flushed,
        "300 µs each",
    ),
    (
        "flushes that take no time",
        |c| {
            take(c, 80_000.0);
            c.each(|t| t.evidence.devices[0].flush_nanos = 12_000_000.into());
        },
        Reach::Unknown,
        "60.0 µs each; but a flush takes less than 5 writes into the cache (50.0 µs each): either",
    ),
    (
        "flushes that take as long as most writes, of which one was fast",
        |c| {
            take(c, 150_000.0);
            path(c).median_write_nanos = Some(90_000);
            c.each(|t| t.evidence.devices[0].flush_nanos = 24_000_000.into());
        },
        Reach::Unknown,
        "120 µs each; but a flush takes less than 5 writes into the cache (90.0 µs each)",
    ),
    (
        "flushes of eight writers that take no time",
        |c| {
            c.job.threads = 8;
            take(c, 900_000.0);
            c.each(|t| t.evidence.devices[0].flush_nanos = 64_000_000.into());
        },
        Reach::Unknown,
        "320 µs each; but a flush takes less than 12 writes into the cache (50.0 µs each)",
    ),
    (
        "writing through that takes no time",
        |c| {
            write_through(c, Sync::Dsync);
            take(c, 60_000.0);
        },
        Reach::Unknown,
        "a commit takes less than 5 writes into the cache",
    ),
    (
        "a disk that a program emulates",
        |c| elsewhere(c, "a virtual disk (QEMU NVMe Ctrl)"),
        Reach::Unknown,
        "flushed 1.00 times per commit, 300 µs each; but sda is a virtual disk (QEMU NVMe Ctrl)",
    ),
    (
        "a virtual disk",
        |c| c.machine.hypervisor = Some("KVM".into()),
        Reach::Unknown,
        "this machine is virtual (KVM)",
    ),
    (
        "a virtual disk without flushes",
        |c| {
            c.machine.hypervisor = Some("KVM".into());
            count(c, &[("sda", 1.1, 0.0)]);
        },
        Reach::NotReached,
        "0.00 times",
    ),
    (
        "a kernel that was set otherwise",
        |c| (disk(c).volatile_cache, disk(c).overridden) = (Some(false), true),
        Reach::Unknown,
        "the kernel was set to assume that it has no cache",
    ),
    ("no word of a cache", |c| disk(c).volatile_cache = None, Reach::Unknown, "does not say"),
    (
        "flushes are not counted",
        |c| c.each(|t| t.evidence.devices[0].flushes = None.into()),
        Reach::Unknown,
        "flushes of sda are not counted",
    ),
    ("no disk", |c| path(c).devices.clear(), Reach::Unknown, "the disk under ext4 is not known"),
    (
        "a loop device on tmpfs",
        |c| {
            disk(c).backing = Some(Backing {
                what: "a file in memory (tmpfs)".into(),
                memory: true,
                no_barrier: None,
            })
        },
        Reach::NotReached,
        "sda is a file in memory (tmpfs)",
    ),
    (
        "a loop device on FUSE",
        |c| elsewhere(c, "a file on fuse"),
        Reach::Unknown,
        "sda is a file on fuse",
    ),
    (
        "FUA",
        |c| write_through(c, Sync::Dsync),
        Reach::WrittenThrough,
        "it can write through (FUA), as direct I/O with dsync does",
    ),
    (
        "FUA of a virtual disk",
        |c| {
            c.machine.hypervisor = Some("KVM".into());
            write_through(c, Sync::Dsync);
        },
        Reach::Unknown,
        "virtual",
    ),
    (
        "a file system that does not write through",
        |c| {
            c.target.fs = "btrfs".into();
            write_through(c, Sync::Dsync);
        },
        Reach::Unknown,
        "which no counter shows",
    ),
    (
        "O_SYNC is not written through",
        |c| write_through(c, Sync::Osync),
        Reach::Unknown,
        "which no counter shows",
    ),
    (
        "written through, but the bytes went nowhere",
        |c| {
            write_through(c, Sync::Dsync);
            count(c, &[("sda", 0.0, 0.0)]);
        },
        Reach::NotReached,
        "only 0 B of 1000 MiB reached the disk",
    ),
    (
        "buffered writes that FUA may have made durable",
        |c| {
            disk(c).fua = Some(true);
            count(c, &[("sda", 1.0, 0.0)]);
        },
        Reach::Unknown,
        "which no counter shows",
    ),
    (
        "blocks that are written again before a sync",
        |c| {
            sync_every(c, 64, 16);
            count(c, &[("sda", 0.26, 1.0)]);
        },
        Reach::Flushed,
        "times per commit",
    ),
    (
        "blocks that are written again, but do not reach the disk",
        |c| {
            sync_every(c, 64, 16);
            count(c, &[("sda", 0.2, 1.0)]);
        },
        Reach::NotReached,
        "only 256 MiB of 320 MiB reached the disk",
    ),
    (
        "blocks in random order, some of them twice",
        |c| {
            sync_every(c, 200, 256);
            c.job.pattern = Pattern::Random;
            count(c, &[("sda", 0.8, 1.0)]);
        },
        Reach::Flushed,
        "times per commit",
    ),
    (
        "eight writers share their flushes",
        |c| {
            c.job.threads = 8;
            count(c, &[("sda", 1.1, 0.2)]);
            take(c, 2_000_000.0);
            c.each(|t| t.evidence.devices[0].flush_nanos = 60_000_000.into());
        },
        Reach::Flushed,
        "0.20 times per commit",
    ),
    (
        "eight writers have too few",
        |c| {
            c.job.threads = 8;
            count(c, &[("sda", 1.1, 0.1)]);
        },
        Reach::NotReached,
        "0.10 times per commit",
    ),
];
