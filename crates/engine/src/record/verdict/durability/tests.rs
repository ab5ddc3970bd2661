use super::*;
use crate::record::Backing;
use crate::record::verdict::testing::{Case, committed, count_devices as count, device};

fn path(case: &mut Case) -> &mut CommitPath {
    case.target.commit_path.as_mut().unwrap()
}

fn disk(case: &mut Case) -> &mut CommitDevice {
    path(case).devices.last_mut().unwrap()
}

fn found(case: &Case) -> Durability {
    durability(&case.evidence()).unwrap()
}

/// What is planted, and what is to be found of it, with a part of the reason.
type Plant = (&'static str, fn(&mut Case), Reach, &'static str);

const PLANTED: &[Plant] = &[
    ("a flush each", |_| {}, Reach::Flushed, "sda was flushed 1.00 times per commit, 300 µs each"),
    (
        "write through",
        |c| disk(c).volatile_cache = Some(false),
        Reach::NoCache,
        "1.10 bytes reached",
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
        "nobarrier beside others that flush",
        |c| path(c).no_barrier = Some("barrier=0".into()),
        Reach::NotReached,
        "mounted with barrier=0",
    ),
    ("memory", |c| c.target.memory = true, Reach::NotReached, "ext4 is memory"),
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
        "sooner than a write",
        |c| c.commits.as_mut().unwrap().total.p50 = Some(20_000.0),
        Reach::NotReached,
        "took less than 20.0 µs, the fastest direct write here 50.0 µs",
    ),
    (
        "sooner than a flush",
        |c| c.commits.as_mut().unwrap().total.p50 = Some(100_000.0),
        Reach::Unknown,
        "the flushes may be those of other programs",
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
        "a kernel that was told otherwise",
        |c| (disk(c).volatile_cache, disk(c).overridden) = (Some(false), true),
        Reach::Unknown,
        "the kernel was told that it has none",
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
        |c| disk(c).backing = Some(Backing { what: "a file on tmpfs".into(), memory: true }),
        Reach::NotReached,
        "the file of sda is in memory",
    ),
    (
        "a loop device on FUSE",
        |c| disk(c).backing = Some(Backing { what: "a file on fuse".into(), memory: false }),
        Reach::Unknown,
        "sda is a file on fuse",
    ),
    (
        "FUA",
        |c| {
            (c.job.sync, c.job.direct, disk(c).fua) = (Sync::Dsync, true, Some(true));
            count(c, &[("sda", 1.0, 0.0)]);
        },
        Reach::WrittenThrough,
        "it can write through (FUA), as direct I/O with dsync does",
    ),
    (
        "FUA of a virtual disk",
        |c| {
            c.machine.hypervisor = Some("KVM".into());
            (c.job.sync, c.job.direct, disk(c).fua) = (Sync::Dsync, true, Some(true));
            count(c, &[("sda", 1.0, 0.0)]);
        },
        Reach::Unknown,
        "virtual",
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
        "eight writers share their flushes",
        |c| {
            c.job.threads = 8;
            count(c, &[("sda", 1.1, 0.2)]);
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

#[test]
fn what_is_planted_is_found_and_nothing_more() {
    for (name, plant, reach, reason) in PLANTED {
        let mut case = committed();
        plant(&mut case);
        let found = found(&case);
        assert_eq!(found.reach, *reach, "{name}: {}", found.reason);
        assert!(found.reason.contains(reason), "{name}: {}", found.reason);
        let warned = case.warnings().iter().any(|warning| warning.id == "not-durable");
        assert_eq!(warned, *reach == Reach::NotReached && !case.target.memory, "{name}");
    }
}

#[test]
fn figures_are_per_commit_and_per_byte() {
    let Durability { flushes, flush_nanos, amplification, .. } = found(&committed());
    assert_eq!((flushes, flush_nanos), (Some(1.0), Some(300_000.0)));
    assert!((amplification.unwrap() - 1.1).abs() < 1e-6);
}

#[test]
fn only_commits_are_judged() {
    let mut case = committed();
    case.job.sync = Sync::End;
    assert_eq!(durability(&case.evidence()), None);
    let mut case = committed();
    case.target.commit_path = None;
    assert_eq!(durability(&case.evidence()), None);
    let mut case = committed();
    case.commits = None;
    assert_eq!(durability(&case.evidence()), None);
}

#[test]
fn names_are_those_of_files() {
    for reach in Reach::ALL {
        let text = serde_json::to_string(&reach).unwrap();
        assert_eq!(text, format!("\"{}\"", reach.name()));
    }
}
