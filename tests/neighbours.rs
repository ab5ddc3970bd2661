//! A second job that runs while cells are measured: `--neighbour`. No bound here depends on how
//! fast this machine is.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::child::Run;
use crate::common::{self, Home, output, stderr_of};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const NEIGHBOUR: &str = "-b pread --op write -s 64k --size 1m";

fn json(home: &Home, line: &str, neighbour: &str) -> Value {
    let ran = output(home.std(line).args(["--neighbour", neighbour]));
    assert!(ran.status.success(), "{ran:?}");
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// Returns the processes of neighbours that write in this folder.
fn pids(home: &Home) -> Vec<i32> {
    let own = |entry: fs::DirEntry| {
        let files = fs::read_dir(entry.path().join("fd")).ok()?;
        let mut links = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
        links.any(|link| link.starts_with(home.path(""))).then_some(())?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let is_one = String::from_utf8_lossy(&line).contains("neighbour-process");
        entry.file_name().to_str()?.parse().ok().filter(|_| is_one)
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(own).collect()
}

fn processes(home: &Home) -> usize {
    pids(home).len()
}

#[test]
fn cells_are_measured_with_and_without() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = "--batch data.bin -b pread -s 4k,64k -c warm --trial-time 120ms --trials 7 \
                --budget 10m --no-save --format json";
    let report = json(&home, line, NEIGHBOUR);
    common::assert_valid(&report);
    let results = report["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    for result in results {
        let is_alone = result["cell"]["variant"] == "alone";
        let trials = result["trials"].as_array().unwrap();
        let work = |trial: &Value| trial["evidence"]["neighbour"]["bytes"].as_u64();
        let moved: u64 = trials.iter().filter_map(work).sum();
        assert_eq!(moved == 0, is_alone, "{result}");
    }
    let text = report["answer"]["text"].as_str().unwrap();
    assert!(text.starts_with("Next to pwrite 64 KiB at "), "{text}");
    assert_eq!(home.names().iter().filter(|name| name.contains("iotui")).count(), 0);
    assert_eq!(processes(&home), 0);
}

#[test]
fn shares_and_rates_make_variants() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let of = |more: &[&str]| {
        let line = "--batch data.bin -b pread -s 4k -c warm --dry-run --format json";
        let ran = output(home.std(line).args(more));
        assert!(ran.status.success(), "{ran:?}");
        let plan: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let all = plan["variants"].as_array().unwrap().iter();
        all.map(|of| of["name"].as_str().unwrap().to_string()).collect::<Vec<_>>().join(" ")
    };
    let rates = format!("{NEIGHBOUR} --rate 1MB/s,20MB/s");
    assert_eq!(of(&["--neighbour", &rates]), "alone 1MB/s 20MB/s");
    assert_eq!(of(&["--neighbour", NEIGHBOUR, "--neighbour-share", "25,100"]), "alone 25% 100%");
}

#[test]
fn a_stopped_run_leaves_nothing() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = "--batch data.bin -b pread -s 4k -c warm --trial-time 10s --trials 9 --budget 10m \
                --no-save";
    let mut run = Run::start(home.std(line).args(["--neighbour", NEIGHBOUR]));
    while processes(&home) == 0 {
        assert!(run.end(Duration::ZERO).is_none(), "it ended by itself");
    }
    run.signal(Signal::SIGKILL);
    let begin = Instant::now();
    while processes(&home) != 0 {
        assert!(begin.elapsed() < Duration::from_secs(60), "it goes on without its run");
    }
    assert_eq!(home.names().iter().filter(|name| name.contains("iotui")).count(), 0);
}

#[test]
fn killed_neighbours_cost_their_own_cells() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = "--batch data.bin -b pread -s 4k -c warm --trial-time 120ms --trials 9 \
                --budget 10m --no-save --format json";
    let mut run = Run::start(home.std(line).args(["--neighbour", NEIGHBOUR]));
    let mut killed = false;
    while run.end(Duration::ZERO).is_none() {
        if let Some(pid) = pids(&home).first().filter(|_| !killed) {
            killed = kill(Pid::from_raw(*pid), Signal::SIGKILL).is_ok();
        }
    }
    assert!(killed, "it had no neighbour");
    let report: Value = serde_json::from_str(&run.rest()).unwrap();
    let trials = |name: &str| {
        let mut results = report["results"].as_array().unwrap().iter();
        let own = results.find(|result| result["cell"]["variant"] == name).unwrap();
        (own["trials"].as_array().unwrap().len(), own["error"].as_str().map(String::from))
    };
    assert_eq!(trials("alone"), (9, None));
    // Killed during a trial it ends its cell, between two of them it is started again.
    let (count, error) = trials("neighbour");
    let said = error.as_deref().is_some_and(|why| why.contains("the neighbour failed"));
    assert!(count == 9 || said, "{count} {error:?}");
}

#[test]
fn impossible_neighbours_are_refused() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for (options, said) in [
        (&["--neighbour", "-s 4k,64k --op write"][..], "its options make 2 jobs, and it is one"),
        (&["--neighbour", "-s 4k --trials 3"], "'--trials' is not an option of a neighbour"),
        (&["--neighbour", "-b fio -s 4k"], "fio is another program"),
        (&["--neighbour-share", "50"], "give a --neighbour without a --rate"),
        (
            &["--neighbour", "-s 4k --rate 1k", "--neighbour-share", "50"],
            "give a --neighbour without a --rate",
        ),
        (
            &["--neighbour", "-s 4k", "--between", "a:true", "b:true"],
            "both make the variants of a run",
        ),
        (&["--neighbour", "-s 4k", "-p", "fast"], "compare the cells of a file in a sweep"),
        (&["--neighbour", "-s 4k --rated 5"], "'--rated' is not an option of a neighbour"),
    ] {
        let ran = output(home.std("--batch data.bin").args(options));
        let error = stderr_of(&ran).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(ran.status.code(), Some(2), "{options:?}: {error}");
        assert!(error.contains(said), "{options:?}: {error}");
    }
}
