//! Other programs as peers: the same bytes, the same verdict, and nothing left of them when they
//! fail, hang or are stopped.

use crate::common::stderr_of;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use crate::common::child::Run;
use crate::common::{Home, each, has, kernel, output, warnings, with_page_cache, without};
use nix::sys::signal::Signal;
use serde_json::Value;

const RUN: &str = "--batch --trials 2 --trial-time 5ms --budget 10m --ceilings never";
const MIB: u64 = 1 << 20;

/// Returns the result of this peer's cell in this cache state.
fn result<'a>(document: &'a Value, peer: &str, cache: &str) -> &'a Value {
    let found = document["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["cell"]["peer"] == peer && r["cell"]["cache"] == cache);
    found.unwrap_or_else(|| panic!("no {peer} {cache} in {document}"))
}

/// Asserts what a trial must report alike for every peer.
fn assert_whole(document: &Value, peer: &str, cache: &str, size: u64) {
    let result = result(document, peer, cache);
    assert_eq!((&result["error"], &result["latency"]), (&Value::Null, &Value::Null), "{peer}");
    assert_eq!(result["cell"].get("backend"), None, "{peer}");
    assert!(
        !warnings(result)
            .iter()
            .any(|id| id.starts_with("inconsistent") || id.starts_with("timing")),
        "{peer}: {result}"
    );
    for trial in result["trials"].as_array().unwrap() {
        let [bytes, ops, nanos] = ["bytes", "ops", "nanos"].map(|key| trial[key].as_u64().unwrap());
        assert!(
            bytes == ops * 65536 && bytes > 0 && bytes % 65536 == 0 && nanos > 0,
            "{peer}: {trial}"
        );
        assert!(bytes <= size || cache != "cold", "{peer}: a cold trial wrapped around: {trial}");
        let cpu = trial["user_nanos"].as_u64().unwrap() + trial["system_nanos"].as_u64().unwrap();
        assert!(cpu < 60_000_000_000, "{peer}: {trial}");
    }
    let source = &result["source"];
    let wanted = if cache == "cold" { "device" } else { "page_cache" };
    let share = source[wanted].as_f64().unwrap();
    assert!(share > 0.9 || source["unknown"].as_f64() > Some(0.5), "{peer} {cache}: {source}");
}

#[test]
fn dd_bytes_are_traced() {
    let home = Home::new();
    if !has("dd") {
        return without("dd");
    }
    if !home.on_disk() {
        return;
    }
    // An odd remainder, which no peer reads.
    home.file("data.bin", 4 * MIB as usize + 1000);
    with_page_cache(&home.home(), || dd_reads_the_same(&home));
}

fn dd_reads_the_same(home: &Home) {
    let document = home.json(&format!("{RUN} -b dd,pread -s 64k -c cold,warm -n 0 data.bin"));
    for cache in ["cold", "warm"] {
        assert_whole(&document, "dd", cache, 4 * MIB);
        let result = result(&document, "dd", cache);
        for trial in result["trials"].as_array().unwrap() {
            // A read and a write of each block.
            assert_eq!(
                (&trial["bytes"], &trial["ops"], &trial["syscalls"]),
                (&(4 * MIB).into(), &64.into(), &128.into()),
                "{trial}"
            );
        }
        assert!(result["syscalls"]["median"].is_number());
    }
    let session = document["session"].as_str().unwrap();
    let shown = home.json(&format!("sessions show {session}"));
    assert_eq!(
        (&shown["results"], &shown["programs"]),
        (&document["results"], &document["programs"])
    );
    assert_eq!(
        document["programs"][0].as_str(),
        Some(concat!("iotui ", env!("CARGO_PKG_VERSION")))
    );
    assert!(
        document["programs"][1].as_str().is_none_or(|named| named.contains("dd")),
        "{}",
        document["programs"]
    );
    for format in ["table", "csv", "markdown", "html", "svg", "gbench", "fio", "jsonl"] {
        assert!(
            home.stdout(&format!("sessions export {session} --format {format}")).contains("dd"),
            "{format}"
        );
    }
    let again = home.json(&format!("--batch --plan {session} data.bin"));
    assert_eq!(each(&again["results"], "cell"), each(&document["results"], "cell"));
    let compared =
        home.json(&format!("sessions compare {session} {}", again["session"].as_str().unwrap()));
    assert_eq!(compared["others"][0]["cells"].as_array().unwrap().len(), 4, "{compared}");
    home.cmd(&format!("{RUN} -b dd --baseline {session} -s 64k")).assert().code(2);
    home.cmd(&format!("{RUN} -b dd,pread --baseline {session} -s 64k --format json"))
        .assert()
        .success();
}

#[test]
fn dd_reads_an_unnamed_file() {
    let home = Home::new();
    if !has("dd") {
        return without("dd");
    }
    let document = home.json(&format!("{RUN} -b dd -s 512 -c warm --size 32m --dir ."));
    let trial = &document["results"][0]["trials"][0];
    let ops = trial["ops"].as_u64().unwrap();
    assert!(
        ops < 65536 && ops * 512 == trial["bytes"].as_u64().unwrap(),
        "a trial of 5 ms is not the whole file: {trial}"
    );
    assert!(home.names().is_empty());
}

#[test]
fn fio_engines_read_the_same() {
    let home = Home::new();
    if !has("fio") {
        return without("fio");
    }
    if !home.on_disk() {
        return;
    }
    home.file("data.bin", 4 * MIB as usize + 1000);
    with_page_cache(&home.home(), || each_engine_reads_the_same(&home));
    // More threads than blocks, too.
    let many =
        home.json(&format!("{RUN} -b fio -s 64k -c warm -t 3,100 --pattern random data.bin"));
    for result in many["results"].as_array().unwrap() {
        assert_eq!(result["error"], Value::Null, "{result}");
        assert!(result["trials"][0]["bytes"].as_u64().unwrap() >= 65536, "{result}");
    }
    let deep = home
        .json(&format!("{RUN} -b fio+io_uring,fio -s 4k --direct -q 8 --pattern random data.bin"));
    let skipped = deep["skipped"].as_array().unwrap();
    assert!(
        skipped.iter().any(|s| s["cell"]["peer"] == "fio"
            && s["reason"].as_str().unwrap().contains("fio+io_uring")),
        "{skipped:?}"
    );
}

fn each_engine_reads_the_same(home: &Home) {
    let engines = ["fio", "fio+psync", "fio+libaio", "fio+io_uring", "fio+mmap"];
    let document =
        home.json(&format!("{RUN} -b {} -s 64k -c cold,warm -n 0 data.bin", engines.join(",")));
    for engine in engines {
        for cache in ["cold", "warm"] {
            if document["results"].as_array().unwrap().iter().any(|r| r["cell"]["peer"] == engine) {
                assert_whole(&document, engine, cache, 4 * MIB);
                let known = engine == "fio" || engine.ends_with("psync");
                let result = result(&document, engine, cache);
                assert!(
                    each(&result["trials"], "syscalls")
                        .iter()
                        .all(|calls| calls.is_null() != known),
                    "{engine}"
                );
                assert_eq!(
                    (result["syscalls"].is_null(), warnings(result).contains(&"calls-unknown")),
                    (!known, !known),
                    "{engine}"
                );
            }
        }
    }
}

#[test]
fn missing_program_is_skipped() {
    let home = Home::new();
    home.file("data.bin", MIB as usize);
    let mut command = home.std(&format!("{RUN} -b pread,fio -s 64k --format json data.bin"));
    let done = output(command.env("PATH", home.path("")));
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(each(&document["results"], "cell").iter().all(|cell| cell["backend"] == "pread"));
    let skipped = &document["skipped"][0];
    assert_eq!(
        (&skipped["cell"]["peer"], &skipped["reason"]),
        (&"fio".into(), &"not installed: apt-get install fio".into())
    );
    let alone =
        output(home.std(&format!("{RUN} -b fio -s 64k data.bin")).env("PATH", home.path("")));
    let said = stderr_of(&alone);
    assert_eq!(alone.status.code(), Some(2));
    assert!(said.contains("apt-get install fio") && said.lines().count() == 1, "{said}");
    // `all` means every backend, but no peer.
    let all = home.json("--batch --dry-run -b all -s 64k -c warm data.bin");
    assert!(!all.to_string().contains("\"peer\""), "{all}");
    let write = output(&mut home.std(&format!("{RUN} --op write -b dd -s 64k --size 1m")));
    assert_eq!(write.status.code(), Some(2));
}

#[test]
fn program_of_same_name_is_refused() {
    let home = Home::new();
    home.file("data.bin", MIB as usize);
    let path = fake(&home, "");
    for version in ["Usage: fio [OPTIONS] COMMAND", "fio, version 1.4", "fio-next"] {
        let script = format!("#!/bin/sh\necho '{version}'\n");
        fs::write(home.path("bin/fio"), script).unwrap();
        let alone = output(home.std(&format!("{RUN} -b fio -s 64k data.bin")).env("PATH", &path));
        let said = stderr_of(&alone);
        assert_eq!(alone.status.code(), Some(2), "{said}");
        assert!(said.contains("bin/fio is another program") && said.lines().count() == 1, "{said}");
    }
}

/// Creates a program named fio that runs this script unless it is asked for its version.
fn fake(home: &Home, script: &str) -> std::ffi::OsString {
    let dir = home.path("bin");
    fs::create_dir_all(&dir).unwrap();
    let version = "[ \"$1\" = --version ] && echo fio-3.99 && exit";
    fs::write(dir.join("fio"), format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
    fs::set_permissions(dir.join("fio"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = dir.into_os_string();
    path.push(":/usr/bin:/bin");
    path
}

#[test]
fn failing_program_fails_its_cell() {
    let job = r#"{"jobs":[{"read":{"io_bytes":65536,"total_ios":1,"runtime":3600000}}]}"#;
    for (script, wanted) in [
        ("echo garbage", "fio failed: garbage"),
        ("echo '{\"jobs\": 7}'", "unexpected output of fio"),
        ("exit 1", "fio failed (exit status: 1)"),
        ("echo 'fio: no luck' >&2; exit 3", "fio: no luck"),
        ("kill -9 $$", "SIGKILL"),
        ("exec cat /dev/zero", "printed more than"),
        (&format!("echo '{job}'"), "do not trust it"),
    ] {
        let home = Home::new();
        home.file("data.bin", MIB as usize);
        let path = fake(&home, script);
        let done = output(
            home.std(&format!("{RUN} -b fio,pread -s 64k -c warm --format json data.bin"))
                .env("PATH", path),
        );
        let document: Value =
            serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{script}: {e}"));
        let error = result(&document, "fio", "warm")["error"]
            .as_str()
            .unwrap_or_else(|| panic!("{script}: {document}"));
        assert!(error.contains(wanted) && error.lines().count() == 1, "{script}: {error}");
        assert_eq!(
            (done.status.code(), document["results"].as_array().unwrap().len()),
            (Some(1), 2),
            "{script}"
        );
    }
}

/// Returns whether a process exists and is not a zombie.
fn lives(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

/// Waits for the end of a process that was sent a SIGKILL: the kernel ends it soon, not at once.
fn ends(pid: u32) -> bool {
    (0..1_000_000).any(|_| {
        std::thread::yield_now();
        !lives(pid)
    })
}

/// Starts a run whose fio hangs; returns the process ids of that fio and of its child.
fn hanging(home: &Home, budget: &str) -> (Run, [u32; 2]) {
    home.file("data.bin", MIB as usize);
    let pid_file = home.path("pids");
    let path = fake(home, &format!("sleep 1000 & echo $$ $! > {}; wait", pid_file.display()));
    let mut watch = kernel::Watch::of(&home.path(""));
    let words = format!(
        "--batch --trials 2 --trial-time 5ms --ceilings never --budget {budget} -b fio -s 64k -c warm data.bin"
    );
    let run = Run::start(home.std(&words).env("PATH", path).stderr(Stdio::piped()));
    watch.until(|| fs::read_to_string(&pid_file).is_ok_and(|text| text.ends_with('\n')));
    let pids = fs::read_to_string(&pid_file).unwrap();
    let pids: Vec<u32> = pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    (run, [pids[0], pids[1]])
}

#[test]
fn stop_ends_the_program() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let home = Home::new();
        let (mut run, pids) = hanging(&home, "10m");
        assert!(pids.iter().all(|pid| lives(*pid)));
        run.signal(signal);
        let status = run.end(Duration::from_secs(5)).expect("it stops");
        assert_eq!(status.code(), Some(128 + signal as i32), "{}", run.stderr());
        assert!(pids.iter().all(|pid| ends(*pid)), "{signal}: {pids:?} live on");
    }
}

#[test]
fn kill_ends_the_program() {
    let home = Home::new();
    let (mut run, pids) = hanging(&home, "10m");
    run.signal(Signal::SIGKILL);
    run.end(Duration::from_secs(5)).expect("it is gone");
    assert!(ends(pids[0]), "{pids:?}");
    let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pids[1] as i32), Signal::SIGKILL);
    let home = Home::new();
    let (mut run, pids) = hanging(&home, "1s");
    run.end(Duration::from_secs(20)).expect("the budget ends it");
    assert!(pids.iter().all(|pid| ends(*pid)), "{pids:?} live on");
}
