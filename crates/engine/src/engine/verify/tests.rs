//! Every backend that writes, read back as it is and with planted faults.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;
use crate::backend::{Target, testing};
use crate::engine::Control;
use crate::engine::tests::{
    DRAWN, PATTERNS, choices, depths, info, job, run, run_with, spec, supported,
};
use crate::plan::{Choice, FilePer, Moves, Plan, Sync, TargetSpec, TrialTime, Writes};
use crate::record::{Age, BadBlocks, Event, MachineEvidence, ReadFrom};
use crate::stats::random::mix;
use proptest::prelude::*;

const SEED: u64 = 5;

/// Returns a file of at least `len` bytes, filled, and the target whose blocks are stamped.
fn file(len: u64, trial: u32) -> (tempfile::NamedTempFile, Target) {
    let (file, _, target) = testing::file(0, 0);
    let mut data = vec![0; len as usize];
    FileData::random(SEED).fill(0, &mut data);
    std::fs::write(file.path(), &data).unwrap();
    let stamps = Some(Stamps::new(mix(3)).of_trial(trial));
    (file, Target { stamps, size: len, ..target })
}

fn plain_ground() -> io::Result<FileGround> {
    Ok(FileGround::default())
}

fn check(file: &File, spec: &Spec, lanes: &[LaneResult]) -> Verified {
    verify(&[file], FileData::random(SEED), spec, lanes, &plain_ground, &|| false)
        .unwrap_or_else(|_| panic!("failed"))
        .unwrap()
}

/// Runs the job and reads it back, then again with a flipped bit in the middle of what it wrote.
fn verifies(job: Job, passes: u64) {
    let label = format!("{} {:?} sync {} x {passes}", job.label(), job.pattern, job.sync);
    let (file, target) = file(job.span + 777, 1);
    let spec = spec(job, &target, passes);
    let lanes = run(&spec).unwrap_or_else(|error| panic!("{label}: {error}")).lanes;
    let found = check(file.as_file(), &spec, &lanes);
    assert_eq!((found.bad, found.first.len()), (BadBlocks::default(), 0), "{label}: {found:?}");
    assert!(found.is_complete(), "{label}");
    let mut written = HashMap::new();
    for lane in &lanes {
        let (share, tally) = (&lane.share, &lane.tally);
        assert_eq!((tally.passes, tally.rest), (passes, 0), "{label}");
        for pass in 0..passes {
            let mut index = 0;
            share.replay(pass, u64::MAX, |offset, len| {
                if share.writes(pass, index) {
                    written.insert(offset, len);
                }
                index += 1;
            });
        }
    }
    assert_eq!(found.written, written.values().sum::<u64>(), "{label}");
    assert_eq!(found.blocks, written.len() as u64, "{label}");
    let Some((offset, len)) = written.into_iter().max() else { return };
    let at = offset + len / 2;
    let mut byte = [0];
    file.as_file().read_exact_at(&mut byte, at).unwrap();
    file.as_file().write_all_at(&[byte[0] ^ 4], at).unwrap();
    let changed = bad(at, Found::Changed { bytes: 1 });
    let found = check(file.as_file(), &spec, &lanes);
    assert_eq!((found.bad.total(), found.first), (1, vec![changed]), "{label}");
}

fn bad(offset: u64, found: Found) -> BadBlock {
    BadBlock::new(offset, None, found)
}

fn writers() -> impl Iterator<Item = Choice> {
    let writes = |c: &Choice| info(c).moves() == Moves::Data && info(c).ops.contains(&Op::Write);
    choices().into_iter().filter(writes)
}

#[test]
fn writes_of_all_backends_verify() {
    let kinds = PATTERNS.into_iter().zip([1, 2, 3, 2]).zip([1, 2, 3, 2]).zip([24, 520, 4096, 4096]);
    for choice in writers() {
        let plain = choice.options.is_empty();
        for (depth, ((pattern, threads), passes), block) in depths(&choice)
            .into_iter()
            .flat_map(|depth| kinds.clone().map(move |(kind, block)| (depth, kind, block)))
            .skip(if plain { 0 } else { 3 })
            .step_by(if plain { 1 } else { 4 })
        {
            let whole = job(&choice, Op::Write, pattern, block, threads, depth);
            let (_file, target) = file(0, 0);
            if supported(&target, &whole) {
                let part = Job { count: Some(whole.blocks() * 2 / 3), ..whole.clone() };
                verifies(part, passes);
                verifies(whole, passes);
            }
        }
    }
}

#[test]
fn drawn_writes_verify() {
    for choice in writers() {
        for (pattern, (block, passes)) in DRAWN.into_iter().zip([(520, 1), (4096, 4)]) {
            let whole = job(&choice, Op::Write, pattern, block, 2, 1);
            let (_file, target) = file(0, 0);
            if supported(&target, &whole) {
                verifies(Job { span: 40 * block, ..whole }, passes);
            }
        }
    }
}

#[test]
fn durable_and_mixed_writes_verify() {
    for choice in writers().filter(|choice| choice.options.is_empty()) {
        for (sync, every) in Sync::ALL.iter().map(|sync| (sync, 3)) {
            let depth = *depths(&choice).last().unwrap();
            let whole = job(&choice, Op::Write, Pattern::Random, 4096, 2, depth);
            let synced = Job { sync: *sync, sync_every: every, ..whole.clone() };
            let (_file, target) = file(0, 0);
            if supported(&target, &synced) {
                verifies(synced, 2);
            }
            for percent in [10, 70, 100] {
                let mixed = Job { mix: Some(percent), xor: false, ..whole.clone() };
                if info(&choice).mixes && *sync == Sync::None && supported(&target, &mixed) {
                    verifies(mixed, 3);
                }
            }
        }
    }
}

/// A job of 40 blocks of 4 KiB.
fn plain() -> Job {
    Job {
        span: 40 * 4096,
        block: 4096,
        xor: false,
        ..Job::plain(Choice::plain("pread"), Op::Write)
    }
}

#[test]
fn early_end_is_verified_in_part() {
    let plain = Job { span: 16 << 20, pattern: Pattern::Random, ..plain() };
    let (file, target) = file(plain.span, 1);
    let queued = Job { depth: 8, backend: Choice::plain("uring"), ..plain.clone() };
    let job = if supported(&target, &queued) { queued } else { plain };
    let spec = spec(job, &target, 1_000_000);
    let begun = std::cell::Cell::new(false);
    let lanes = run_with(&spec, &mut || begun.set(true), &|| begun.get()).unwrap().lanes;
    assert!(lanes[0].tally.ops > 0);
    let found = check(file.as_file(), &spec, &lanes);
    assert_eq!(found.bad, BadBlocks::default());
    assert!(found.is_complete() && found.written > 0);
}

#[test]
fn faults_are_found_with_their_place() {
    let (file, target) = file(plain().span, 1);
    let earlier = spec(plain(), &target, 1);
    run(&earlier).unwrap();
    let before = std::fs::read(file.path()).unwrap();
    let target = Target { stamps: target.stamps.map(|stamps| stamps.of_trial(2)), ..target };
    let lanes = |spec: &Spec| run(spec).unwrap().lanes;
    let spec = spec(plain(), &target, 2);
    let lanes = lanes(&spec);
    let right = std::fs::read(file.path()).unwrap();
    let mut filled = vec![0; right.len()];
    FileData::random(SEED).fill(0, &mut filled);
    let block = |from: &[u8], index: usize| from[index * 4096..][..4096].to_vec();
    let faults = [
        (3, block(&before, 3), Found::Older { written: Age::Trial }),
        (5, block(&filled, 5), Found::Older { written: Age::Filled }),
        (8, vec![0; 4096], Found::Zeros),
        (13, block(&right, 39), Found::Elsewhere { of: 39 * 4096, of_file: None }),
    ];
    for (index, other, _) in &faults {
        file.as_file().write_all_at(other, index * 4096).unwrap();
    }
    file.as_file().set_len(39 * 4096 + 100).unwrap();
    let found = check(file.as_file(), &spec, &lanes);
    let expected = faults.map(|(index, _, found)| bad(index * 4096, found));
    let end = bad(39 * 4096 + 100, Found::Missing);
    assert_eq!(found.first, expected.into_iter().chain([end]).collect::<Vec<_>>());
    let counts = BadBlocks { older: 2, zeros: 1, elsewhere: 1, changed: 0, missing: 1, torn: 0 };
    assert_eq!((found.bad, found.blocks), (counts, 40));
    assert!(lanes[0].tally.stamp_nanos > 0 && found.stamp_nanos > 0);
}

/// In a separate process, as what others read from a disk is counted with it.
#[test]
fn memory_is_no_device() {
    const NAME: &str = "engine::verify::tests::memory_is_no_device";
    if !crate::sys::testing::is_alone(NAME, "memory") {
        return;
    }
    let Some(memory) = crate::sys::testing::file_in_memory() else { return };
    let (_file, target) = file(0, 1);
    let held = crate::sys::fd::HeldFile::new(memory.try_clone().unwrap(), None).unwrap();
    let target = Target { held: Some(held), size: plain().span, ..target };
    memory.set_len(plain().span).unwrap();
    let spec = spec(plain(), &target, 1);
    let lanes = run(&spec).unwrap().lanes;
    let found = check(&memory, &spec, &lanes);
    assert_eq!((found.bad.total(), found.read_from()), (0, ReadFrom::Cache));
    assert_eq!(found.left, Some(plain().span));
}

#[test]
fn unstamped_data_is_not_verified() {
    let (file, target) = file(plain().span, 1);
    let read = |target: &Target, stop: bool| {
        let spec = spec(plain(), target, 1);
        let lanes = run(&spec).unwrap().lanes;
        let files = [file.as_file()];
        verify(&files, FileData::random(SEED), &spec, &lanes, &plain_ground, &|| stop)
            .unwrap_or_else(|_| panic!("failed"))
    };
    assert_eq!(read(&Target { stamps: None, ..target.clone() }, false), None);
    assert_eq!(read(&target, true), None);
    assert!(read(&target, false).is_some());
}

#[test]
fn stop_while_verifying_leaves_a_part() {
    let job = Job { span: 8 << 20, ..plain() };
    let (file, target) = file(job.span, 1);
    let spec = spec(job, &target, 1);
    let lanes = run(&spec).unwrap().lanes;
    let calls = std::cell::Cell::new(0);
    let stop = || {
        calls.set(calls.get() + 1);
        calls.get() > 4
    };
    let files = [file.as_file()];
    let found = verify(&files, FileData::random(SEED), &spec, &lanes, &plain_ground, &stop)
        .unwrap_or_else(|_| panic!());
    let found = found.unwrap();
    assert_eq!((found.written, found.bad.total()), (8 << 20, 0));
    assert!(found.bytes > 0 && !found.is_complete(), "{found:?}");
}

proptest! {
    #[test]
    fn last_write_per_block_is_known(
        blocks in 1u64..60,
        quota in 0u64..60,
        rest in 0u64..60,
        passes in 0u64..5,
        reads in prop_oneof![Just(0u8), 1u8..=100],
        pattern in proptest::sample::select(&PATTERNS),
    ) {
        let job = Job { span: blocks * 512, block: 512, pattern, ..plain() };
        let share = Share { reads, ..Share::for_lane(&job, 0, quota, 9) };
        let rest = rest.min(share.quota);
        let coverage = Coverage { file: 0, share, passes, rest, unvisited: Vec::new() };
        let mut expected = vec![0; blocks as usize];
        for (pass, operations) in (0..passes).map(|pass| (pass, share.quota)).chain([(passes, rest)]) {
            let order = share.order(pass);
            for index in (0..operations).filter(|index| share.writes(pass, *index)) {
                expected[order.block(index) as usize] = pass as u32 + 1;
            }
        }
        prop_assert_eq!(LastWrites::new(&coverage).unwrap().passes, expected);
    }
}

/// Returns the trials of two rounds of these cells, each read back.
fn verified_trials(cells: Vec<Job>) -> Vec<(Job, crate::record::Trial)> {
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let target = TargetSpec::Scratch { dir: dir.path().into(), size: 1 << 20, keep: false };
    let plan = Plan { cells, trials: Some(2), verify: true, ..Plan::plain("sweep", target) };
    let plan = Plan {
        trial_time: TrialTime::from_duration(Duration::from_millis(2)),
        budget: Duration::from_secs(600),
        ..plan
    };
    let mut trials = Vec::new();
    let mut sink = |event| match event {
        Event::Trial { trial, .. } => {
            trials.push((plan.cells[trial.cell as usize].clone(), (*trial).clone()));
        }
        Event::Failed { cell, error } => panic!("{}: {error}", plan.cells[cell as usize].label()),
        _ => {}
    };
    static STOP: AtomicBool = AtomicBool::new(false);
    let (plan, control) = (Arc::new(plan.clone()), Control::new(&STOP));
    crate::engine::run(&plan, MachineEvidence::default, &control, &mut sink).unwrap();
    trials
}

#[test]
fn files_of_every_shape_verify() {
    let (_file, target) = file(0, 0);
    let mut cells = Vec::new();
    for (writes, file_per, threads) in [
        (Writes::Append, FilePer::Run, 1),
        (Writes::Append, FilePer::Run, 3),
        (Writes::Append, FilePer::Thread, 3),
        (Writes::Overwrite, FilePer::Thread, 3),
        (Writes::Preallocated, FilePer::Run, 2),
        (Writes::Preallocated, FilePer::Thread, 2),
    ] {
        for (id, block) in [("pread", 2300), ("uring", 4096)] {
            let backend = Choice::plain(id);
            let job = Job { writes, file_per, threads, block, span: 1 << 20, ..plain() };
            let job =
                Job { backend, sync: Sync::Fdatasync, sync_every: 64, count: Some(100), ..job };
            if supported(&target, &job) {
                cells.push(job);
            }
        }
    }
    let planned = cells.len();
    let trials = verified_trials(cells);
    assert_eq!(trials.len(), planned * 2);
    for (job, trial) in trials {
        let label = format!("{} {} {}", job.label(), job.writes, job.file_per);
        let verified = trial.evidence.verified.unwrap();
        assert_eq!(verified.first, [], "{label}");
        assert_eq!((verified.bytes, verified.written), (trial.bytes, trial.bytes), "{label}");
        assert_eq!(verified.blocks, 100 * trial.evidence.parts, "{label}");
        assert!(verified.is_complete() && verified.nanos > 0, "{label}");
    }
}

#[test]
fn only_writing_cells_verify() {
    let read = Job { op: Op::Read, ..plain() };
    for (job, trial) in verified_trials(vec![plain(), read]) {
        assert_eq!(trial.evidence.verified.is_some(), job.op == Op::Write);
    }
}

#[test]
fn reading_back_counts_differing_blocks() {
    let (_file, block, _) = testing::file(511, 3);
    let piece = PIECE as usize;
    for len in [7, 511, 4096, piece + 1, 2 * piece + 4097] {
        let data: Vec<u8> = block.iter().copied().cycle().take(len).collect();
        let (file, ..) = testing::file(0, 0);
        std::fs::write(file.path(), &data).unwrap();
        let back = |len: u64| read_back(file.as_file(), Some(&block), len, &|| false).unwrap();
        assert_eq!(
            back(len as u64),
            Some(ReadBack { xor: Xor(testing::xor(&data)), other_blocks: 0 }),
            "{len}"
        );
        let short = back(len as u64 + 1).map(|back| back.other_blocks);
        assert_eq!(short, Some(1), "one byte of {len} is missing");
        let mut other = data.clone();
        (other[0], other[len - 1]) = (!data[0], !data[len - 1]);
        std::fs::write(file.path(), &other).unwrap();
        assert_eq!(
            back(len as u64).map(|back| back.other_blocks),
            Some(if len > 511 { 2 } else { 1 }),
            "{len}"
        );
    }
    let (file, data, _) = testing::file(10, 3);
    assert_eq!(read_back(file.as_file(), Some(&block), 10, &|| true).unwrap(), None);
    let differing = read_back(file.as_file(), None, 10, &|| false).unwrap();
    assert_eq!(differing, Some(ReadBack { xor: Xor(testing::xor(&data)), other_blocks: 0 }));
}
