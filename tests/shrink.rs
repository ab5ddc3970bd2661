//! A file that shrinks or disappears, or a device that fails: the cell fails with a message, and
//! the run continues.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::child::Run;
use crate::common::{Home, data, kernel, skip};
use iotui::backend::BACKENDS;
use iotui::plan::Moves;
use serde_json::Value;

const LONG: Duration = Duration::from_secs(60);
const LEN: usize = 8 << 20;
/// Remaining length of the file; the spans of 1 MiB lie before it.
const LEFT: u64 = 2 << 20;
/// Enough that a change made after the first trial is complete long before the last.
const TRIALS: usize = 12;

/// Lists all backends that move data, and options that use another code path.
fn movers() -> String {
    let movers = BACKENDS
        .iter()
        .map(|b| b.info())
        .filter(|info| info.moves() != Moves::Nothing && info.id != "null");
    let mut names: Vec<&str> = movers.map(|info| info.id).collect();
    names.extend(["mmap+populate", "pread+libc", "stdio+buf=64k"]);
    names.join(",")
}

/// Runs every backend on a part that remains and on one that is cut off: `disturb` is called after
/// the first trial.
fn disturbed(home: &Home, line: &str, disturb: impl FnOnce()) -> Vec<Value> {
    let line = format!(
        "--batch {line} --size 1m,8m -s 64k --count 0 --trials {TRIALS} --trial-time 1ms --format jsonl --save NAME"
    );
    let mut run = Run::start(home.std(&line).stderr(Stdio::piped()));
    run.until("\"trial\"");
    disturb();
    let text = run.rest();
    let status = run.end(LONG).expect("it ends");
    let stderr = run.stderr();
    assert_eq!(status.code(), Some(1), "a cell failed: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    assert_eq!(lines.last().unwrap()["reason"], "finished", "the run went on");
    let kept = home.json("sessions show NAME");
    let results: Vec<Value> = kept["results"].as_array().unwrap().clone();
    assert_eq!(results.len(), lines.iter().filter(|line| line["kind"] == "result").count());
    results
}

/// Asserts that the remaining part has all its trials, and the other failed with a given message.
fn assert_half_failed(results: &[Value], messages: &[&str]) {
    assert!(results.len() >= 12, "{}", results.len());
    for result in results {
        let (cell, error) = (&result["cell"], &result["error"]);
        let trials = result["trials"].as_array().unwrap().len();
        if cell["span"].as_u64().unwrap() <= LEFT {
            assert_eq!((error, trials), (&Value::Null, TRIALS), "{cell}");
        } else {
            let text =
                error.as_str().unwrap_or_else(|| panic!("no error, {trials} trials: {cell}"));
            assert!(
                messages.iter().any(|m| text.contains(m)) && !text.contains('\n'),
                "{cell}: {text}"
            );
            assert!(trials < TRIALS, "{cell}");
        }
    }
}

#[test]
fn shrunk_file_fails_its_cells() {
    for line in ["-c warm", "-c cold -t 2 --xor", "-c asis --pattern random"] {
        let home = Home::new();
        let file = home.file("data.bin", LEN);
        let shrink = || File::options().write(true).open(&file).unwrap().set_len(LEFT).unwrap();
        let results = disturbed(&home, &format!("data.bin -b {} {line}", movers()), shrink);
        assert_half_failed(&results, &["shrank"]);
        assert_eq!(home.names(), ["data.bin"]);
    }
}

#[test]
fn shrunk_mapping_is_an_error() {
    for backend in ["mmap", "mmap-copy"] {
        let home = Home::new();
        let file = home.file("data.bin", LEN);
        // One long trial, so the file is mapped when it shrinks.
        let line = format!(
            "--batch data.bin -b {backend} -s 4k -c asis --trials 1 --trial-time 30s --budget 60s --format json -t 2"
        );
        let mut run = Run::start(home.std(&line).stderr(Stdio::piped()));
        let maps = PathBuf::from(format!("/proc/{}/maps", run.pid()));
        wait_until(|| std::fs::read_to_string(&maps).is_ok_and(|text| text.contains("data.bin")));
        File::options().write(true).open(&file).unwrap().set_len(LEFT).unwrap();
        let text = run.rest();
        let status = run.end(LONG).expect("it ends");
        assert_eq!(status.code(), Some(1), "{backend}: {}", run.stderr());
        let document: Value = serde_json::from_str(&text).unwrap();
        let error = document["results"][0]["error"].as_str().unwrap();
        assert!(
            error.contains("mmap(2): the file ends before offset ") && error.contains("it shrank"),
            "{backend}: {error}"
        );
    }
}

/// Checks repeatedly, with a system call in between.
fn wait_until(mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < LONG, "it never came to that");
        std::thread::yield_now();
    }
}

#[test]
fn removed_file_is_reported() {
    let home = Home::new();
    let file = home.file("data.bin", LEN);
    let results = disturbed(&home, "data.bin -b read,mmap,uring -c warm", || {
        std::fs::remove_file(&file).unwrap()
    });
    for result in &results {
        let error =
            result["error"].as_str().unwrap_or_else(|| panic!("no error: {}", result["cell"]));
        assert!(error.contains("No such file"), "{error}");
    }
}

#[test]
fn concurrent_write_is_reported() {
    let home = Home::new();
    home.file("data.bin", LEN);
    let line =
        "--batch data.bin -b pread -s 64k -c warm --trials 3 --trial-time 100ms --format jsonl";
    let mut run = Run::start(home.std(line).stderr(Stdio::null()));
    let writer = File::options().write(true).open(home.path("data.bin")).unwrap();
    // Written until the run ends, so that a trial finds a changed modification time.
    let mut bytes = data::random(4096, 2);
    while run.end(Duration::ZERO).is_none() {
        bytes[0] = bytes[0].wrapping_add(1);
        std::os::unix::fs::FileExt::write_all_at(&writer, &bytes, 0).unwrap();
    }
    let text = run.rest();
    assert!(text.contains("\"file-changed\""), "{text}");
}

#[test]
fn failing_device_fails_its_cells() {
    let home = Home::new();
    let backing = home.path("backing");
    data::write(&backing, &data::random(LEN, 1));
    let Some(device) = kernel::Loop::over(&backing) else { return };
    if File::open(&device.device).is_err() {
        return skip("the loop device cannot be opened");
    }
    let shrink =
        |path: &Path| File::options().write(true).open(path).unwrap().set_len(LEFT).unwrap();
    let line = format!("{} -b {} -c cold", device.device.display(), movers());
    let results = disturbed(&home, &line, || shrink(&backing));
    assert_half_failed(&results, &["Input/output error", "the device failed"]);
}
