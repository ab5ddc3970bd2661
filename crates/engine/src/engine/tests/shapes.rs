//! The shapes of written files: fresh, allocated without data, and one per thread.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, MetadataExt};

use super::append::trials;
use super::*;
use crate::engine::OpenTarget;
use crate::facts::ExtentMethod;
use crate::plan::{FilePer, Plan, Sync, TargetSpec, Writes};
use crate::sys::extents::extents;
use crate::sys::testing::skip;

const SPAN: u64 = 1 << 20;

fn writing(writes: Writes, file_per: FilePer, threads: u32) -> Job {
    let op = Op::Write;
    let count = Some(0);
    Job { op, writes, file_per, threads, count, block: 4096, span: SPAN, ..testing::job() }
}

fn folder() -> (tempfile::TempDir, TargetSpec) {
    // The file system of the build folder, which is rarely a tmpfs.
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let target = TargetSpec::Scratch { dir: dir.path().into(), size: SPAN, keep: false };
    (dir, target)
}

fn open(target: &TargetSpec, jobs: &[Job]) -> OpenTarget {
    let plan = Plan { cells: jobs.to_vec(), ..Plan::plain("sweep", target.clone()) };
    OpenTarget::open(&plan, target, &|| false, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn preallocated_space_is_unwritten_each_pass() {
    let (_dir, target) = folder();
    for (file_per, files) in [(FilePer::Run, 1), (FilePer::Thread, 4)] {
        let job = writing(Writes::Preallocated, file_per, 4);
        let open_target = open(&target, std::slice::from_ref(&job));
        let made = open_target.for_job(&job);
        for _ in 0..2 {
            if let Err(error) = made.make_files(&job, &|| false) {
                return skip(&format!("fallocate(2) here: {error}"));
            }
            let found = made.files(&job);
            assert_eq!(found.len(), files);
            for file in found {
                let size = SPAN / files as u64;
                assert_eq!(file.metadata().unwrap().size(), size);
                assert!(file.metadata().unwrap().blocks() * 512 >= size);
                let map = extents(file, size).unwrap();
                if map.method != ExtentMethod::Fiemap {
                    return skip("the file system has no FIEMAP");
                }
                assert_eq!(map.hole_bytes(), size, "unwritten");
                file.write_all_at(&[1; 4096], 0).unwrap();
            }
        }
    }
}

#[test]
fn threads_overwrite_their_own_files() {
    let (_dir, target) = folder();
    let job = writing(Writes::Overwrite, FilePer::Thread, 3);
    let open_target = open(&target, std::slice::from_ref(&job));
    let made = open_target.for_job(&job);
    made.make_files(&job, &|| false).unwrap();
    // 256 blocks over 3 files, in whole blocks.
    for file in made.files(&job) {
        assert_eq!(file.metadata().unwrap().size(), 86 * 4096);
        let mut first = [0; 4096];
        file.read_exact_at(&mut first, 0).unwrap();
        assert_ne!(first, [0; 4096]);
        file.write_all_at(b"kept", 0).unwrap();
    }
    made.make_files(&job, &|| false).unwrap();
    let mut start = [0; 4];
    made.files(&job)[2].read_exact_at(&mut start, 0).unwrap();
    assert_eq!(&start, b"kept", "it is not filled again");
}

fn writes(choice: &Choice) -> bool {
    info(choice).ops.contains(&Op::Write) && info(choice).moves_bytes()
}

#[test]
fn writing_backends_write_every_shape() {
    for choice in choices().into_iter().filter(writes) {
        let (dir, target) = folder();
        for (writes, file_per) in [
            (Writes::Append, FilePer::Run),
            (Writes::Append, FilePer::Thread),
            (Writes::Preallocated, FilePer::Run),
            (Writes::Preallocated, FilePer::Thread),
            (Writes::Overwrite, FilePer::Thread),
        ] {
            let job = Job { backend: choice.clone(), ..writing(writes, file_per, 4) };
            let described = info(&choice).of(&choice);
            let can = writes != Writes::Append || described.appends;
            let open_target = open(&target, std::slice::from_ref(&job));
            if !can || !supported(&open_target.for_job(&job).target, &job) {
                continue;
            }
            for trial in trials(&target, std::slice::from_ref(&job)) {
                assert_eq!(trial.bytes, SPAN, "{choice} {writes} {file_per}");
                assert_eq!(trial.evidence.notes, [], "{choice} {writes} {file_per}");
                assert_eq!(trial.evidence.unique_bytes, SPAN, "{choice} {writes} {file_per}");
                assert_eq!(trial.evidence.overlap_bytes, 0, "{choice} {writes} {file_per}");
            }
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{choice}");
    }
}

#[test]
fn appending_threads_take_the_next_block() {
    let (_dir, target) = folder();
    for (file_per, sync) in
        [(FilePer::Run, Sync::None), (FilePer::Run, Sync::Fdatasync), (FilePer::Thread, Sync::None)]
    {
        let job = Job {
            backend: Choice::plain("pread"),
            sync,
            xor: sync == Sync::None,
            ..writing(Writes::Append, file_per, 4)
        };
        for trial in trials(&target, std::slice::from_ref(&job)) {
            assert_eq!((trial.bytes, trial.resident_before), (SPAN, Some(0)), "{file_per} {sync}");
            let read = trial.evidence.read_back;
            assert_eq!(read.is_some(), job.xor, "{file_per} {sync}");
            assert!(
                read.is_none_or(|read| trial.xor.is_some_and(|xor| read.matches(xor))),
                "{file_per} {sync}"
            );
        }
    }
}
