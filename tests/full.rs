//! A session whose disk is full, read-only or gone: the run continues, reports it once, and saves
//! what it can as soon as it can.

use crate::common::stderr_of;
use std::fs;
use std::io::{BufRead, BufReader, PipeReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::child::Run;
use crate::common::{Home, kernel, names, output};
use nix::sys::signal::Signal;
use serde_json::Value;

/// A run that continues until it is stopped.
const LONG: &str = "--batch data.bin -b null -s 4k,8k -c asis --trials 1000000 --trial-time 1ms --budget 10m --format json -o out";
const SHORT: &str = "--batch data.bin -b null -s 4k -c asis --trials 3 --trial-time 1ms --budget 10m --format json -o out";

fn home() -> Home {
    let home = Home::new();
    home.file("data.bin", 1 << 16);
    home
}

/// A run with its sessions below `data`, whose stderr is read line by line.
struct Watched {
    run: Run,
    stderr: BufReader<PipeReader>,
    all: String,
}

impl Watched {
    fn start(home: &Home, line: &str, data: &Path) -> Watched {
        let (stderr, its) = std::io::pipe().unwrap();
        let mut command = home.std(line);
        let run = Run::start(command.env("XDG_DATA_HOME", data).stderr(its));
        // The command holds the other end of the pipe until it is dropped.
        drop(command);
        Watched { run, stderr: BufReader::new(stderr), all: String::new() }
    }

    /// Waits for a line with these words.
    fn until(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(
                self.stderr.read_line(&mut line).unwrap() > 0,
                "it ended without {words:?}: {}",
                self.all
            );
            self.all += &line;
            if line.contains(words) {
                return line;
            }
        }
    }

    /// Stops the run; returns its exit code and all it printed.
    fn stop(mut self) -> (Option<i32>, String) {
        self.run.signal(Signal::SIGTERM);
        let status = self.run.end(Duration::from_secs(60)).expect("the run ends");
        std::io::Read::read_to_string(&mut self.stderr, &mut self.all).unwrap();
        (status.code(), self.all)
    }
}

/// Returns the trials of all cells of a result.
fn trials(result: &Value) -> Vec<Value> {
    let cells = result["results"].as_array().unwrap().iter();
    cells.flat_map(|cell| cell["trials"].as_array().unwrap().clone()).collect()
}

/// Counts the trials in the first session below `data`, if one can be loaded.
fn kept(data: &Path) -> usize {
    let dir = data.join("iotui/sessions");
    let first = names(&dir).first().map(|name| dir.join(name));
    first
        .and_then(|file| iotui::session::load(&file).ok())
        .map_or(0, |session| session.trials.len())
}

/// Asserts that the only session below `data` is complete and equals the run's own output.
fn assert_complete(home: &Home, data: &Path) -> PathBuf {
    let dir = data.join("iotui/sessions");
    let files = names(&dir);
    assert_eq!(files.len(), 1, "{files:?}");
    let path = dir.join(&files[0]);
    let shown: Value = serde_json::from_str(
        &home.stdout(&format!("sessions show {} --format json", path.display())),
    )
    .unwrap();
    let written: Value = serde_json::from_slice(&fs::read(home.path("out")).unwrap()).unwrap();
    assert!(!trials(&written).is_empty());
    assert!(
        trials(&shown) == trials(&written),
        "{} trials of {}",
        trials(&shown).len(),
        trials(&written).len()
    );
    assert_eq!((&shown["session"], &shown["answer"]), (&written["session"], &written["answer"]));
    assert_eq!(path.file_stem().unwrap().to_str(), written["session"].as_str());
    let session = iotui::session::load(&path).unwrap();
    assert!(
        session.end.is_some() && session.notes.iter().all(|note| !note.contains("lost")),
        "{:?}",
        session.notes
    );
    path
}

/// Fills the disk except for `room` bytes.
fn take_room(at: &Path, room: u64) {
    let file = fs::File::create(at).unwrap();
    let (mut length, mut step) = (0, 1 << 30);
    while step >= 4096 {
        match nix::fcntl::posix_fallocate(&file, length, step) {
            Ok(()) => length += step,
            Err(_) => step /= 2,
        }
    }
    file.set_len((length as u64).saturating_sub(room)).unwrap();
}

#[test]
fn session_recovers_from_a_full_disk() {
    let home = home();
    let data = home.path("disk");
    // With room for the beginning, and with none at all.
    for room in [64 << 10, 0] {
        kernel::with_tmpfs(&data, "4m", || {
            let other = data.join("other");
            take_room(&other, room);
            let mut run = Watched::start(&home, LONG, &data);
            let line = run.until("is not saved for now");
            assert!(
                line.contains("no space left on device") && line.contains("saving is retried"),
                "{line}"
            );
            fs::remove_file(&other).unwrap();
            run.until("is being saved again");
            until(|| kept(&data) > 20);
            let (code, stderr) = run.stop();
            assert_eq!(code, Some(143), "{stderr}");
            let path = assert_complete(&home, &data);
            assert!(stderr.ends_with(&format!("saved   {}\n", path.display())), "{stderr}");
            assert_eq!(stderr.matches("not saved").count(), 1, "{stderr}");
        });
    }
}

#[test]
fn full_disk_loses_only_the_session() {
    let home = home();
    let data = home.path("disk");
    kernel::with_tmpfs(&data, "1m", || {
        take_room(&data.join("other"), 0);
        let run = |line: &str| output(home.std(line).env("XDG_DATA_HOME", &data));
        let ran = run(SHORT);
        let stderr = stderr_of(&ran);
        assert_eq!(ran.status.code(), Some(0), "{stderr}");
        let last = stderr.lines().last().unwrap();
        assert!(
            last.starts_with("iotui: this run is not saved: ") && last.contains("no space left"),
            "{stderr}"
        );
        let written: Value = serde_json::from_slice(&fs::read(home.path("out")).unwrap()).unwrap();
        assert_eq!((trials(&written).len(), &written["session"]), (3, &Value::Null));
        assert_eq!(names(&data.join("iotui/sessions")), [""; 0], "something is left");
        // A session with a requested name is refused before anything runs.
        fs::remove_file(home.path("out")).unwrap();
        let ran = run(&format!("{SHORT} --save named"));
        let stderr = stderr_of(&ran);
        assert_eq!((ran.status.code(), stderr.lines().count()), (Some(2), 1), "{stderr}");
        assert!(!home.path("out").exists());
        // Room for the beginning only: that part can be loaded.
        take_room(&data.join("other"), 16 << 10);
        let ran = run(&SHORT.replace("--trials 3", "--trials 300"));
        let stderr = stderr_of(&ran);
        assert_eq!(ran.status.code(), Some(0), "{stderr}");
        assert!(
            stderr.lines().last().unwrap().starts_with("iotui: this run is saved only in part: "),
            "{stderr}"
        );
        let kept = data.join("iotui/sessions").join(&names(&data.join("iotui/sessions"))[0]);
        let (kept, written) =
            (iotui::session::load(&kept).unwrap(), fs::read(home.path("out")).unwrap());
        let written: Value = serde_json::from_slice(&written).unwrap();
        assert!(kept.trials.len() < trials(&written).len() && trials(&written).len() == 300);
        assert_eq!((kept.end, written["session"].as_str()), (None, Some(kept.id.as_str())));
    });
}

#[test]
fn unsaved_named_session_fails_the_run() {
    let home = home();
    let data = home.path("disk");
    kernel::with_tmpfs(&data, "1m", || {
        take_room(&data.join("other"), 16 << 10);
        let line = format!("{} --save named", SHORT.replace("--trials 3", "--trials 300"));
        let ran = output(home.std(&line).env("XDG_DATA_HOME", &data));
        let stderr = stderr_of(&ran);
        assert_eq!(ran.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("this run is saved only in part"), "{stderr}");
    });
}

#[test]
fn full_disk_refuses_a_copy() {
    let home = home();
    let data = home.path("disk");
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/session-v1.jsonl");
    kernel::with_tmpfs(&data, "1m", || {
        let run = |line: &str| output(home.std(line).env("XDG_DATA_HOME", &data));
        assert!(run(&format!("sessions import {golden}")).status.success());
        let dir = data.join("iotui/sessions");
        let before = names(&dir);
        let bytes = || fs::read(dir.join(&before[0])).unwrap();
        let was = bytes();
        take_room(&data.join("other"), 0);
        for line in
            ["sessions rename 2026 another".to_string(), format!("sessions import {golden}")]
        {
            let ran = run(&line);
            let stderr = stderr_of(&ran);
            assert_eq!(
                (ran.status.code(), stderr.lines().count()),
                (Some(1), 1),
                "{line}: {stderr}"
            );
            assert!(stderr.contains("no space left"), "{line}: {stderr}");
            assert!(names(&dir) == before && bytes() == was, "{line}");
        }
        // Deleting frees space.
        assert!(run("sessions delete 2026").status.success());
        assert!(run(&format!("sessions import {golden}")).status.success());
    });
}

#[test]
fn session_recovers_from_read_only_disk() {
    let home = home();
    let data = home.path("disk");
    kernel::with_tmpfs(&data, "4m", || {
        kernel::remount_read_only(&data);
        let mut run = Watched::start(&home, LONG, &data);
        let line = run.until("is not saved for now");
        assert!(line.contains("read-only file system"), "{line}");
        kernel::remount_writable(&data);
        run.until("is being saved again");
        until(|| kept(&data) > 20);
        let (code, stderr) = run.stop();
        assert_eq!(code, Some(143), "{stderr}");
        assert_complete(&home, &data);
    });
}

#[test]
fn removed_folder_is_made_again() {
    let home = home();
    let data = home.path("new");
    let mut run = Watched::start(&home, LONG, &data);
    until(|| kept(&data) > 20);
    let away = home.path("away");
    let take_away = || fs::rename(&data, &away).and_then(|()| fs::remove_dir_all(&away));
    take_away().unwrap();
    until(|| kept(&data) > 20);
    // Something takes its place before the run creates it again: this is reported, and it
    // continues.
    until(|| {
        let _ = take_away();
        fs::OpenOptions::new().write(true).create_new(true).open(&data).is_ok()
    });
    let line = run.until("is not saved for now");
    assert!(line.contains("its file was removed"), "{line}");
    fs::remove_file(&data).unwrap();
    run.until("is being saved again");
    let (code, stderr) = run.stop();
    assert_eq!(code, Some(143), "{stderr}");
    let path = assert_complete(&home, &data);
    assert!(stderr.ends_with(&format!("saved   {}\n", path.display())), "{stderr}");
}

/// Checks repeatedly; the run writes all the time.
fn until(mut so: impl FnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never comes");
        std::thread::yield_now();
    }
}
