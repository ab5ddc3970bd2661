//! Stops, kills and closed pipes: what was measured is saved and shown, and nothing else is left.

use crate::common::{stderr_of, stdout_of};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::child::Run;
use crate::common::{Home, QUICK, each, kernel, output};
use nix::sys::signal::Signal;
use serde_json::Value;

/// Runs until it is stopped.
const ENDLESS: &str = "--dir . --size 4m -b pread,mmap -s 4k,64k -c warm --trials 100000 --trial-time 5ms --budget 1h";
const SOON: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(60);

/// Returns the only saved session: its list entry and its document.
fn only_session(home: &Home) -> (Value, Value) {
    let list = home.json("sessions list");
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    let id = list[0]["id"].as_str().unwrap();
    (list[0].clone(), home.json(&format!("sessions show {id}")))
}

fn trials(document: &Value) -> usize {
    each(&document["results"], "trials").iter().map(|trials| trials.as_array().unwrap().len()).sum()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

#[test]
fn signal_keeps_the_results() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let home = Home::new();
        let mut run = Run::start(
            home.std(&format!("--batch {ENDLESS} --format jsonl")).stderr(Stdio::piped()),
        );
        let first = run.until("\"trial\"");
        let begin = Instant::now();
        run.signal(signal);
        let status = run
            .end(SOON)
            .unwrap_or_else(|| panic!("{signal}: it goes on after {:?}", begin.elapsed()));
        let (rest, stderr) = (lines(&(first + &run.rest())), run.stderr());
        assert_eq!(status.code(), Some(code), "{signal}: {stderr}");
        let shown = rest.iter().filter(|line| line["kind"] == "trial").count();
        let last = rest.last().unwrap();
        assert_eq!(
            (&last["kind"], &last["reason"]),
            (&"end".into(), &"interrupted".into()),
            "{signal}"
        );
        assert!(rest.iter().any(|line| line["kind"] == "result"), "{signal}");
        let (listed, document) = only_session(&home);
        assert_eq!(listed["state"], "interrupted", "{signal}");
        assert_eq!(trials(&document), shown, "{signal}: the shown results are the saved ones");
        assert!(home.names().is_empty() && !stderr.contains("panicked"), "{signal}: {stderr}");
    }
}

#[test]
fn stopped_run_prints_its_format() {
    for (format, check) in
        [("table", "throughput"), ("json", "\"results\""), ("csv", "session,backend")]
    {
        let home = Home::new();
        fs::create_dir_all(home.sessions_dir()).unwrap();
        let mut watch = kernel::Watch::of(&home.sessions_dir());
        let mut run = Run::start(
            home.std(&format!("--batch {ENDLESS} --format {format}")).stderr(Stdio::null()),
        );
        fn measured(path: &std::path::PathBuf) -> bool {
            fs::read_to_string(path).is_ok_and(|text| text.contains("\"kind\":\"trial\""))
        }
        watch.until(|| home.sessions().iter().any(measured));
        run.signal(Signal::SIGINT);
        let status = run.end(SOON).expect("it stops");
        let text = run.rest();
        assert_eq!(status.code(), Some(130), "{format}");
        assert!(text.contains(check), "{format}: {text}");
    }
}

#[test]
fn signal_during_fill_removes_the_file() {
    let home = Home::new();
    let mut run =
        Run::start(home.std("--batch --op write new.bin --size 1g -o out").stderr(Stdio::piped()));
    assert!(run.fills_a_file_in(&home.path("")));
    run.signal(Signal::SIGTERM);
    let status = run.end(SOON).expect("it stops");
    let (stdout, stderr) = (run.rest(), run.stderr());
    assert_eq!((status.code(), stdout.as_str()), (Some(143), ""), "{stderr}");
    assert!(stderr.contains("stopped"), "{stderr}");
    assert!(home.names().is_empty(), "{:?}", home.names());
}

#[test]
fn kill_leaves_a_loadable_session() {
    let home = Home::new();
    let mut run = Run::start(
        home.std(&format!("--batch {ENDLESS} --format jsonl -t 2 --xor")).stderr(Stdio::null()),
    );
    let shown: usize = (0..3).map(|_| usize::from(run.until("\"trial\"").starts_with('{'))).sum();
    run.signal(Signal::SIGKILL);
    run.end(LONG).expect("nobody survives that");
    assert!(home.names().is_empty(), "{:?}", home.names());
    let (listed, document) = only_session(&home);
    assert_eq!(listed["state"], "interrupted");
    assert!(trials(&document) >= shown, "{} of {shown} trials", trials(&document));
    // A missing verdict is computed from the trials.
    let measured = document["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| !r["trials"].as_array().unwrap().is_empty());
    measured.for_each(|result| {
        assert!(result["source"].is_object() && result["throughput"].is_object(), "{result:#}")
    });
    // A torn last line loses only that line.
    let path = &home.sessions()[0];
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"{\"kind\":\"trial\",\"cell\":0,\"rou").unwrap();
    assert_eq!(only_session(&home).1["results"], document["results"]);
    // The next run is not affected, and can use the plan of the torn session.
    let id = listed["id"].as_str().unwrap();
    home.cmd(&format!("--batch --plan {id} --trials 1 --no-save")).assert().success();
}

#[test]
fn kill_leaves_no_partial_output() {
    let home = Home::new();
    fs::write(home.path("out"), "old").unwrap();
    fs::create_dir_all(home.sessions_dir()).unwrap();
    let mut watch = kernel::Watch::of(&home.sessions_dir());
    let mut run = Run::start(home.std(&format!("--batch {ENDLESS} -o out")).stderr(Stdio::null()));
    fn measured(path: &std::path::PathBuf) -> bool {
        fs::read_to_string(path).is_ok_and(|text| text.contains("\"kind\":\"trial\""))
    }
    watch.until(|| home.sessions().iter().any(measured));
    run.signal(Signal::SIGKILL);
    run.end(LONG).expect("nobody survives that");
    assert_eq!(
        (fs::read_to_string(home.path("out")).unwrap().as_str(), home.names()),
        ("old", vec!["out".to_string()])
    );
}

#[test]
fn closed_pipe_keeps_the_run() {
    for format in ["jsonl", "table", "json"] {
        let home = Home::new();
        home.file("data.bin", 1 << 20);
        let line = format!(
            "--batch data.bin -b pread -s 4k,64k -c warm --trials 20 --trial-time 1ms --format {format}"
        );
        let mut run = Run::start(home.std(&line).stderr(Stdio::piped()));
        if format == "jsonl" {
            run.until("\"trial\"");
        }
        run.close_stdout();
        let status = run.end(LONG).expect("it ends");
        let stderr = run.stderr();
        assert_eq!(status.code(), Some(0), "{format}: {stderr}");
        assert!(!stderr.contains("panicked"), "{format}: {stderr}");
        let (listed, document) = only_session(&home);
        assert_eq!((&listed["state"], trials(&document)), (&"finished".into(), 40), "{format}");
    }
    let home = Home::new();
    for line in ["--help", "--list backends", "--generate zsh", "host", "sessions list"] {
        let mut run = Run::start(home.std(line).stderr(Stdio::piped()));
        run.close_stdout();
        let (status, stderr) = (run.end(LONG).unwrap(), run.stderr());
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
fn full_stdout_is_an_error() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for format in ["jsonl", "table", "json", "csv"] {
        let mut command = home.std(&format!(
            "--batch data.bin -b pread -s 4k -c warm --no-save {QUICK} --format {format}"
        ));
        command
            .stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap())
            .stderr(Stdio::piped());
        let ran = command.stdin(Stdio::null()).spawn().unwrap().wait_with_output().unwrap();
        let stderr = stderr_of(&ran);
        assert_eq!(ran.status.code(), Some(1), "{format}: {stderr}");
        assert!(stderr.contains("cannot write to stdout"), "{format}: {stderr}");
    }
}

#[test]
fn a_closed_stderr_is_no_matter() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let ok = format!("--batch data.bin -b pread -s 4k -c warm {QUICK} --save NAME");
    // The second time the name is taken, which is reported.
    for (line, code) in [
        (ok.as_str(), 0),
        (&ok, 0),
        ("--batch missing.bin", 2),
        ("--batch -s 0..x", 2),
        ("sessions rename NAME OTHER", 0),
    ] {
        let mut run = Run::start(home.std(line).stderr(Stdio::piped()));
        run.close_stderr();
        let (stdout, status) = run.finish(LONG);
        assert_eq!(status.code(), Some(code), "{line}");
        assert_eq!(stdout.contains("pread"), line == ok, "{line}: {stdout}");
    }
    // stdin, stdout and stderr are closed before the program starts.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "exec \"$@\" <&- >&- 2>&-", "sh"])
        .arg(env!("CARGO_BIN_EXE_iotui"))
        .args(ok.split_whitespace());
    shell
        .current_dir(home.path(""))
        .env("HOME", home.home())
        .env("XDG_DATA_HOME", home.sessions_dir().join("../.."));
    // The destination of the report is checked before the run.
    assert_eq!((output(&mut shell).status.code(), home.sessions().len()), (Some(1), 2));
}

#[test]
fn no_home_runs_unsaved() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = format!("--batch data.bin -b pread -s 4k -c warm {QUICK}");
    fn unsaved(command: &mut Command) {
        let ran = output(command);
        let (stdout, stderr) = (stdout_of(&ran), stderr_of(&ran));
        assert_eq!(ran.status.code(), Some(0), "{stderr}");
        assert!(stdout.contains("pread") && stderr.contains("not saved"), "{stdout}\n{stderr}");
        // One line at the start if the folder may still appear, and one with the outcome at the
        // end; other tests measure at the same time.
        let mut lines = stderr.lines().filter(|line| !line.contains("another iotui"));
        assert!(
            lines.clone().count() <= 2 && lines.all(|line| line.contains("not saved")),
            "{stderr}"
        );
    }
    // If unset or empty, the home from the system's user database would be used.
    unsaved(home.std(&line).env_remove("XDG_DATA_HOME").env("HOME", "nowhere"));
    unsaved(home.std(&line).env("XDG_DATA_HOME", home.path("data.bin")));
    assert!(
        home.std(&line)
            .env_remove("HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(home.sessions().len(), 1, "XDG_DATA_HOME is enough");
    // A session with a requested name must be saved: this is checked before the run.
    let ran = output(
        home.std(&format!("{line} --save NAME")).env("XDG_DATA_HOME", home.path("data.bin")),
    );
    assert!(!ran.status.success() && ran.stdout.is_empty(), "{ran:?}");
    assert_eq!(home.names(), ["data.bin"]);
}

#[test]
fn read_only_home_runs_unsaved() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    fs::set_permissions(home.home(), fs::Permissions::from_mode(0o500)).unwrap();
    let mut command =
        home.std(&format!("--batch data.bin -b pread -s 4k -c warm {QUICK} --format json"));
    kernel::without_override(command.env_remove("XDG_DATA_HOME"));
    let ran = output(&mut command);
    let stderr = stderr_of(&ran);
    assert_eq!(ran.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("not saved") && stderr.contains("permission denied"), "{stderr}");
    assert!(serde_json::from_slice::<Value>(&ran.stdout).unwrap()["session"].is_null());
}

#[test]
fn full_session_disk_is_reported() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let data = home.path("data");
    kernel::with_tmpfs(&data, "16k", || {
        let line = "--batch data.bin -b pread -s 4k,8k,64k -c warm --trials 20 --trial-time 1ms";
        let ran = output(home.std(line).env("XDG_DATA_HOME", &data));
        let (stdout, stderr) = (stdout_of(&ran), stderr_of(&ran));
        assert_eq!(ran.status.code(), Some(0), "{stderr}");
        assert!(
            stdout.contains("GiB/s with pread")
                && stderr.contains("this run is saved only in part"),
            "{stdout}\n{stderr}"
        );
        // The part that was saved can be read.
        let list = output(home.std("sessions list --format json").env("XDG_DATA_HOME", &data));
        let list: Value = serde_json::from_slice(&list.stdout).unwrap();
        let id = list[0]["id"].as_str().unwrap();
        let shown = output(
            home.std(&format!("sessions show {id} --format json")).env("XDG_DATA_HOME", &data),
        );
        assert!(
            shown.status.success() && trials(&serde_json::from_slice(&shown.stdout).unwrap()) < 60
        );
    });
}

#[test]
fn concurrent_runs_do_no_damage() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = "--batch -b pread,mmap -s 4k,64k -c cold,warm --trials 3 --trial-time 1ms --format json --xor --count 0";
    let start =
        |target: &str| Run::start(home.std(&format!("{line} {target}")).stderr(Stdio::null()));
    // All with the same second and name, so their ids and files are similar.
    let runs: Vec<Run> = ["data.bin", "data.bin", "--dir . --size 1m", "--dir . --size 1m"]
        .into_iter()
        .map(start)
        .collect();
    let mut ids = Vec::new();
    for run in runs {
        let (text, status) = run.finish(LONG);
        assert_eq!(status.code(), Some(0));
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(trials(&document), 24);
        assert!(
            each(&document["results"], "error").iter().all(|e| e.is_null()),
            "{}",
            document["results"]
        );
        let id = document["session"].as_str().unwrap().to_string();
        assert_eq!(home.json(&format!("sessions show {id}")), document);
        ids.push(id);
    }
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), home.sessions().len()), (4, 4));
    assert_eq!(home.names(), ["data.bin"]);
}
