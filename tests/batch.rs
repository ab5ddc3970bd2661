//! The main job, as a user runs it: formats, sessions, plans, what is measured and what is left behind.

mod common;

use std::collections::BTreeSet;
use std::fs;

use common::{Home, QUICK, data, each, kernel};
use predicates::prelude::*;
use serde_json::Value;

const SCHEMA: &str = include_str!("../assets/schema/iotui-1.schema.json");

fn assert_valid(document: &Value) {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// The fields of one line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

#[test]
fn a_table_of_the_default_job() {
    let home = Home::new();
    let file = home.file("data.bin", 4 << 20);
    let before = data::Print::of(&file);
    let asserted = home.cmd(&format!("--batch data.bin {QUICK}")).assert().success();
    asserted
        .stderr(predicate::str::contains("saved ").and(predicate::str::contains(".jsonl")))
        .stdout(predicate::str::starts_with("target ").and(predicate::str::contains("Fastest: ")));
    let text = home.stdout(&format!("--batch data.bin {QUICK} --quiet"));
    for (backend, block) in ["read", "mmap", "uring"].iter().flat_map(|b| ["4 KiB", "32 KiB", "256 KiB", "2 MiB"].map(|s| (b, s))) {
        let rows = text.lines().filter(|l| l.starts_with(backend) && l.contains(&format!(" {block} ")));
        assert_eq!(rows.count(), 2, "{backend} {block} is there cold and warm:\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "a line is wider than 80 columns:\n{text}");
    // Whole and absolute, however it is broken into lines.
    let unbroken = |text: &str| text.split_whitespace().collect::<String>();
    assert!(unbroken(&text).contains(&unbroken(&format!("target {}, 4 MiB", file.display()))), "{text}");
    assert_eq!(data::Print::of(&file), before, "the user's file changed");
    assert_eq!(home.names(), ["data.bin"]);
}

#[test]
fn json_is_what_the_schema_says() {
    let home = Home::new();
    home.file("data.bin", (1 << 20) + 3);
    for line in [
        "data.bin",
        "--dir . --size 1m",
        "--dir . --op write --size 1m -b all --sync end",
        "data.bin -b all -s 7,4k -t 1,2 -q 1,4 --xor --pattern random",
        "data.bin --direct",
    ] {
        let document = home.json(&format!("--batch {line} {QUICK}"));
        assert_valid(&document);
        assert!(!document["results"].as_array().unwrap().is_empty(), "{line}");
        assert!(each(&document["results"], "error").iter().all(|e| e.is_null()), "{line}: {}", document["results"]);
    }
    assert_eq!(home.names(), ["data.bin"], "scratch and written files are gone");
}

#[test]
fn jsonl_tells_each_trial_before_the_results() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let lines = home.jsonl("--batch data.bin --trials 2 --trial-time 1ms -b read,pread -s 4k,64k,3m -c warm");
    let kinds: Vec<&str> = lines.iter().map(|l| l["kind"].as_str().unwrap()).collect();
    let wanted: Vec<&str> = [vec!["trial"; 8], vec!["result"; 4], vec!["skipped"; 2], vec!["end"]].concat();
    assert_eq!(kinds, wanted);
    let last = lines.last().unwrap();
    assert_eq!((&last["reason"], &last["schema"]), (&"finished".into(), &"iotui/1".into()));
    assert!(lines[0]["cell"]["backend"].is_string() && lines[0]["bytes"].as_u64().unwrap() > 0, "{}", lines[0]);
    assert!(last["session"].as_str().is_some_and(|id| home.sessions()[0].to_string_lossy().contains(id)), "{last}");
}

#[test]
fn csv_has_a_row_per_cell_and_equal_columns() {
    let home = Home::new();
    home.file("a,b \"c\".bin", 1 << 20);
    let output =
        home.cmd(&format!("--batch -b read,mmap -s 4k,64k {QUICK} --format csv --save a,b")).arg("a,b \"c\".bin").assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let rows: Vec<Vec<String>> = text.lines().map(fields).collect();
    assert_eq!(rows.len(), 1 + 8);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
    let column = |name: &str| rows[0].iter().position(|n| n == name).unwrap_or_else(|| panic!("no column {name}: {:?}", rows[0]));
    let (backend, rate) = (column("backend"), column("throughput_median_bytes_per_second"));
    let found: BTreeSet<&str> = rows[1..].iter().map(|row| row[backend].as_str()).collect();
    assert_eq!(found, BTreeSet::from(["mmap", "read"]));
    assert!(rows[1..].iter().all(|row| row[rate].parse::<f64>().unwrap() > 0.0), "{text}");
}

#[test]
fn a_session_is_kept_and_shows_what_the_run_showed() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let shown = home.json(&format!("--batch data.bin {QUICK} -b read -s 4k,64k --save first"));
    let id = shown["session"].as_str().unwrap();
    assert_eq!(home.sessions(), [home.sessions_dir().join(format!("{id}.jsonl"))]);
    let list = home.json("sessions list");
    assert_eq!((list[0]["id"].as_str(), list[0]["name"].as_str(), list[0]["state"].as_str()), (Some(id), Some("first"), Some("finished")));
    assert_eq!((list[0]["cells"].as_u64(), list[0]["measured"].as_u64()), (Some(4), Some(4)));
    let text = home.stdout("sessions list");
    assert!(text.lines().count() == 2 && text.contains(id) && text.contains("data.bin") && text.contains("finished"), "{text}");
    for by in [id, "first", &id[..id.len() - 1], home.sessions()[0].to_str().unwrap()] {
        assert_eq!(home.json(&format!("sessions show {by}")), shown, "by {by}");
    }
    let table = home.stdout("sessions show first");
    assert!(table.contains("read") && table.contains("Fastest: "), "{table}");
}

#[test]
fn sessions_are_renamed_deleted_and_imported() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = format!("--batch data.bin {QUICK} -b read -s 64k -c warm");
    let first = home.json(&format!("{run} --save first"));
    home.json(&format!("{run} --save second"));
    home.cmd("sessions rename first third").assert().success();
    let copy = home.path("copy.jsonl");
    fs::copy(home.sessions_dir().join(format!("{}.jsonl", first["session"].as_str().unwrap())), &copy).unwrap();
    home.cmd("sessions delete third").assert().success();
    assert_eq!(each(&home.json("sessions list"), "name"), ["second"]);
    home.cmd("sessions import copy.jsonl").assert().success();
    let again = home.json("sessions show third");
    assert_eq!((&again["results"], &again["plan"]), (&first["results"], &first["plan"]));
    home.cmd("sessions show nothing").assert().code(1).stdout("").stderr(predicate::str::starts_with("iotui: "));
}

#[test]
fn a_plan_runs_again_with_the_same_cells() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let first = home.json(&format!("--batch data.bin {QUICK} -b read,uring -s 4k,64k --xor --save first --seed 7"));
    let again = home.json("--batch --plan first");
    assert_eq!(again["plan"], first["plan"]);
    assert_ne!(again["session"], first["session"]);
    let other = home.json("--batch --plan first --seed 8 --trials 2 --budget 9s --no-save");
    assert_eq!(other["plan"]["cells"], first["plan"]["cells"]);
    assert_eq!((&other["plan"]["seed"], &other["plan"]["trials"]), (&8.into(), &2.into()));
    assert_eq!(each(&other["results"], "cell"), each(&first["results"], "cell"));
    home.cmd("--batch --plan first -b mmap").assert().code(2).stdout("");
    home.cmd("--batch --plan second").assert().code(1).stdout("").stderr(predicate::str::contains("second"));
}

#[test]
fn a_plan_runs_again_from_any_folder_on_the_same_file() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    fs::create_dir(home.path("other")).unwrap();
    std::os::unix::fs::symlink("data.bin", home.path("link")).unwrap();
    let dir = home.path("");
    let dir = dir.to_str().unwrap().trim_end_matches('/');
    for (name, target, key, wanted) in [
        ("file", "data.bin", "path", format!("{dir}/data.bin")),
        ("dots", "./other/../data.bin", "path", format!("{dir}/other/../data.bin")),
        ("link", "link", "path", format!("{dir}/link")),
        ("scratch", "--dir . --size 1m", "dir", dir.to_string()),
        ("new", "--op write new.bin --size 1m", "path", format!("{dir}/new.bin")),
    ] {
        let first = home.json(&format!("--batch {target} -b pread -s 64k {QUICK} --save {name}"));
        assert_eq!(first["plan"]["target"][key], wanted, "{target}");
        let _ = fs::remove_file(home.path("new.bin"));
        let again = common::output(home.std(&format!("--batch --plan {name} --no-save --format json")).current_dir(home.path("other")));
        let document: Value = serde_json::from_slice(&again.stdout).unwrap_or_else(|e| panic!("{e}: {again:?}"));
        assert_eq!(document["plan"], first["plan"], "{target}");
        assert_eq!(common::names(&home.path("other")), [""; 0], "{target}");
    }
}

#[test]
fn a_dry_run_makes_nothing() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for line in ["--dir .", "data.bin", "--op write new.bin --size 1m", "--dir . --keep --size 1m", "data.bin -o out.txt --save me"] {
        let text = home.stdout(&format!("--batch --dry-run -b read {line}"));
        let shown = if line.contains("-o out") { fs::read_to_string(home.path("out.txt")).unwrap() } else { text };
        assert!(shown.starts_with("target ") && shown.contains("\n  read 4 KiB"), "{line}: {shown}");
        let _ = fs::remove_file(home.path("out.txt"));
        assert_eq!(home.names(), ["data.bin"], "{line}");
    }
    // What facts say of it beforehand: the rated speed, not measured here.
    let text = home.stdout("--batch --dry-run -b pread -c cold --rated 100MB/s data.bin");
    assert!(text.contains("\nexpected 95.4 MiB/s by the 95.4 MiB/s that the vendor of the disk names\n"), "{text}");
    let plan = home.json("--batch --dry-run data.bin");
    // Three backends, cold and warm; 2 MiB are more than the file has.
    assert_eq!((plan["cells"].as_array().unwrap().len(), plan["skipped"].as_array().unwrap().len()), (18, 6));
    assert!(home.sessions().is_empty());
}

#[test]
fn sessions_are_kept_as_asked() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = format!("--batch data.bin {QUICK} -b read -s 64k -c warm");
    assert_eq!(home.json(&format!("{run} --no-save"))["session"], Value::Null);
    assert!(home.sessions().is_empty());
    home.cmd(&format!("{run} --save NAME")).assert().success().stderr(predicate::str::contains("NAME-2").not());
    home.cmd(&format!("{run} --save NAME")).assert().success().stderr(predicate::str::contains("NAME-2"));
    let names: BTreeSet<String> = each(&home.json("sessions list"), "name").iter().map(|n| n.as_str().unwrap().into()).collect();
    assert_eq!(names, BTreeSet::from(["NAME".into(), "NAME-2".into()]));
    home.cmd(&format!("{run} --save NAME --quiet")).assert().success().stderr("");
    home.cmd(&format!("{run} --save NAME --no-save")).assert().code(2);
}

#[test]
fn an_output_file_is_whole_or_as_it_was() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = format!("--batch data.bin {QUICK} -b read -s 64k -c warm");
    for format in ["table", "json", "jsonl", "csv"] {
        home.cmd(&format!("{run} --format {format} -o out")).assert().success().stdout("");
        assert!(fs::read_to_string(home.path("out")).unwrap().ends_with('\n'), "{format}");
    }
    let kept = fs::read_to_string(home.path("out")).unwrap();
    home.cmd(&format!("{run} --count 17 -o out")).assert().code(2);
    // A disk that fails while the scratch file is written: the run itself fails.
    let mut failing = home.std(&format!("--batch --dir . --size 8m {QUICK} -o out"));
    kernel::limit_files(&mut failing, 1 << 20);
    assert_cmd::Command::from_std(failing).assert().code(1).stdout("").stderr(predicate::str::contains("writing the file"));
    assert_eq!(fs::read_to_string(home.path("out")).unwrap(), kept);
    assert_eq!(home.names(), ["data.bin", "out"], "nothing is left beside it");
}

#[test]
fn xor_equals_an_independent_one() {
    let home = Home::new();
    // No multiple of anything.
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
        ("-s 4093 -c warm --count 0 -b read+libc,pread+libc,stdio+buf=64k,mmap+populate,mmap-copy+populate", 1),
    ] {
        let all = if line.contains("-b ") { "" } else { "-b all" };
        let document = home.json(&format!("--batch data.bin --xor --no-save {QUICK} {all} {line}"));
        let mut by_backend = std::collections::BTreeMap::new();
        for result in document["results"].as_array().unwrap().iter().filter(|r| r["cell"]["xor"] == true) {
            let backend = result["cell"]["backend"].as_str().unwrap();
            *by_backend.entry(backend).or_insert(0) += 1;
            // What iotui itself gives back without reading is no data.
            if backend != "null" {
                assert_eq!(result["trials"][0]["xor"], wanted, "{line}: {}", result["cell"]);
            }
        }
        assert!(by_backend.values().all(|n| *n == cells) && !by_backend.is_empty(), "{line}: {by_backend:?}, {}", document["skipped"]);
        backends = backends.max(by_backend.len());
    }
    assert!(backends >= 6, "{backends} backends move data");
}

#[test]
fn what_was_asked_is_what_was_done() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = |line: &str| home.json(&format!("--batch data.bin --no-save {QUICK} {line}"))["results"][0].clone();
    let first = |result: &Value, key: &str| result["trials"][0][key].as_u64().unwrap();

    let result = run("-b pread -s 4k --count 100 -c warm");
    assert_eq!((first(&result, "ops"), first(&result, "bytes"), first(&result, "syscalls")), (100, 409_600, 100));
    assert_eq!((first(&result, "passes"), &result["cell"]["count"]), (0, &100.into()));
    let result = run("-b pread -s 4k --count 0 --size 300000 -c warm");
    assert_eq!((first(&result, "ops"), first(&result, "bytes"), first(&result, "passes")), (74, 300_000, 1));
    assert_eq!(result["cell"]["span"], 300_000);
    let result = run("-b read -s 4k --count 0 -t 2 --pattern random -c warm");
    assert_eq!((&result["cell"]["threads"], &result["cell"]["pattern"]), (&2.into(), &"random".into()));
    assert_eq!((first(&result, "ops"), first(&result, "bytes")), (256, 1 << 20));
    assert!(first(&result, "syscalls") > 256, "an lseek where the order jumps");
    let result = run("-b uring -s 4k --count 0 -q 8 -c warm");
    assert_eq!((&result["cell"]["depth"], first(&result, "ops")), (&8.into(), 256));
    assert!(first(&result, "syscalls") < 256, "one call serves many");
    let result = run("-b mmap -s 4k --count 0 --pattern stride:16 -c warm");
    assert_eq!((&result["cell"]["pattern"], first(&result, "syscalls"), first(&result, "bytes")), (&"stride:16".into(), 0, 1 << 20));
    let result = run("-b seek -s 4k --count 50");
    assert_eq!(
        (&result["cell"]["op"], first(&result, "ops"), first(&result, "syscalls"), first(&result, "bytes")),
        (&"seek".into(), 50, 50, 0)
    );
    assert_eq!((&result["throughput"], &result["source"]), (&Value::Null, &Value::Null));
}

/// (round, label) of each trial in the order they ran.
fn order(lines: &[Value]) -> Vec<(u64, String)> {
    let trials = lines.iter().filter(|l| l["kind"] == "trial");
    trials.map(|l| (l["round"].as_u64().unwrap(), l["cell"].to_string())).collect()
}

#[test]
fn trials_come_in_rounds_whose_order_the_seed_decides() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = |seed| {
        order(
            &home.jsonl(&format!("--batch data.bin --no-save -b read,pread -s 1k..64k -c warm --trials 3 --trial-time 1ms --seed {seed}")),
        )
    };
    let one = run(1);
    let rounds: Vec<Vec<&str>> = (1..=3).map(|round| one.iter().filter(|t| t.0 == round).map(|t| t.1.as_str()).collect()).collect();
    assert!(one.is_sorted_by_key(|t| t.0) && one.len() == 3 * 14, "{one:?}");
    let cells = |round: &[&str]| round.iter().map(|c| c.to_string()).collect::<BTreeSet<_>>();
    assert!(rounds.iter().all(|r| r.len() == 14 && cells(r) == cells(&rounds[0])), "each cell once per round");
    assert!(rounds[0] != rounds[1] && rounds[1] != rounds[2], "rounds differ in order");
    assert_eq!(run(1), one, "the same seed, the same order");
    assert_ne!(run(2), one, "another seed, another order");
}

#[test]
fn a_mix_counts_what_it_wrote_and_a_flush_is_shown_by_its_loads() {
    let home = Home::new();
    let document = home.json(&format!("--batch --dir . --size 1m --mix 0,50,100 -b pread,uring,aio,read -s 4k --count 0 {QUICK}"));
    let results = document["results"].as_array().unwrap();
    assert!(results.len() >= 3 && results.iter().all(|r| r["error"].is_null() && r["cell"]["op"] == "write"), "{document}");
    for result in results {
        let (trial, percent) = (&result["trials"][0], result["cell"]["mix"].as_u64().unwrap());
        let (bytes, written) = (trial["bytes"].as_u64().unwrap(), trial["evidence"]["written"].as_u64().unwrap());
        // Binomial: of 256 operations 128 read, standard deviation 8.
        let (low, high) = match percent {
            0 => (bytes, bytes),
            100 => (0, 0),
            _ => (bytes / 4, bytes * 3 / 4),
        };
        assert!(bytes == 1 << 20 && (low..=high).contains(&written), "{written} of {bytes} at {percent} %");
        assert!(trial["xor"].is_null());
    }
    assert!(document["skipped"].to_string().contains("read cannot mix"), "{}", document["skipped"]);
    home.file("data.bin", 1 << 20);
    let document = home.json(&format!("--batch data.bin --cpu-cache keep,flush -b pread -s 64k -c cold,warm {QUICK}"));
    for result in document["results"].as_array().unwrap() {
        let (trial, flush) = (&result["trials"][0], result["cell"]["cpu_cache"] == "flush");
        let loads = &trial["evidence"]["cpu_cache"];
        assert_eq!(loads["after_nanos"].as_f64().is_some_and(|nanos| nanos > 0.0), flush, "{trial}");
        // One pass at most after each flush.
        assert!(!flush || trial["passes"].as_u64().unwrap() <= trial["evidence"]["parts"].as_u64().unwrap(), "{trial}");
        let cached = result["cell"]["cache"] == "warm";
        assert!(!flush || (loads["flushed_bytes"].as_u64().unwrap() > 0) == cached, "{trial}");
    }
    assert_eq!(document["results"].as_array().unwrap().len(), 4);
}

#[test]
fn a_new_file_is_kept_where_it_was_named() {
    let home = Home::new();
    let document = home.json(&format!("--batch --op write new.bin --size 1m -s 4k,64k {QUICK}"));
    assert!(each(&document["results"], "error").iter().all(|e| e.is_null()), "{}", document["results"]);
    assert_eq!(fs::metadata(home.path("new.bin")).unwrap().len(), 1 << 20);
    let before = data::Print::of(&home.path("new.bin"));
    home.cmd(&format!("--batch --op write new.bin --size 1m {QUICK}")).assert().code(2).stdout("");
    assert_eq!(data::Print::of(&home.path("new.bin")), before, "a file that exists is never written");
    fs::remove_file(home.path("new.bin")).unwrap();
    home.cmd(&format!("--batch --dir . --size 1m --keep -b read -s 64k {QUICK}")).assert().success();
    let names = home.names();
    assert!(names.len() == 1 && fs::metadata(home.path(&names[0])).unwrap().len() == 1 << 20, "{names:?}");
}

#[test]
fn scratch_files_go_where_they_can_be_made() {
    let home = Home::new();
    let wanted = Value::from(home.home().to_string_lossy());
    let dir = |command: &mut std::process::Command| {
        let ran = common::output(command.env("TMPDIR", home.home()));
        let plan: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        plan["target"]["dir"].clone()
    };
    let line = "--batch --dry-run --size 1m --format json";
    if !home.on_disk() {
        return;
    }
    assert_eq!(dir(&mut home.std(line)), home.path("").to_str().unwrap().trim_end_matches('/'));
    // Here no file can be made, whatever the permissions.
    assert_eq!(dir(home.std(line).current_dir("/proc")), wanted);
    if !fs::metadata("/dev/shm").is_ok_and(|meta| meta.is_dir()) {
        return common::skip("no /dev/shm");
    }
    assert_eq!(dir(home.std(line).current_dir("/dev/shm")), wanted);
    assert_eq!(dir(home.std(&format!("{line} --dir /dev/shm")).current_dir("/proc")), "/dev/shm");
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let home = Home::new();
    // No process has so high a number.
    for name in [".iotui-scratch-4194999-0", ".iotui-scratch-mine", &format!(".iotui-scratch-{}-0", std::process::id())] {
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
    // Until the last of them has begun, the first could do one operation and more.
    let document = home.json("--batch data.bin -b pread -s 4k -c warm -t 128 --trials 1 --no-save");
    let ops = document["results"][0]["trials"][0]["ops"].as_u64().unwrap();
    assert!(ops >= 128, "{ops} operations by 128 threads");
}

#[test]
fn one_operation_by_many_threads_is_one_operation() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for backend in ["pread", "mmap"] {
        let document = home.json(&format!("--batch data.bin -b {backend} -s 4k -n 1 -t 256 -c warm --no-save {QUICK}"));
        let (result, trial) = (&document["results"][0], &document["results"][0]["trials"][0]);
        assert_eq!((&trial["ops"], &trial["bytes"], &trial["passes"]), (&1.into(), &4096.into(), &0.into()), "{trial}");
        assert_eq!(trial["evidence"]["lane_bytes"], 4096, "{trial}");
        let found = common::warnings(result);
        assert!(found.contains(&"few-operations"), "{found:?}");
        assert!(found.iter().all(|id| !id.starts_with("inconsistent")), "{}", result["warnings"]);
    }
}

#[test]
fn the_budget_ends_a_run_and_says_so() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let begin = std::time::Instant::now();
    let document = home.json("--batch data.bin -b pread -s 1 -c warm --trial-time 60s --budget 200ms");
    assert!(begin.elapsed().as_secs() < 10, "the budget is over long since");
    let id = document["session"].as_str().unwrap();
    let listed = home.json("sessions list");
    assert_eq!((listed[0]["id"].as_str(), listed[0]["state"].as_str()), (Some(id), Some("budget")));
    // Calibration used it up: the cell was not reached, or its one trial was cut.
    let (results, skipped) = (document["results"].as_array().unwrap(), document["skipped"].as_array().unwrap());
    let cut = results.iter().any(|r| r["trials"].as_array().unwrap().iter().any(|t| t["short"] == true));
    assert!(cut || skipped.len() == 1, "{document:#}");
}

#[test]
fn the_budget_bounds_the_reading_into_the_cache_too() {
    let home = Home::new();
    let huge = fs::File::create(home.path("huge.bin")).unwrap().set_len(1 << 36);
    if let Err(error) = huge {
        return common::skip(&format!("no file of 64 GiB here: {error}"));
    }
    let begin = std::time::Instant::now();
    home.json("--batch huge.bin -b pread -s 1m -c warm --budget 100ms --no-save");
    assert!(begin.elapsed().as_secs() < 10, "the budget is over long since");
}

#[test]
fn the_budget_bounds_the_filling_of_the_file_too() {
    for target in ["--dir .", "--dir . --keep", "--op write new.bin"] {
        let home = Home::new();
        let ran = common::output(&mut home.std(&format!("--batch {target} --size 1g -b pread -s 64k,1m --budget 1ms --format json")));
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() && stderr.contains("of the file's 1 GiB were filled"), "{target}: {ran:?}");
        assert!(stderr.contains("--budget") && stderr.contains("--size"), "{target}: {stderr}");
        let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_valid(&document);
        assert!(document["results"].as_array().unwrap().is_empty());
        let reasons = each(&document["skipped"], "reason");
        assert!(reasons.len() >= 2 && reasons.iter().all(|r| r.as_str().unwrap().contains("budget")), "{target}: {reasons:?}");
        let listed = home.json("sessions list");
        assert_eq!((listed[0]["state"].as_str(), listed[0]["measured"].as_u64()), (Some("budget"), Some(0)), "{target}");
        let id = listed[0]["id"].as_str().unwrap();
        assert!(home.stdout(&format!("sessions show {id}")).contains("1 GiB were"), "{target}");
        assert!(home.names().is_empty(), "{target}: {:?}", home.names());
    }
}
