//! Writes: afterwards the file contains what the lanes wrote, and nothing else changed.

use std::collections::HashSet;

use super::*;
use crate::plan::{Moves, Sync};
use crate::stats::random::mix;
use crate::sys::buffer::Buffer;
use crate::sys::content::Content;

fn writers() -> Vec<Choice> {
    let writes = |c: &Choice| info(c).moves() == Moves::Data && info(c).ops.contains(&Op::Write);
    choices().into_iter().filter(writes).collect()
}

/// Returns the bytes that a lane writes from: one block per slot.
pub(super) fn source(job: &Job, lane: usize) -> Vec<u8> {
    let len = job.block as usize * job.depth as usize;
    Buffer::random(len, mix(lane as u64)).unwrap().to_vec(len)
}

/// Runs `job` on a new file and compares every byte.
fn writes_all(job: Job) {
    let label = format!("{} sync {} count {:?}", job.label(), job.sync, job.count);
    let (file, before, target) = testing::file(job.span as usize + 777, 5);
    let spec = spec(job, &target, 1);
    let ran = run(&spec).unwrap_or_else(|error| panic!("{label}: {error}"));
    let after = std::fs::read(file.path()).unwrap();
    assert_eq!(after.len(), before.len(), "{label}: the size changed");
    let mut left = before;
    for (lane, coverage) in blocks(&spec, 0).iter().enumerate() {
        let source = source(&spec.job, lane);
        for (offset, len) in coverage {
            let range = *offset as usize..(offset + len) as usize;
            let written = &after[range.clone()];
            let mut slots = source.chunks_exact(spec.job.block as usize);
            assert!(
                slots.any(|slot| &slot[..written.len()] == written),
                "{label}: block at {offset}"
            );
            left[range].copy_from_slice(written);
        }
    }
    assert!(left == after, "{label}: bytes changed that were not to be written");
    let sums = assert_first_pass(&spec, &ran, &after, &label);
    calls::assert_counted(&spec, &sums, &label);
}

#[test]
fn exactly_the_blocks_are_written() {
    for choice in writers() {
        for (depth, block) in
            depths(&choice).into_iter().flat_map(|d| [1, 511, 4096, 4097].map(|b| (d, b)))
        {
            for (pattern, threads) in PATTERNS.into_iter().zip([1, 2, 3, 2]) {
                let whole = job(&choice, Op::Write, pattern, block, threads, depth);
                let (_file, _, target) = testing::file(0, 0);
                if supported(&target, &whole) {
                    writes_all(Job { count: Some(whole.blocks() * 2 / 3), ..whole.clone() });
                    writes_all(whole);
                }
            }
        }
    }
}

#[test]
fn every_sync_method_writes_the_same() {
    for choice in writers() {
        for (sync, every) in Sync::ALL.iter().flat_map(|sync| [(sync, 1), (sync, 3)]) {
            for (pattern, depth) in PATTERNS.into_iter().zip(depths(&choice).iter().cycle()) {
                let job = Job {
                    sync: *sync,
                    sync_every: every,
                    ..job(&choice, Op::Write, pattern, 4097, 2, *depth)
                };
                let (_file, _, target) = testing::file(0, 0);
                if supported(&target, &job) {
                    writes_all(job);
                }
            }
        }
    }
}

#[test]
fn each_write_group_commits_once() {
    for (id, sync, every) in [
        ("pread", Sync::Fdatasync, 1),
        ("pread+libc", Sync::Fsync, 3),
        ("preadv2", Sync::Fdatasync, 5),
        ("mmap", Sync::Msync, 1),
        ("mmap-copy", Sync::Fdatasync, 2),
        ("simd-copy", Sync::Msync, 4),
        ("uring", Sync::Fdatasync, 1),
        ("uring", Sync::Fsync, 3),
        ("aio", Sync::Fdatasync, 1),
        ("aio", Sync::Fsync, 4),
    ] {
        let choice = Choice::parse(id).unwrap();
        let depth = *depths(&choice).last().unwrap();
        let job = Job {
            sync,
            sync_every: every,
            ..job(&choice, Op::Write, Pattern::Random, 4096, 2, depth)
        };
        let (_file, _, target) = testing::file(job.span as usize, 5);
        if !supported(&target, &job) {
            continue;
        }
        let spec = spec(job, &target, 1);
        let (lanes, ran) = (blocks(&spec, 0), run(&spec).unwrap());
        for (of_lane, blocks) in ran.lanes.iter().zip(lanes) {
            let commits = of_lane.tally.commits.as_ref().unwrap();
            let (groups, total) = (blocks.len() as u64 / u64::from(every), &commits.total);
            assert_eq!(total.count(), groups, "{id} {sync} {every}");
            assert_eq!(commits.sync.count(), commits.write.count(), "{id} {sync} {every}");
            let apart = commits.sync.count() > 0;
            assert!(apart || groups == 0 || (id == "uring" && every == 1), "{id} {sync} {every}");
            assert!(!apart || commits.sync.max() <= total.max(), "{id} {sync} {every}");
        }
    }
}

#[test]
fn unsyncable_backends_refuse() {
    let (_file, _, target) = testing::file(0, 0);
    let refuses = |id: &str| {
        let choice = Choice::plain(id);
        let job = Job { sync: Sync::Dsync, ..job(&choice, Op::Write, Pattern::Seq, 4096, 1, 1) };
        Executor::from_choice(&choice).unwrap().check(&target, &job).is_err()
    };
    assert!(refuses("stdio") && refuses("mmap-copy"));
    assert!(!refuses("pread") && !refuses("read"));
}

#[test]
fn foreign_files_are_never_written() {
    let (file, before, target) = testing::file(8192, 6);
    let target = Target { writable: false, ..target };
    for choice in writers() {
        let job = Job { span: 8192, ..job(&choice, Op::Write, Pattern::Seq, 4096, 2, 1) };
        if supported(&target, &job) {
            let error = run(&spec(job, &target, 1)).err().unwrap();
            assert!(error.contains("only to files it created"), "{choice}: {error}");
        }
    }
    assert_eq!(std::fs::read(file.path()).unwrap(), before);
}

/// Writes a job and returns the percentage of its blocks that are identical to another.
fn percent_identical(job: &Job, content: Content) -> f64 {
    let (file, _, target) = testing::file(job.span as usize, 5);
    let target = Target { content: Some(content), ..target };
    let spec = spec(job.clone(), &target, 1);
    let ran = run(&spec).unwrap_or_else(|error| panic!("{}: {error}", job.label()));
    let after = std::fs::read(file.path()).unwrap();
    assert_first_pass(&spec, &ran, &after, &job.label());
    let blocks = after.chunks(job.block as usize);
    let unique: HashSet<&[u8]> = blocks.clone().collect();
    100.0 * (blocks.len() - unique.len()) as f64 / blocks.len() as f64
}

#[test]
fn written_blocks_differ_or_repeat() {
    for choice in writers() {
        for depth in depths(&choice) {
            let whole =
                Job { span: 4 << 20, ..job(&choice, Op::Write, Pattern::Random, 4096, 1, depth) };
            let (_file, _, target) = testing::file(0, 0);
            if !supported(&target, &whole) {
                continue;
            }
            for dedupe in [0, 30] {
                let found = percent_identical(&whole, Content::new(40, dedupe));
                let label = format!("{} depth {depth}", whole.label());
                assert!((found - f64::from(dedupe)).abs() <= 2.0, "{label}: {found}");
            }
        }
    }
}
