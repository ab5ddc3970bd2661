//! The main job, as a user runs it: formats, sessions, plans.

use crate::common::stderr_of;
use std::collections::BTreeSet;
use std::fs;

use crate::common::{self, Home, QUICK, data, each, kernel, output};
use predicates::prelude::*;
use serde_json::Value;

/// Splits one line of CSV into fields.
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
        .stdout(
            predicate::str::starts_with("From the device: ")
                .and(predicate::str::contains(" so far, not yet certain.")),
        );
    let text = home.stdout(&format!("--batch data.bin {QUICK} --quiet"));
    for (backend, block) in ["read", "mmap", "uring"]
        .iter()
        .flat_map(|b| ["4 KiB", "32 KiB", "256 KiB", "2 MiB"].map(|s| (b, s)))
    {
        let rows =
            text.lines().filter(|l| l.starts_with(backend) && l.contains(&format!(" {block} ")));
        assert_eq!(rows.count(), 2, "{backend} {block} is there cold and warm:\n{text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "a line is wider than 80 columns:\n{text}"
    );
    // Complete and absolute, however the lines are wrapped.
    fn unbroken(text: &str) -> String {
        text.split_whitespace().collect::<String>()
    }
    assert!(
        unbroken(&text).contains(&unbroken(&format!("target {}, 4 MiB", file.display()))),
        "{text}"
    );
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
        common::assert_valid(&document);
        assert!(!document["results"].as_array().unwrap().is_empty(), "{line}");
        assert!(
            each(&document["results"], "error").iter().all(|e| e.is_null()),
            "{line}: {}",
            document["results"]
        );
    }
    assert_eq!(home.names(), ["data.bin"], "scratch and written files are gone");
}

#[test]
fn jsonl_streams_trials_before_results() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let lines = home
        .jsonl("--batch data.bin --trials 2 --trial-time 1ms -b read,pread -s 4k,64k,3m -c warm");
    let all: Vec<&str> = lines.iter().map(|l| l["kind"].as_str().unwrap()).collect();
    assert!(all.contains(&"session"), "it can be imported: {all:?}");
    let kinds: Vec<&str> = all
        .into_iter()
        .filter(|kind| ["trial", "result", "skipped", "end"].contains(kind))
        .collect();
    let wanted: Vec<&str> =
        [vec!["trial"; 8], vec!["result"; 4], vec!["skipped"; 2], vec!["end"]].concat();
    assert_eq!(kinds, wanted);
    let last = lines.last().unwrap();
    assert_eq!((&last["reason"], &last["schema"]), (&"finished".into(), &"iotui/1".into()));
    assert!(
        lines[0]["cell"]["backend"].is_string() && lines[0]["bytes"].as_u64().unwrap() > 0,
        "{}",
        lines[0]
    );
    assert!(
        last["session"]
            .as_str()
            .is_some_and(|id| home.sessions()[0].to_string_lossy().contains(id)),
        "{last}"
    );
}

#[test]
fn metrics_are_kept_in_a_file() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = format!("--batch data.bin {QUICK} -b read,mmap -s 4k --no-save");
    let printed = home.stdout(&format!("{line} --format openmetrics --metrics run.prom"));
    assert_eq!(fs::read_to_string(home.path("run.prom")).unwrap(), printed);
    assert_eq!(printed.lines().filter(|line| line.starts_with("iotui_trials{")).count(), 4);
    assert_eq!(home.names(), ["data.bin", "run.prom"]);
    for (file, why) in [
        ("data.bin", "is the file being measured: choose another --metrics"),
        ("gone/run.prom", "--metrics: cannot write gone/run.prom: its folder does not exist"),
        (".", "--metrics: . is not a file"),
        ("run.prom -o run.prom", "--metrics and --output name the same file"),
    ] {
        let asserted = home.cmd(&format!("{line} --metrics {file}")).assert().code(2);
        asserted.stderr(predicate::str::contains(why));
    }
}

#[test]
fn unsaved_runs_name_no_session() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = format!("--batch data.bin {QUICK} -b read -s 4k");
    let saved = home.stdout(&line);
    assert!(saved.contains("iotui sessions show "), "{saved}");
    let unsaved = home.stdout(&format!("{line} --no-save"));
    assert!(unsaved.contains("run again with --details"), "{unsaved}");
    assert!(!unsaved.contains("sessions show"), "{unsaved}");
}

#[test]
fn csv_has_one_row_per_cell() {
    let home = Home::new();
    home.file("a,b \"c\".bin", 1 << 20);
    let output = home
        .cmd(&format!("--batch -b read,mmap -s 4k,64k {QUICK} --format csv --save a,b"))
        .arg("a,b \"c\".bin")
        .assert()
        .success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let rows: Vec<Vec<String>> = text.lines().map(fields).collect();
    assert_eq!(rows.len(), 1 + 8);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
    let column = |name: &str| {
        rows[0]
            .iter()
            .position(|n| n == name)
            .unwrap_or_else(|| panic!("no column {name}: {:?}", rows[0]))
    };
    let (backend, rate) = (column("backend"), column("throughput_median_bytes_per_second"));
    let found: BTreeSet<&str> = rows[1..].iter().map(|row| row[backend].as_str()).collect();
    assert_eq!(found, BTreeSet::from(["mmap", "read"]));
    assert!(rows[1..].iter().all(|row| row[rate].parse::<f64>().unwrap() > 0.0), "{text}");
}

#[test]
fn saved_session_shows_the_run() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let shown = home.json(&format!("--batch data.bin {QUICK} -b read -s 4k,64k --save first"));
    let id = shown["session"].as_str().unwrap();
    assert_eq!(home.sessions(), [home.sessions_dir().join(format!("{id}.jsonl"))]);
    let list = home.json("sessions list");
    assert_eq!(
        (list[0]["id"].as_str(), list[0]["name"].as_str(), list[0]["state"].as_str()),
        (Some(id), Some("first"), Some("finished"))
    );
    assert_eq!((list[0]["cells"].as_u64(), list[0]["measured"].as_u64()), (Some(4), Some(4)));
    let text = home.stdout("sessions list");
    assert!(
        text.lines().count() == 2
            && text.contains(id)
            && text.contains("data.bin")
            && text.contains("finished"),
        "{text}"
    );
    for by in [id, "first", &id[..id.len() - 1], home.sessions()[0].to_str().unwrap()] {
        assert_eq!(home.json(&format!("sessions show {by}")), shown, "by {by}");
    }
    let table = home.stdout("sessions show first");
    assert!(table.contains("read") && table.contains("In these few trials "), "{table}");
    // Without a name it has a label, which finds it.
    let other = home.json(&format!("--batch data.bin {QUICK} -b pread -s 4k"));
    let list = home.stdout("sessions list");
    assert!(list.contains("data.bin · pread"), "{list}");
    let found = output(home.std("sessions show --format json").arg("data.bin · pread"));
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(found, other);
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
    fs::copy(
        home.sessions_dir().join(format!("{}.jsonl", first["session"].as_str().unwrap())),
        &copy,
    )
    .unwrap();
    home.cmd("sessions delete third").assert().success();
    assert_eq!(each(&home.json("sessions list"), "name"), ["second"]);
    home.cmd("sessions import copy.jsonl").assert().success();
    let again = home.json("sessions show third");
    assert_eq!((&again["results"], &again["plan"]), (&first["results"], &first["plan"]));
    home.cmd("sessions show nothing")
        .assert()
        .code(1)
        .stdout("")
        .stderr(predicate::str::starts_with("iotui: "));
}

#[test]
fn plan_runs_again_with_same_cells() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let first = home.json(&format!(
        "--batch data.bin {QUICK} -b read,uring -s 4k,64k --xor --save first --seed 7"
    ));
    let again = home.json("--batch --plan first");
    assert_eq!(again["plan"], first["plan"]);
    assert_ne!(again["session"], first["session"]);
    let other = home.json("--batch --plan first --seed 8 --trials 2 --budget 9s --no-save");
    assert_eq!(other["plan"]["cells"], first["plan"]["cells"]);
    assert_eq!((&other["plan"]["seed"], &other["plan"]["trials"]), (&8.into(), &2.into()));
    assert_eq!(each(&other["results"], "cell"), each(&first["results"], "cell"));
    home.cmd("--batch --plan first -b mmap").assert().code(2).stdout("");
    home.cmd("--batch --plan second")
        .assert()
        .code(1)
        .stdout("")
        .stderr(predicate::str::contains("second"));
}

#[test]
fn threads_are_pinned_as_asked() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let allowed = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0)).unwrap();
    let cpu = (0..1024).find(|n| allowed.is_set(*n).unwrap_or(false)).unwrap();
    let line = format!("data.bin -b pread -s 64k -t 2 --cpus {cpu}");
    let first = home.json(&format!("--batch {line} {QUICK} --save first"));
    assert_eq!(first["plan"]["cpus"], cpu.to_string());
    assert!(first["results"][0]["error"].is_null(), "{first:#}");
    assert_eq!(home.json("--batch --plan first --no-save")["plan"], first["plan"]);
    let shown = home.stdout(&format!("--batch --dry-run {line}"));
    assert!(shown.contains(&format!("\ncpus    {cpu}: each thread is pinned to one")), "{shown}");
    for (line, said) in [
        ("data.bin --cpus x", "'x' is not a list of CPUs, such as 0,2-3"),
        ("data.bin --cpus 3-1", "'3-1' is not a list of CPUs"),
        ("data.bin --cpus 65535", "--cpus 65535: CPU 65535 is not among "),
        (&format!("data.bin -b fio --cpus {cpu}"), "whose threads iotui cannot pin"),
        (&format!("--probe call --cpus {cpu}"), "--cpus pins the threads of cells of a file"),
    ] {
        let refused = home.cmd(&format!("--batch {QUICK} {line}")).assert().code(2).stdout("");
        refused.stderr(predicate::str::contains(said));
    }
}

#[test]
fn plan_runs_again_from_any_folder() {
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
        let again = common::output(
            home.std(&format!("--batch --plan {name} --no-save --format json"))
                .current_dir(home.path("other")),
        );
        let document: Value =
            serde_json::from_slice(&again.stdout).unwrap_or_else(|e| panic!("{e}: {again:?}"));
        assert_eq!(document["plan"], first["plan"], "{target}");
        assert_eq!(common::names(&home.path("other")), [""; 0], "{target}");
    }
}

#[test]
fn a_dry_run_makes_nothing() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for line in [
        "--dir .",
        "data.bin",
        "--op write new.bin --size 1m",
        "--dir . --keep --size 1m",
        "data.bin -o out.txt --save me",
    ] {
        let text = home.stdout(&format!("--batch --dry-run -b read {line}"));
        let shown = if line.contains("-o out") {
            fs::read_to_string(home.path("out.txt")).unwrap()
        } else {
            text
        };
        assert!(
            shown.starts_with("target ")
                && (shown.contains("\n  read 4 KiB") || shown.contains("\n  write 4 KiB")),
            "{line}: {shown}"
        );
        let _ = fs::remove_file(home.path("out.txt"));
        assert_eq!(home.names(), ["data.bin"], "{line}");
    }
    // The expected value from the facts: the rated speed, not measured here.
    let text = home.stdout("--batch --dry-run -b pread -c cold --rated 100MB/s data.bin");
    assert!(text.contains("\nexpected 95.4 MiB/s (the disk's rated 95.4 MiB/s)\n"), "{text}");
    let plan = home.json("--batch --dry-run data.bin");
    // Three backends, cold and warm; 2 MiB are more than the file has.
    assert_eq!(
        (plan["cells"].as_array().unwrap().len(), plan["skipped"].as_array().unwrap().len()),
        (18, 6)
    );
    assert!(home.sessions().is_empty());
}

#[test]
fn sessions_are_kept_as_asked() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = format!("--batch data.bin {QUICK} -b read -s 64k -c warm");
    assert_eq!(home.json(&format!("{run} --no-save"))["session"], Value::Null);
    assert!(home.sessions().is_empty());
    home.cmd(&format!("{run} --save NAME"))
        .assert()
        .success()
        .stderr(predicate::str::contains("NAME-2").not());
    home.cmd(&format!("{run} --save NAME"))
        .assert()
        .success()
        .stderr(predicate::str::contains("NAME-2"));
    let names: BTreeSet<String> = each(&home.json("sessions list"), "name")
        .iter()
        .map(|n| n.as_str().unwrap().into())
        .collect();
    assert_eq!(names, BTreeSet::from(["NAME".into(), "NAME-2".into()]));
    home.cmd(&format!("{run} --save NAME --quiet")).assert().success().stderr("");
    home.cmd(&format!("{run} --save NAME --no-save")).assert().code(2);
}

#[test]
fn output_file_is_replaced_atomically() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = format!("--batch data.bin {QUICK} -b read -s 64k -c warm");
    for format in ["table", "json", "jsonl", "csv"] {
        home.cmd(&format!("{run} --format {format} -o out")).assert().success().stdout("");
        assert!(fs::read_to_string(home.path("out")).unwrap().ends_with('\n'), "{format}");
    }
    let kept = fs::read_to_string(home.path("out")).unwrap();
    home.cmd(&format!("{run} --count 17 -o out")).assert().code(2);
    // The scratch file would be larger than this process may make one: the run itself fails.
    let mut failing = home.std(&format!("--batch --dir . --size 8m {QUICK} -o out"));
    kernel::limit_files(&mut failing, 1 << 20);
    assert_cmd::Command::from_std(failing)
        .assert()
        .code(1)
        .stdout("")
        .stderr(predicate::str::contains("a file may have at most 1 MiB here (ulimit -f)"));
    assert_eq!(fs::read_to_string(home.path("out")).unwrap(), kept);
    assert_eq!(home.names(), ["data.bin", "out"], "nothing is left next to it");
}

#[test]
fn data_compresses_and_repeats_as_planned() {
    let home = Home::new();
    let line = "--batch new.bin -b pread -s 4k --size 4m --count 0 --trials 2 --save made";
    let how = "--compressible 60 --dedupe 25%";
    let dry = home.stdout(&format!("{line} --op write {how} --dry-run"));
    assert!(dry.contains("compresses by 60 % and of which 25 % repeats"), "{dry}");
    let report = home.json(&format!("{line} --op write {how}"));
    let plan = &report["plan"];
    assert_eq!((&plan["compressible"], &plan["dedupe"]), (&60.into(), &25.into()), "{plan}");
    let data = fs::read(home.path("new.bin")).unwrap();
    let zeros = data.iter().filter(|byte| **byte == 0).count() * 100 / data.len();
    assert!((58..=62).contains(&zeros), "{zeros}");
    let unique: std::collections::HashSet<&[u8]> = data.chunks(4096).collect();
    let repeats = 100 - unique.len() * 100 / (data.len() / 4096);
    assert!((23..=27).contains(&repeats), "{repeats}");
    let table = home.stdout("sessions show made --details");
    assert!(table.contains("60 %"), "{table}");
    // A baseline needs the same plan.
    fs::remove_file(home.path("new.bin")).unwrap();
    let other = home.std("--batch --baseline made --dedupe 30").output().unwrap();
    let printed = stderr_of(&other);
    assert!(printed.contains("the baseline has no cell with --dedupe 30"), "{printed}");
    let fio = home.stdout("sessions show made --format fio");
    for option in ["buffer_compress_percentage=60", "dedupe_percentage=25"] {
        assert!(fio.contains(option), "{fio}");
    }
}
