use super::*;
use crate::record::{Latency, Source};
use crate::session::{Session, list, load, testing};
use std::os::unix::fs::PermissionsExt;
use std::time::UNIX_EPOCH;

fn recorder(dir: &Path, name: Option<&str>) -> Recorder {
    Recorder::create(
        dir,
        &NewSession {
            name,
            slug: "My File",
            host: &Host::default(),
            plan: &testing::plan(2),
            created: UNIX_EPOCH + testing::CREATED,
        },
    )
    .unwrap()
}

fn kinds(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    fn kind(line: &str) -> String {
        serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"]
            .as_str()
            .unwrap()
            .to_string()
    }
    text.lines().map(kind).collect()
}

fn verdict(reason: &str) -> Event {
    let latency = Latency {
        count: 3,
        every: 1,
        mean: 5.25,
        max: 9.0,
        buckets: vec![(3, 1), (9, 2)],
        ..Latency::default()
    };
    let source = Source { device: 0.1, page_cache: 0.7, hole: 0.2, unknown: 0.0, below: 0.0 };
    let verdict = Verdict {
        source: Some(source),
        source_reason: reason.into(),
        latency: Some(latency),
        ..Verdict::default()
    };
    Event::Verdict { cell: 0, verdict: Arc::new(verdict) }
}

#[test]
fn ids_names_and_modes() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("a/b");
    let first = recorder(&store, Some(" nightly\n"));
    assert_eq!(
        (first.id(), first.name(), first.renamed()),
        ("20261121-093011-my-file", "nightly", false)
    );
    let second = recorder(&store, Some("nightly"));
    assert_eq!(
        (second.id(), second.name(), second.renamed()),
        ("20261121-093011-my-file-2", "nightly-2", true)
    );
    assert_eq!(recorder(&store, None).name(), "");
    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }
    assert_eq!((mode(&store), mode(first.path())), (0o700, 0o600));
    assert!(matches!(
        Recorder::create(
            &store,
            &NewSession {
                name: Some("\n"),
                slug: "x",
                host: &Host::default(),
                plan: &testing::plan(1),
                created: UNIX_EPOCH
            }
        ),
        Err(SessionError::Name(_))
    ));
}

#[test]
fn recorded_events_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = recorder(dir.path(), Some("n"));
    let mut session = Session::new(
        recorder.id().into(),
        "n".into(),
        recorder.created().into(),
        Host::default(),
        testing::plan(2),
    );
    let plan = Arc::new(testing::plan(3));
    let events = [
        Event::Plan { plan },
        Event::Grounds { grounds: Arc::default() },
        Event::Calibrated { cell: 0, count: 4, passes: 1, nanos: 9, whole: true },
        testing::trial_event(0, 1, 1 << 20),
        Event::Latencies { log: testing::latencies(0, 1) },
        testing::trial_event(2, 1, u64::MAX),
        // The plan has no such cell.
        Event::Latencies { log: testing::latencies(3, 1) },
        verdict("first"),
        Event::Note { text: "a note".into() },
        Event::Failed { cell: 1, error: "no way".into() },
        testing::trial_event(0, 2, 3),
        verdict("second"),
        Event::End { reason: End::Goal, seconds: Some(1.5) },
        Event::Note { text: "too late".into() },
    ];
    let (late, events) = events.split_last().unwrap();
    for event in events {
        recorder.record(event);
        session.apply(event);
    }
    recorder.record(late);
    recorder.finish(End::Failed);
    assert_eq!(recorder.unsaved(), None);
    // A cell with trials but no verdict is judged on loading.
    let loaded = load(recorder.path()).unwrap();
    assert!(session.verdicts[2].is_none() && loaded.verdicts[2].is_some());
    session.verdicts[2] = loaded.verdicts[2].clone();
    assert_eq!(loaded, session);
    let logs: Vec<_> = loaded.latency_logs().collect();
    assert_eq!((logs.len(), logs[0].0), (1, &loaded.trials[0]));
    assert_eq!(logs[0].1.entries().iter().map(|entry| entry.index).collect::<Vec<_>>(), [0, 1, 9]);
    // The second verdict came within 10 s, so it was written only at the end.
    let lines = kinds(recorder.path());
    let expected = "session copy plan plan grounds calibrated trial latencies trial verdict note verdict trial verdict end";
    assert_eq!(lines.join(" "), expected);
}

#[test]
fn verdicts_are_rewritten_after_an_interval() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = recorder(dir.path(), None);
    recorder.record(&verdict("first"));
    recorder.record(&verdict("second"));
    assert_eq!(kinds(recorder.path()).len(), 3);
    recorder.verdict_interval = Duration::ZERO;
    recorder.record(&verdict("third"));
    assert_eq!(kinds(recorder.path()).len(), 4);
    recorder.finish(End::Finished);
    assert_eq!(kinds(recorder.path()).len(), 5);
}

#[test]
fn merged_samples_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = recorder(dir.path(), None);
    let samples: Vec<Sample> =
        (1..=1000).map(|at| Sample { at, nanos: 1, bytes: 2, ops: 3, syscalls: 4 }).collect();
    recorder.record(&Event::Trial {
        trial: Arc::new(testing::trial(1, 4, 5)),
        samples,
        latency: None,
    });
    let found = crate::session::samples(recorder.path(), 1).unwrap();
    let (cell, round, samples) = &found[0];
    assert_eq!((found.len(), *cell, *round), (1, 1, 4));
    assert!(samples.len() <= Sample::MAX_PER_TRIAL && samples.len() > Sample::MAX_PER_TRIAL / 3);
    assert_eq!(
        (samples.iter().map(|s| s.bytes).sum::<u64>(), samples.last().unwrap().at),
        (2000, 1000)
    );
    assert_eq!(crate::session::samples(recorder.path(), 0).unwrap(), []);
}

#[test]
fn infinities_keep_the_file_readable() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = recorder(dir.path(), None);
    let Event::Verdict { verdict, .. } = verdict("odd") else { unreachable!() };
    let mut verdict = Verdict::clone(&verdict);
    verdict.latency.as_mut().unwrap().mean = f64::NAN;
    verdict.source.as_mut().unwrap().hole = f64::INFINITY;
    verdict.amplification = Some(f64::NAN);
    recorder.record(&Event::Verdict { cell: 1, verdict: verdict.into() });
    recorder.record(&testing::trial_event(7, 1, 1));
    let loaded = load(recorder.path()).unwrap();
    assert_eq!(
        loaded.verdicts[1],
        Some(Arc::new(Verdict { source_reason: "odd".into(), ..Verdict::default() }))
    );
    assert_eq!(loaded.trials, []);
}

#[test]
fn full_disks_stop_no_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = recorder(dir.path(), None);
    recorder.record(&testing::trial_event(0, 1, 1));
    // A device that is always full.
    let full = fs::OpenOptions::new().append(true).open("/dev/full").unwrap();
    let file = recorder.sink.swap(full);
    recorder.record(&testing::trial_event(0, 2, 2));
    recorder.record(&testing::trial_event(0, 3, 3));
    let why = recorder.unsaved().unwrap();
    assert!(why.ends_with(": no space left on device"), "{why}");
    recorder.sink.swap(file);
    recorder.finish(End::Finished);
    assert_eq!(recorder.unsaved(), None);
    assert_eq!(load(recorder.path()).unwrap().trials.len(), 3);
}

#[test]
fn late_files_are_complete() {
    let dir = tempfile::tempdir().unwrap();
    let (store, way) = (dir.path().join("a/b"), dir.path().join("a"));
    fs::write(&way, "in the way").unwrap();
    let mut recorder = Recorder::create_or_wait(
        &store,
        &NewSession {
            name: Some("n"),
            slug: "x",
            host: &Host::default(),
            plan: &testing::plan(2),
            created: UNIX_EPOCH + testing::CREATED,
        },
    )
    .unwrap();
    assert!(recorder.unsaved().unwrap().contains("not a directory"), "{:?}", recorder.unsaved());
    recorder.record(&testing::trial_event(0, 1, 1));
    recorder.record(&verdict("first"));
    assert!(!recorder.is_kept() && recorder.unsaved().is_some());
    // Another session takes the name and the id first.
    fs::remove_file(&way).unwrap();
    assert_eq!(testing::recorded(&store, Some("n"), "x"), recorder.id());
    recorder.record(&testing::trial_event(1, 1, 2));
    assert_eq!(
        (recorder.unsaved(), recorder.is_kept(), recorder.renamed(), recorder.name()),
        (None, true, true, "n-2")
    );
    recorder.finish(End::Finished);
    let loaded = load(recorder.path()).unwrap();
    assert_eq!(
        (loaded.id.as_str(), loaded.name.as_str(), loaded.trials.len()),
        ("20261121-093011-x-2", "n-2", 2)
    );
    assert_eq!(kinds(recorder.path()).join(" "), "session copy trial verdict trial end");
    assert_eq!(fs::read_dir(&store).unwrap().count(), 2);
}

#[test]
fn removed_files_are_recreated() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let mut recorder = recorder(&store, None);
    for round in 1..=300 {
        recorder.record(&testing::trial_event(0, round, 1));
    }
    fs::remove_dir_all(&store).unwrap();
    recorder.record(&testing::trial_event(1, 1, 2));
    assert_eq!((recorder.unsaved(), load(recorder.path()).unwrap().trials.len()), (None, 301));
    // Not if something else has replaced the folder; the missing part is reported then.
    fs::rename(&store, dir.path().join("away")).unwrap();
    fs::write(&store, "in the way").unwrap();
    recorder.record(&testing::trial_event(1, 2, 2));
    assert!(
        recorder.unsaved().unwrap().starts_with("its file was removed: "),
        "{:?}",
        recorder.unsaved()
    );
    fs::remove_file(&store).unwrap();
    recorder.finish(End::Goal);
    let loaded = load(recorder.path()).unwrap();
    assert_eq!((recorder.unsaved(), loaded.trials.len(), loaded.end), (None, 302, Some(End::Goal)));
}

#[test]
fn lost_lines_are_noted_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = recorder(dir.path(), None);
    let full = fs::OpenOptions::new().append(true).open("/dev/full").unwrap();
    let file = recorder.sink.swap(full);
    for _ in 0..3 {
        recorder.record(&Event::Note { text: "x".repeat(500_000) });
    }
    assert!(recorder.unsaved().unwrap().contains("1 lost"), "{:?}", recorder.unsaved());
    recorder.sink.swap(file);
    recorder.finish(End::Budget);
    assert_eq!(kinds(recorder.path()).join(" "), "session copy note note note end");
    assert!(load(recorder.path()).unwrap().notes[2].starts_with("1 line of this session was lost"));
    assert!(recorder.unsaved().unwrap().starts_with("1 line was lost"));
}

#[test]
fn paths_of_any_bytes_survive() {
    use std::os::unix::ffi::OsStringExt;
    let dir = tempfile::tempdir().unwrap();
    let path = PathBuf::from(std::ffi::OsString::from_vec(b"/tmp/\xff\n".to_vec()));
    let plan = Plan { target: crate::plan::TargetSpec::File { path, size: 1 }, ..testing::plan(1) };
    let recorder = Recorder::create(
        dir.path(),
        &NewSession {
            name: None,
            slug: "",
            host: &Host::default(),
            plan: &plan,
            created: UNIX_EPOCH,
        },
    )
    .unwrap();
    assert_eq!(load(recorder.path()).unwrap().plan, plan);
    assert_eq!(list(dir.path()).unwrap()[0].target, "/tmp/\u{fffd} ");
}

#[test]
fn discarded_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = recorder(dir.path(), None);
    assert!(recorder.is_empty());
    recorder.discard().unwrap();
    recorder.finish(End::Failed);
    recorder.retry();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn finished_sessions_are_unlocked() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut recorder = recorder(dir, None);
    recorder.record(&testing::trial_event(0, 1, 1 << 20));
    assert!(!recorder.is_empty());
    let path = recorder.path().to_path_buf();
    assert!(matches!(crate::session::rename(dir, &path, "n"), Err(SessionError::Busy(_))));
    recorder.finish(End::Finished);
    assert_eq!(crate::session::rename(dir, &path, "n").unwrap(), "n");
    crate::session::delete(dir, &path).unwrap();
    // The end of the program does not bring it back.
    recorder.retry();
    assert_eq!(fs::read_dir(dir).unwrap().count(), 0);
}

#[test]
fn what_the_user_skipped_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = recorder(dir.path(), None);
    recorder.record(&testing::trial_event(0, 1, 1 << 20));
    for cell in [0, 7] {
        recorder.record(&Event::Skipped { cell });
    }
    recorder.finish(End::Interrupted);
    let path = recorder.path().to_path_buf();
    assert_eq!(kinds(&path).iter().filter(|kind| *kind == "skip").count(), 1);
    let session = load(&path).unwrap();
    assert_eq!((session.skipped, session.lost), (vec![0], 0));
}
