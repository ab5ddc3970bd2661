//! Watches: `--watch` and `--stop-if`, from the command line to the exit code. No bound here
//! depends on how fast this machine is.

use std::fs;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::common::child::Run;
use super::common::{self, Home, kernel, stderr_of, stdout_of};

#[test]
fn conditions_end_a_watch() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    // The page cache, as not each file system has direct I/O.
    let line = "--batch data.bin --watch 1h --direct=no --format jsonl";
    let output = home.cmd(line).args(["--stop-if", "p50>=0ns for 2s,max>1h for 1m"]).output();
    let output = output.unwrap();
    let error = stderr_of(&output);
    assert_eq!(output.status.code(), Some(5), "{error}");
    assert!(error.contains("stopped: p50>=0ns for 2s after "), "{error}");
    let text = stdout_of(&output);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).collect::<Vec<_>>();
    let intervals = of("interval");
    assert!(intervals.len() >= 3, "{text}");
    assert!(intervals.iter().all(|one| one["nanos"].as_u64() > Some(0)), "{text}");
    let [trial] = of("trial")[..] else { panic!("{text}") };
    assert_eq!(trial["short"], false);
    let stopped = &trial["evidence"]["stopped"];
    assert_eq!(
        (&stopped["condition"], &stopped["beyond"]),
        (&"p50>=0ns for 2s".into(), &stopped["timed"])
    );
    assert!(stopped["at"].as_u64() >= Some(2_000_000_000), "{stopped}");
    let rate = trial["cell"]["rate"]["operations"].as_u64().unwrap();
    assert!((10..=1000).contains(&rate), "{rate}");
    let answer = of("end")[0]["answer"]["text"].as_str().unwrap();
    assert!(answer.contains(" of 1 h at ") && answer.contains("stopped by p50>=0ns"), "{answer}");
    let again = home.cmd("--batch --refine last").output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr_of(&again).contains("one long trial of each cell"), "{again:?}");
}

#[test]
fn watches_end_with_their_time() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = "--batch data.bin --watch 10s --rate 50 --direct=no --no-save";
    let report = home.json(&format!("{line} --stop-if max>1hfor5s"));
    common::assert_valid(&report);
    assert_eq!((&report["plan"]["watch"], &report["plan"]["trials"]), (&true.into(), &1.into()));
    assert_eq!(report["plan"]["stop_if"][0], "max>1h for 5s");
    let trial = &report["results"][0]["trials"][0];
    assert_eq!((&trial["short"], trial["evidence"].get("stopped")), (&false.into(), None));
    let done =
        trial["ops"].as_u64().unwrap() + trial["evidence"]["paced"]["unstarted"].as_u64().unwrap();
    assert_eq!(done, 500);
    let answer = report["answer"]["text"].as_str().unwrap();
    assert!(answer.contains("watched for 10 s at 50/s: p50 "), "{answer}");
}

#[test]
fn killed_watches_keep_their_log() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    fs::create_dir_all(home.sessions_dir()).unwrap();
    let mut watch = kernel::Watch::of(&home.sessions_dir());
    let line = "--batch data.bin --watch 10s --rate 50 --direct=no";
    let mut run = Run::start(home.std(line).stderr(std::process::Stdio::null()));
    let is_kept = |path: &std::path::PathBuf| {
        fs::read_to_string(path).is_ok_and(|text| text.contains(r#"{"kind":"running","#))
    };
    watch.until(|| home.sessions().iter().any(is_kept));
    run.signal(Signal::SIGKILL);
    run.end(Duration::from_secs(60)).expect("nobody survives that");
    let report = home.json("sessions show last");
    common::assert_valid(&report);
    let result = &report["results"][0];
    let trial = &result["trials"][0];
    assert_eq!(trial["short"], true);
    let [nanos, ops] = ["nanos", "ops"].map(|key| trial[key].as_u64().unwrap());
    assert!((1_000_000_000..10_000_000_000).contains(&nanos) && (1..500).contains(&ops), "{trial}");
    assert!(result["latency"]["p50"].is_number(), "{result}");
    let answer = report["answer"]["text"].as_str().unwrap();
    assert!(answer.contains(" s of 10 s at 50/s: p50 "), "{answer}");
    // Nor is it a whole trial for what follows.
    for (line, code) in [("sessions export last --format html", 0), ("--refine last --batch", 2)] {
        let output = home.cmd(line).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}: {}", stderr_of(&output));
        assert!(!stderr_of(&output).contains("panicked"));
    }
}

#[test]
fn impossible_watches_are_refused() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for (line, said) in [
        ("--watch 9s", "a time from 10s to 720h"),
        ("--watch 721h", "a time from 10s to 720h"),
        ("--watch 10s --trials 3", "which --trials does not allow"),
        ("--watch 10s --until 5%", "which --until does not allow"),
        ("--watch 10s --budget 1h", "which --budget does not allow"),
        ("--watch 10s --trial-time 1h", "which --trial-time does not allow"),
        ("--watch 10s --latency-target p99<5ms", "which --latency-target does not allow"),
        ("--watch 10s --between a:true b:true", "which --between does not allow"),
        ("--watch 10s --stop-if p99>1sfor10s", "its time must be shorter than the watch"),
        ("--watch 10s --think 1ms", "which --think does not allow"),
        ("--watch 10s --direct=no -c cold", "which --cache cold does not allow"),
        ("--watch 10s -p fast", "a pick among methods"),
        ("--watch 10s --probe call", "which --probe does not allow"),
        ("--watch 10s -b mmap+populate --direct=no", "which reading ahead does not allow"),
        ("--watch 10s -s 4k,8k --direct=no", "but there are 2"),
        ("--watch 10s --direct=no --stop-if p99<5ms", "has a time"),
        ("-b pread --stop-if iops<5for10s", "--stop-if ends a watch"),
    ] {
        let output = home.cmd(&format!("--batch data.bin {line}")).output().unwrap();
        let error = stderr_of(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(error.contains(said), "{line}: {error}");
    }
}
