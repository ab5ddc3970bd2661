//! Operations at a rate: `--rate`, `--arrival`, `--think` and `--latency-target`, from the command
//! line to the exit code. No bound here depends on how fast this machine is.

use serde_json::Value;

use super::common::{self, Home, stderr_of, stdout_of};

const QUICK: &str = "--trials 5 --trial-time 50ms --budget 60s --no-save";

/// Returns the only result of a run.
fn result(home: &Home, line: &str) -> Value {
    let report = home.json(&format!("--batch data.bin {QUICK} {line}"));
    common::assert_valid(&report);
    let results = report["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{line}");
    assert_eq!(results[0]["error"], Value::Null, "{line}");
    results[0].clone()
}

/// Returns the sum of a figure of the pace over all trials.
fn sum(result: &Value, key: &str) -> u64 {
    let trials = result["trials"].as_array().unwrap();
    trials.iter().map(|trial| trial["evidence"]["paced"][key].as_u64().unwrap()).sum()
}

#[test]
fn each_backend_begins_every_operation() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for line in [
        "-b pread",
        "-b read",
        "-b mmap",
        "-b uring",
        "-b uring -q 8",
        "-b aio -q 8 --direct",
        "-b pread -t 3",
        "-b pread --arrival poisson",
        "-b pread --pattern random",
    ] {
        let caches = if line.contains("direct") { "" } else { "-c warm" };
        let found = result(&home, &format!("{line} -s 4k {caches} --rate 1k"));
        assert_eq!(found["cell"]["rate"]["operations"], 1000, "{line}");
        let (intended, unstarted) = (sum(&found, "intended"), sum(&found, "unstarted"));
        let ops: u64 =
            found["trials"].as_array().unwrap().iter().map(|t| t["ops"].as_u64().unwrap()).sum();
        assert_eq!(intended, ops + unstarted, "{line}");
        assert_eq!(intended, 250, "{line}");
        let time = |key: &str, part: &str| found[key][part].as_f64().unwrap();
        assert!(time("latency", "mean") >= time("service", "mean"), "{line}: {found}");
        let reached = found["operations"]["median"].as_f64().unwrap();
        assert!(reached <= 1100.0, "{line}: {reached}");
    }
}

#[test]
fn writes_keep_a_rate_too() {
    let home = Home::new();
    for sync in ["none", "end", "fdatasync", "dsync"] {
        let line = format!("--batch --op write --size 1m -b pread -s 4k --sync {sync} --rate 400");
        let report = home.json(&format!("{line} {QUICK}"));
        let found = &report["results"][0];
        assert_eq!(found["error"], Value::Null, "{sync}");
        assert_eq!(sum(found, "intended"), 100, "{sync}");
        assert_eq!(found["commits"].is_null(), !["fdatasync", "dsync"].contains(&sync), "{sync}");
    }
}

#[test]
fn pauses_follow_operations() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for line in ["-b pread", "-b uring -q 4"] {
        let found = result(&home, &format!("{line} -s 4k -c warm --think 2ms"));
        let depth = found["cell"]["depth"].as_u64().unwrap();
        for trial in found["trials"].as_array().unwrap() {
            let [ops, nanos] = ["ops", "nanos"].map(|key| trial[key].as_u64().unwrap());
            let pauses = ops / depth;
            assert!(nanos >= pauses * 2_000_000, "{line}: {ops} in {nanos} ns");
        }
        assert_eq!(found["cell"]["think"], 2_000_000);
        assert!(found["service"].is_null(), "a closed loop has one latency");
    }
}

#[test]
fn a_search_ends_with_a_rate() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    // Moving no data, nothing depends on a cache that others use too.
    let line = "--batch data.bin -b null -s 4k -n 40 --rate 20,30";
    for (name, target, code, said) in [
        ("all", "p50<1h", 0, "keeps p50<1h up to 30/s"),
        ("none", "p50<1ns", 5, "keeps p50<1ns up to no rate"),
    ] {
        let output =
            home.cmd(&format!("{line} --latency-target {target} --save {name}")).output().unwrap();
        let text = stdout_of(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(code), "{target}: {text}{}", stderr_of(&output));
        assert!(text.contains(said), "{target}: {text}");
        let report = home.json(&format!("sessions show {name}"));
        common::assert_valid(&report);
        assert_eq!(report["plan"]["latency_target"], target);
    }
    // Fifteen trials of two operations have no 99th percentile.
    let line = "--batch data.bin -b null -s 4k -n 2 --rate 200 --latency-target p99<1h --no-save";
    let output = home.cmd(line).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout_of(&output), stderr_of(&output));
}

#[test]
fn searches_end_by_themselves() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = "--batch data.bin -b null -s 4k --trial-time 10ms --rate 1k,2k,3k,4k,5k,6k,7k,8k";
    let report = home.json(&format!("{line} --latency-target p50<1h --no-save"));
    let text = report["answer"]["text"].as_str().unwrap();
    assert!(text.contains("up to 8k/s"), "{text}");
}

#[test]
fn trials_begin_with_a_pause() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let found = result(&home, "-b pread -s 4k -c warm -n 1 --think 20ms");
    for trial in found["trials"].as_array().unwrap() {
        let nanos = trial["nanos"].as_u64().unwrap();
        assert!(nanos >= 20_000_000, "one read, and what precedes it: {nanos} ns");
    }
}

#[test]
fn impossible_paces_are_refused() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for (line, said) in [
        ("-b pread --rate 0", "'0' is not a rate"),
        ("-b pread --rate=-5", "'-5' is not a rate"),
        ("-b pread --rate 99999999999999999999", "--rated is the vendor's speed"),
        ("-b pread --rate 1k --think 1ms", "drop one"),
        ("-b pread --think 2h", "a time up to 1h"),
        ("-b pread --arrival poisson", "add a rate"),
        ("-b fio --rate 1k", "is another program, whose operations iotui does not start"),
        ("-b mmap+populate --rate 1k", "+populate reads the file before the first operation"),
        ("-p fast --rate 1k", "tries its methods at full speed"),
        ("--probe call --rate 1k", "none is selected"),
        ("-b pread --latency-target iops>=1k", "a condition on the response time"),
        ("-b pread --latency-target p99<5ms --trials 3", "drop --trials"),
        ("-b pread --latency-target p99<5ms --until 5%", "drop --until"),
        ("-b pread --latency-target p99<5ms --expect p50<1s", "drop --expect"),
        ("-b pread --latency-target p99<5ms --think 1ms", "drop one"),
        ("-b pread -c cold --fresh --rate 1k", "it excludes --count, --rate"),
    ] {
        let output = home.cmd(&format!("--batch data.bin -s 4k {line}")).output().unwrap();
        let error = stderr_of(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(error.contains(said), "{line}: {error}");
    }
}
