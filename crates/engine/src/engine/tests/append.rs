//! Files that trials create: empty before each pass, then exactly what was written; no other file
//! is truncated.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::writes::source;
use super::*;
use crate::engine::{Control, OpenTarget};
use crate::plan::{Cache, Moves, Plan, Sync, TargetSpec, TrialTime, Writes};
use crate::record::{Event, MachineEvidence, Trial};

static GO: AtomicBool = AtomicBool::new(false);

fn appending(choice: &Choice, block: u64) -> Job {
    Job {
        writes: Writes::Append,
        cache: Cache::AsIs,
        xor: true,
        ..job(choice, Op::Write, Pattern::Seq, block, 1, 1)
    }
}

#[test]
fn appending_backends_grow_an_empty_file() {
    for choice in choices().into_iter().filter(|choice| info(choice).appends) {
        assert_eq!(info(&choice).moves(), Moves::Data);
        for block in [1, 511, 4096, 4097] {
            let job = appending(&choice, block);
            let (file, _, target) = testing::file(0, 0);
            if !supported(&target, &job) {
                continue;
            }
            let job = Job { count: Some(job.blocks() * 2 / 3), ..job };
            let spec = spec(job.clone(), &target, 1);
            let sums =
                sums(&run(&spec).unwrap_or_else(|error| panic!("{choice} {block}: {error}")));
            let written = fs::read(file.path()).unwrap();
            assert_eq!(
                (written.len() as u64, sums.bytes),
                (spec.count * block, spec.count * block),
                "{choice} {block}"
            );
            assert!(
                written.chunks(block as usize).all(|own| own == source(&job, 0)),
                "{choice} {block}"
            );
            assert_eq!(sums.folds[0], testing::xor(&written), "{choice} {block}");
        }
    }
}

/// Returns the trials of two rounds of these cells on this target.
pub(super) fn trials(target: &TargetSpec, cells: &[Job]) -> Vec<Trial> {
    let plan =
        Plan { cells: cells.to_vec(), trials: Some(2), ..Plan::plain("sweep", target.clone()) };
    let plan = Plan {
        budget: Duration::from_secs(60),
        trial_time: TrialTime::from_duration(Duration::from_millis(1)),
        ..plan
    };
    let mut trials = Vec::new();
    let mut sink = |event| match event {
        Event::Trial { trial, .. } => trials.push((*trial).clone()),
        Event::Failed { error, .. } => panic!("{error}"),
        _ => {}
    };
    crate::engine::run(&Arc::new(plan), MachineEvidence::default, &Control::new(&GO), &mut sink)
        .unwrap();
    trials.sort_by_key(|trial| (trial.cell, trial.round));
    trials
}

fn of_file(count: Option<u64>, writes: Writes, op: Op) -> Job {
    Job {
        op,
        writes,
        count,
        block: 512,
        span: 1 << 20,
        cache: Cache::AsIs,
        xor: true,
        ..testing::job()
    }
}

#[test]
fn new_file_holds_its_last_trial() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new.bin");
    let target = TargetSpec::New { path: path.clone(), size: 1 << 20 };
    let job = Job { sync: Sync::End, ..of_file(Some(300), Writes::Append, Op::Write) };
    let found = trials(&target, std::slice::from_ref(&job));
    let written = fs::read(&path).unwrap();
    assert_eq!((found.len(), written.len()), (2, 300 * 512));
    assert!(written.chunks(512).all(|block| block == source(&job, 0)));
    for trial in found {
        assert_eq!(
            (trial.bytes, trial.resident_before, trial.evidence.notes),
            (300 * 512, Some(0), vec![])
        );
        assert_eq!(trial.xor.map(|xor| xor.0), Some(testing::xor(&written)));
        assert!(trial.evidence.read_back.unwrap().matches(trial.xor.unwrap()));
    }
}

#[test]
fn overwriting_cells_find_a_whole_file() {
    let dir = tempfile::tempdir().unwrap();
    let target = TargetSpec::Scratch { dir: dir.path().into(), size: 1 << 20, keep: false };
    let cells = [
        of_file(Some(0), Writes::Append, Op::Write),
        of_file(Some(0), Writes::Overwrite, Op::Read),
        of_file(None, Writes::Append, Op::Write),
        of_file(Some(0), Writes::Overwrite, Op::Write),
    ];
    let found = trials(&target, &cells);
    assert_eq!(found.len(), 8);
    for trial in &found {
        let appends = cells[trial.cell as usize].appends();
        let passes = trial.bytes / (1 << 20);
        assert!(
            appends || trial.bytes == passes << 20,
            "cell {}: {} bytes",
            trial.cell,
            trial.bytes
        );
        assert_eq!(trial.resident_before == Some(0), appends, "cell {}", trial.cell);
        assert_eq!(trial.evidence.read_back.is_some(), appends);
        assert!(
            trial
                .evidence
                .read_back
                .is_none_or(|read| trial.xor.is_some_and(|xor| read.matches(xor)))
        );
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A plan from elsewhere may contain anything.
#[test]
fn foreign_files_are_never_emptied() {
    let (file, before, _) = testing::file(8192, 6);
    let target = TargetSpec::File { path: file.path().into(), size: 8192 };
    let open_target =
        OpenTarget::open(&Plan::plain("sweep", target.clone()), &target, &|| false, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
    let job = Job { span: 8192, ..of_file(Some(0), Writes::Append, Op::Write) };
    for writes in [Writes::Append, Writes::Preallocated] {
        let refused = open_target.make_files(&Job { writes, ..job.clone() }, &|| false);
        assert!(refused.unwrap_err().to_string().contains("only files it created"), "{writes}");
    }
    let plan = Plan { cells: vec![job], trials: Some(1), ..Plan::plain("sweep", target) };
    let mut failed = Vec::new();
    let mut sink = |event| match event {
        Event::Failed { error, .. } => failed.push(error),
        Event::Trial { .. } => panic!("it was measured"),
        _ => {}
    };
    let ended = crate::engine::run(
        &Arc::new(plan),
        MachineEvidence::default,
        &Control::new(&GO),
        &mut sink,
    );
    assert!(ended.is_err() || failed.len() == 1, "{failed:?}");
    assert_eq!(fs::read(file.path()).unwrap(), before);
}

#[test]
fn files_are_written_several_times() {
    let dir = tempfile::tempdir().unwrap();
    let kept = |keep| TargetSpec::Scratch { dir: dir.path().into(), size: 9 << 20, keep };
    let new = TargetSpec::New { path: dir.path().join("new.bin"), size: 9 << 20 };
    for target in [kept(false), kept(true), new] {
        let plan = Plan { precondition: Some(3), ..Plan::plain("sweep", target) };
        let mut written = Vec::new();
        let opened = OpenTarget::open(&plan, &plan.target, &|| false, &mut |bytes| {
            written.push(bytes);
            ControlFlow::Continue(())
        });
        assert_eq!(opened.unwrap().file.metadata().unwrap().len(), 9 << 20);
        assert!(written.is_sorted() && written.last() == Some(&(27 << 20)), "{written:?}");
    }
}

#[test]
fn namesake_file_keeps_its_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let (path, aside) = (dir.path().join("new.bin"), dir.path().join("aside.bin"));
    let target = TargetSpec::New { path: path.clone(), size: 4096 };
    let plan = Plan {
        cells: vec![of_file(Some(8), Writes::Append, Op::Write)],
        ..Plan::plain("sweep", target)
    };
    let open_target =
        OpenTarget::open(&plan, &plan.target, &|| false, &mut |_| ControlFlow::Continue(()))
            .unwrap();
    fs::rename(&path, &aside).unwrap();
    fs::write(&path, "precious").unwrap();
    fs::write(&aside, "its own").unwrap();
    open_target.make_files(&plan.cells[0], &|| false).unwrap();
    fn len(path: &Path) -> u64 {
        fs::metadata(path).unwrap().len()
    }
    assert_eq!((len(&path), len(&aside)), (8, 0));
}
