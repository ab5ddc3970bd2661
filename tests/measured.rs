//! The effects of a run: the data it reads and writes, the order of its trials, its threads, its
//! budget and its files.

use crate::common::stderr_of;
use std::collections::BTreeSet;
use std::fs;

use crate::common::{self, Home, QUICK, data, each};
use serde_json::Value;

#[test]
fn xor_equals_an_independent_one() {
    let home = Home::new();
    // Not a multiple of anything.
    let bytes = data::random(1_000_003, 5);
    data::write(&home.path("data.bin"), &bytes);
    let wanted = Value::from(data::xor(&bytes));
    let mut backends = 0;
    for (line, cells) in [
        ("-s 1k,7777,64k,1000003 -t 1,2,3 --count 0 -c warm", 12),
        ("-s 4093,64k -t 1,2 --pattern random -c warm --count 0", 4),
        ("-s 4093,64k --pattern reverse -c cold -t 2 --count 0", 2),
        ("-s 4093,64k --pattern stride:3 -c asis --count 0", 2),
        ("-s 4k,64k --direct --count 0 -t 1,2", 4),
        ("-s 4k --count 0 -q 1,8 -t 2 -c warm -b uring", 2),
        (
            "-s 4093 -c warm --count 0 -b read+libc,pread+libc,stdio+buf=64k,mmap+populate,mmap-copy+populate",
            1,
        ),
    ] {
        let all = if line.contains("-b ") { "" } else { "-b all" };
        let document = home.json(&format!("--batch data.bin --xor --no-save {QUICK} {all} {line}"));
        let mut by_backend = std::collections::BTreeMap::new();
        for result in
            document["results"].as_array().unwrap().iter().filter(|r| r["cell"]["xor"] == true)
        {
            let backend = result["cell"]["backend"].as_str().unwrap();
            *by_backend.entry(backend).or_insert(0) += 1;
            // The null backend returns without reading, so it has no data.
            if backend != "null" {
                assert_eq!(result["trials"][0]["xor"], wanted, "{line}: {}", result["cell"]);
            }
        }
        assert!(
            by_backend.values().all(|n| *n == cells) && !by_backend.is_empty(),
            "{line}: {by_backend:?}, {}",
            document["skipped"]
        );
        backends = backends.max(by_backend.len());
    }
    assert!(backends >= 6, "{backends} backends move data");
}

#[test]
fn trials_do_the_requested_work() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = |line: &str| {
        home.json(&format!("--batch data.bin --no-save {QUICK} {line}"))["results"][0].clone()
    };
    fn first(result: &Value, key: &str) -> u64 {
        result["trials"][0][key].as_u64().unwrap()
    }

    let result = run("-b pread -s 4k --count 100 -c warm");
    assert_eq!(
        (first(&result, "ops"), first(&result, "bytes"), first(&result, "syscalls")),
        (100, 409_600, 100)
    );
    assert_eq!((first(&result, "passes"), &result["cell"]["count"]), (0, &100.into()));
    let result = run("-b pread -s 4k --count 0 --size 300000 -c warm");
    assert_eq!(
        (first(&result, "ops"), first(&result, "bytes"), first(&result, "passes")),
        (74, 300_000, 1)
    );
    assert_eq!(result["cell"]["span"], 300_000);
    let result = run("-b read -s 4k --count 0 -t 2 --pattern random -c warm");
    assert_eq!(
        (&result["cell"]["threads"], &result["cell"]["pattern"]),
        (&2.into(), &"random".into())
    );
    assert_eq!((first(&result, "ops"), first(&result, "bytes")), (256, 1 << 20));
    assert!(first(&result, "syscalls") > 256, "an lseek where the order jumps");
    let result = run("-b uring -s 4k --count 0 -q 8 -c warm");
    assert_eq!((&result["cell"]["depth"], first(&result, "ops")), (&8.into(), 256));
    assert!(first(&result, "syscalls") < 256, "one call serves many");
    let result = run("-b mmap -s 4k --count 0 --pattern stride:16 -c warm");
    assert_eq!(
        (&result["cell"]["pattern"], first(&result, "syscalls"), first(&result, "bytes")),
        (&"stride:16".into(), 0, 1 << 20)
    );
    let result = run("-b seek -s 4k --count 50");
    assert_eq!(
        (
            &result["cell"]["op"],
            first(&result, "ops"),
            first(&result, "syscalls"),
            first(&result, "bytes")
        ),
        (&"seek".into(), 50, 50, 0)
    );
    assert_eq!((&result["throughput"], &result["source"]), (&Value::Null, &Value::Null));
}

/// Returns (round, label) of each trial in the order they ran.
fn order(lines: &[Value]) -> Vec<(u64, String)> {
    let trials = lines.iter().filter(|l| l["kind"] == "trial");
    trials.map(|l| (l["round"].as_u64().unwrap(), l["cell"].to_string())).collect()
}

#[test]
fn seed_decides_the_trial_order() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = |seed| {
        order(
            &home.jsonl(&format!("--batch data.bin --no-save -b read,pread -s 1k..64k -c warm --trials 3 --trial-time 1ms --seed {seed}")),
        )
    };
    let one = run(1);
    let rounds: Vec<Vec<&str>> = (1..=3)
        .map(|round| one.iter().filter(|t| t.0 == round).map(|t| t.1.as_str()).collect())
        .collect();
    assert!(one.is_sorted_by_key(|t| t.0) && one.len() == 3 * 14, "{one:?}");
    fn cells(round: &[&str]) -> BTreeSet<String> {
        round.iter().map(|c| c.to_string()).collect::<BTreeSet<_>>()
    }
    assert!(
        rounds.iter().all(|r| r.len() == 14 && cells(r) == cells(&rounds[0])),
        "each cell once per round"
    );
    assert!(rounds[0] != rounds[1] && rounds[1] != rounds[2], "rounds differ in order");
    assert_eq!(run(1), one, "the same seed, the same order");
    assert_ne!(run(2), one, "another seed, another order");
}

#[test]
fn mixed_cells_count_their_writes() {
    let home = Home::new();
    let document = home.json(&format!(
        "--batch --dir . --size 1m --mix 0,50,100 -b pread,uring,aio,read -s 4k --count 0 {QUICK}"
    ));
    let results = document["results"].as_array().unwrap();
    assert!(
        results.len() >= 3
            && results.iter().all(|r| r["error"].is_null() && r["cell"]["op"] == "write"),
        "{document}"
    );
    for result in results {
        let (trial, percent) = (&result["trials"][0], result["cell"]["mix"].as_u64().unwrap());
        let (bytes, written) =
            (trial["bytes"].as_u64().unwrap(), trial["evidence"]["written"].as_u64().unwrap());
        // Binomial: of 256 operations 128 read, standard deviation 8.
        let (low, high) = match percent {
            0 => (bytes, bytes),
            100 => (0, 0),
            _ => (bytes / 4, bytes * 3 / 4),
        };
        assert!(
            bytes == 1 << 20 && (low..=high).contains(&written),
            "{written} of {bytes} at {percent} %"
        );
        assert!(trial["xor"].is_null());
    }
    assert!(document["skipped"].to_string().contains("read cannot mix"), "{}", document["skipped"]);
    home.file("data.bin", 1 << 20);
    let document = home.json(&format!(
        "--batch data.bin --cpu-cache keep,flush -b pread -s 64k -c cold,warm {QUICK}"
    ));
    for result in document["results"].as_array().unwrap() {
        let (trial, flush) = (&result["trials"][0], result["cell"]["cpu_cache"] == "flush");
        let loads = &trial["evidence"]["cpu_cache"];
        assert_eq!(
            loads["after_nanos"].as_f64().is_some_and(|nanos| nanos > 0.0),
            flush,
            "{trial}"
        );
        // At most one pass after each flush.
        assert!(
            !flush
                || trial["passes"].as_u64().unwrap()
                    <= trial["evidence"]["parts"].as_u64().unwrap(),
            "{trial}"
        );
        let cached = result["cell"]["cache"] == "warm";
        assert!(!flush || (loads["flushed_bytes"].as_u64().unwrap() > 0) == cached, "{trial}");
    }
    assert_eq!(document["results"].as_array().unwrap().len(), 4);
}

#[test]
fn new_file_is_kept() {
    let home = Home::new();
    let document = home.json(&format!("--batch --op write new.bin --size 1m -s 4k,64k {QUICK}"));
    assert!(
        each(&document["results"], "error").iter().all(|e| e.is_null()),
        "{}",
        document["results"]
    );
    assert_eq!(fs::metadata(home.path("new.bin")).unwrap().len(), 1 << 20);
    let before = data::Print::of(&home.path("new.bin"));
    home.cmd(&format!("--batch --op write new.bin --size 1m {QUICK}")).assert().code(2).stdout("");
    assert_eq!(
        data::Print::of(&home.path("new.bin")),
        before,
        "a file that exists is never written"
    );
    fs::remove_file(home.path("new.bin")).unwrap();
    let report = home.stdout(&format!("--batch --dir . --size 1m --keep -b read -s 64k {QUICK}"));
    let names = home.names();
    assert!(
        names.len() == 1 && fs::metadata(home.path(&names[0])).unwrap().len() == 1 << 20,
        "{names:?}"
    );
    let wanted = format!("the scratch file is kept: {}", home.path(&names[0]).display());
    let unwrapped = |text: &str| text.split_whitespace().collect::<String>();
    assert!(unwrapped(&report).contains(&unwrapped(&wanted)), "{report}");
}

#[test]
fn scratch_folder_is_chosen() {
    let home = Home::new();
    let wanted = Value::from(home.home().to_string_lossy());
    let dir = |command: &mut std::process::Command| {
        let ran = common::output(command.env("TMPDIR", home.home()));
        let plan: Value =
            serde_json::from_slice(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        plan["target"]["dir"].clone()
    };
    let line = "--batch --dry-run --size 1m --format json";
    if !home.on_disk() {
        return;
    }
    assert_eq!(dir(&mut home.std(line)), home.path("").to_str().unwrap().trim_end_matches('/'));
    // No file can be created here, whatever the permissions.
    assert_eq!(dir(home.std(line).current_dir("/proc")), wanted);
    if !fs::metadata("/dev/shm").is_ok_and(|meta| meta.is_dir()) {
        return common::skip("no /dev/shm");
    }
    assert_eq!(dir(home.std(line).current_dir("/dev/shm")), wanted);
    assert_eq!(dir(home.std(&format!("{line} --dir /dev/shm")).current_dir("/proc")), "/dev/shm");
}

#[test]
fn leftover_scratch_file_is_removed() {
    let home = Home::new();
    // No process has an id as high as this.
    for name in [
        ".iotui-scratch-4194999-0",
        ".iotui-scratch-mine",
        &format!(".iotui-scratch-{}-0", std::process::id()),
    ] {
        fs::write(home.path(name), "data").unwrap();
    }
    home.json(&format!("--batch --dir . --size 1m -b pread -s 64k -c warm {QUICK}"));
    assert_eq!(home.names().len(), 2, "{:?}", home.names());
    assert!(!home.path(".iotui-scratch-4194999-0").exists());
}

#[test]
fn more_threads_than_cpus_all_work() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    // Until the last of them has started, the first could already do an operation or more.
    let document = home.json("--batch data.bin -b pread -s 4k -c warm -t 128 --trials 1 --no-save");
    let ops = document["results"][0]["trials"][0]["ops"].as_u64().unwrap();
    assert!(ops >= 128, "{ops} operations by 128 threads");
}

#[test]
fn count_is_shared_by_threads() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for backend in ["pread", "mmap"] {
        let document = home.json(&format!(
            "--batch data.bin -b {backend} -s 4k -n 1 -t 256 -c warm --no-save {QUICK}"
        ));
        let (result, trial) = (&document["results"][0], &document["results"][0]["trials"][0]);
        assert_eq!(
            (&trial["ops"], &trial["bytes"], &trial["passes"]),
            (&1.into(), &4096.into(), &0.into()),
            "{trial}"
        );
        assert_eq!(trial["evidence"]["lane_bytes"], 4096, "{trial}");
        let found = common::warnings(result);
        assert!(found.contains(&"few-operations"), "{found:?}");
        assert!(found.iter().all(|id| !id.starts_with("inconsistent")), "{}", result["warnings"]);
    }
}

#[test]
fn budget_ends_a_run() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let begin = std::time::Instant::now();
    let line = "--batch data.bin -b pread -s 1 -c warm --trial-time 60s --budget 200ms";
    let ran = home.cmd(&format!("{line} --format json")).output().unwrap();
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let complete = document["results"].as_array().unwrap().iter().any(|result| {
        result["trials"].as_array().unwrap().iter().any(|trial| trial["short"] == false)
    });
    assert_eq!(ran.status.code(), Some(i32::from(!complete)), "without a trial it failed");
    assert!(begin.elapsed().as_secs() < 10, "the budget is over long since");
    let id = document["session"].as_str().unwrap();
    let listed = home.json("sessions list");
    assert_eq!((listed[0]["id"].as_str(), listed[0]["state"].as_str()), (Some(id), Some("budget")));
    // Calibration used up the budget: the cell was not reached, or its only trial was cut.
    let (results, skipped) =
        (document["results"].as_array().unwrap(), document["skipped"].as_array().unwrap());
    let cut =
        results.iter().any(|r| r["trials"].as_array().unwrap().iter().any(|t| t["short"] == true));
    assert!(cut || skipped.len() == 1, "{document:#}");
}

#[test]
fn budget_bounds_warming() {
    let home = Home::new();
    let huge = fs::File::create(home.path("huge.bin")).unwrap().set_len(1 << 36);
    if let Err(error) = huge {
        return common::skip(&format!("no file of 64 GiB here: {error}"));
    }
    let begin = std::time::Instant::now();
    // Nothing is measured in that time, unless the machine is very fast.
    home.cmd("--batch huge.bin -b pread -s 1m -c warm --budget 100ms --no-save").output().unwrap();
    assert!(begin.elapsed().as_secs() < 10, "the budget is over long since");
}

#[test]
fn budget_bounds_filling() {
    for target in ["--dir .", "--dir . --keep", "--op write new.bin"] {
        let home = Home::new();
        let ran = common::output(&mut home.std(&format!(
            "--batch {target} --size 1g -b pread -s 64k,1m --budget 1ms --format json"
        )));
        let stderr = stderr_of(&ran);
        assert!(
            ran.status.code() == Some(1) && stderr.contains("of 1 GiB were written to the file"),
            "{target}: {ran:?}"
        );
        assert!(stderr.contains("--budget") && stderr.contains("--size"), "{target}: {stderr}");
        let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
        common::assert_valid(&document);
        assert!(document["results"].as_array().unwrap().is_empty());
        let reasons = each(&document["skipped"], "reason");
        assert!(
            reasons.len() >= 2 && reasons.iter().all(|r| r.as_str().unwrap().contains("budget")),
            "{target}: {reasons:?}"
        );
        let listed = home.json("sessions list");
        assert_eq!(
            (listed[0]["state"].as_str(), listed[0]["measured"].as_u64()),
            (Some("budget"), Some(0)),
            "{target}"
        );
        let id = listed[0]["id"].as_str().unwrap();
        assert!(home.stdout(&format!("sessions show {id}")).contains("1 GiB were"), "{target}");
        assert!(home.names().is_empty(), "{target}: {:?}", home.names());
    }
}

#[test]
fn xor_choice_leaves_ceilings_their_time() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = "--batch data.bin -b pread -s 64k -c warm --ceilings always --no-save --trials 1";
    let document = home.json(&format!("{line} --trial-time 1ms --budget 10m"));
    let ceiling = |name: &str| document["ceilings"][name].as_f64().unwrap();
    // The first run of a home tries the loops for some 200 ms; a pass takes 5.
    assert!(ceiling("read_bytes_per_second") > ceiling("copy_bytes_per_second") / 8.0);
}
