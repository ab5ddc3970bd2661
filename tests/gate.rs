//! A run compared with a baseline: what is run, what is printed, the exit codes, and what is
//! refused before the run.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use crate::common::{self, Home, kernel, output};
use serde_json::{Value, json};

/// Five trials of the bare loop and of one backend, with 64 KiB.
const CELLS: &str = "-b null,pread -s 4k -c warm";
const FIVE: &str = "--trials 5 --trial-time 1ms --budget 10m";
/// Far more than two runs on one machine ever differ.
const FAR: f64 = 1000.0;

/// Creates a home with a file and a session of it named `base`.
fn measured() -> Home {
    let home = Home::new();
    home.file("data.bin", 65536);
    home.stdout(&format!("--batch data.bin {CELLS} {FIVE} --quiet --save base"));
    home
}

/// Copies the session `base` with every line passed through `change`; false drops the line.
fn doctored(home: &Home, name: &str, change: impl Fn(&mut Value) -> bool) -> PathBuf {
    let text = fs::read_to_string(&home.sessions()[0]).unwrap();
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if change(&mut line) {
            lines.push(line.to_string() + "\n");
        }
    }
    let path = home.path(name);
    fs::write(&path, lines.concat()).unwrap();
    path
}

/// Copies `base` as if its trials had been `factor` times as fast.
fn faster(home: &Home, factor: f64) -> PathBuf {
    doctored(home, "other.jsonl", |line| {
        if line["kind"] == "trial" {
            // Changes the time, because the calls of a short trial may be too few to divide.
            line["nanos"] = json!((line["nanos"].as_u64().unwrap() as f64 / factor).ceil() as u64);
        }
        true
    })
}

fn run(home: &Home, line: &str) -> Output {
    output(&mut home.std(&format!("--batch --trial-time 1ms --budget 10m {line}")))
}

fn texts(output: &Output) -> (i32, String, String) {
    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Joins wrapped lines.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn baseline_is_compared_below_the_table() {
    let home = measured();
    let (code, stdout, stderr) =
        texts(&run(&home, "--baseline base --trials 6 --seed 3 --save again"));
    assert_eq!(code, 0, "{stderr}");
    let (table, below) =
        stdout.split_once("\nA  ").unwrap_or_else(|| panic!("no comparison:\n{stdout}"));
    assert!(
        table.starts_with("Fastest: ")
            && (below.contains("B against A:") || below.contains("inconclusive"))
            && below.contains("Differences between A and B"),
        "{stdout}"
    );
    assert!(
        below.contains("5 | 6")
            && !below.contains("Gate:")
            && stdout.lines().all(|line| line.chars().count() <= 80),
        "{stdout}"
    );
    let both = home.json("sessions compare base again");
    assert_eq!(common::each(&both["others"][0]["cells"], "other_trials"), [6, 6]);
    assert_eq!(both["others"][0]["alone"], json!([]));
    let plan = home.json("--batch --baseline base --dry-run");
    assert_eq!((plan["cells"].as_array().unwrap().len(), home.sessions().len()), (2, 2));
}

#[test]
fn peak_repeats_its_only_backend() {
    let home = Home::new();
    home.file("data.bin", 65536);
    home.stdout("--batch data.bin -p peak --trials 1 --trial-time 1ms --quiet --save base");
    let plan = home.json("--batch data.bin -p peak --baseline base --dry-run");
    let backend = |cell: &Value| cell["backend"]["id"].clone();
    let cells = plan["cells"].as_array().unwrap();
    assert!(!cells.is_empty() && cells.iter().all(|cell| backend(cell) == backend(&cells[0])));
    let other = run(&home, "data.bin -p peak -b uring,aio --baseline base --dry-run");
    let (code, _, stderr) = texts(&other);
    assert!(code == 2 && stderr.contains("the baseline has no cell with --backend"), "{stderr}");
}

#[test]
fn slower_run_exits_with_3() {
    let home = measured();
    let before = faster(&home, FAR);
    for limit in ["5", "5%", "2.5%", "0", "80"] {
        let (code, stdout, stderr) =
            texts(&run(&home, &format!("--baseline other.jsonl --fail-if-slower {limit} --quiet")));
        assert_eq!((code, stderr.as_str()), (3, ""), "{limit}: {stdout}");
        let wanted = format!(
            "Gate: 2 of 2 cells are slower than the baseline by more than {} %:",
            limit.trim_end_matches('%')
        );
        assert!(
            joined(&stdout).contains(&wanted) && stdout.contains("slower: pread 4 KiB warm "),
            "{stdout}"
        );
    }
    // Repeating the same settings does not change the cells; a limit above the difference passes.
    let said = format!("{CELLS} --op read -t 1 data.bin");
    assert_eq!(
        texts(&run(&home, &format!("--baseline other.jsonl --fail-if-slower 5 {said}"))).0,
        3
    );
    assert_eq!(texts(&run(&home, "--baseline other.jsonl --fail-if-slower 99.99%")).0, 0);
    fs::remove_file(before).unwrap();
    faster(&home, 1.0 / FAR);
    let (code, stdout, stderr) = texts(&run(&home, "--baseline other.jsonl --fail-if-slower 5%"));
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert!(
        joined(&stdout).contains("Gate: none of 2 cells is slower than the baseline by more than 5 %; the intervals detect losses of "),
        "{stdout}"
    );
}

#[test]
fn json_stays_clean_with_a_gate() {
    let home = measured();
    faster(&home, FAR);
    for format in ["json", "jsonl", "csv"] {
        let line = format!("--baseline other.jsonl --fail-if-slower 5% --format {format}");
        let (code, stdout, stderr) = texts(&run(&home, &line));
        assert_eq!(code, 3, "{stderr}");
        assert!(
            !stdout.contains("Gate")
                && stderr.contains("B against A:")
                && stderr.contains("Gate: 2 of 2 cells"),
            "{stdout}\n{stderr}"
        );
        let (code, stdout, stderr) = texts(&run(&home, &format!("{line} --quiet")));
        assert_eq!((code, stderr.lines().count(), stdout.is_empty()), (3, 1, false), "{stderr}");
        assert!(stderr.starts_with("iotui: Gate: 2 of 2 cells are slower"), "{stderr}");
    }
    let (code, stdout, _) =
        texts(&run(&home, "--baseline other.jsonl --fail-if-slower 5% --quiet -o out.txt"));
    assert_eq!((code, stdout.as_str()), (3, ""));
    assert!(fs::read_to_string(home.path("out.txt")).unwrap().contains("Gate: 2 of 2"));
    let (_, stdout, stderr) = texts(&run(&home, "--baseline other.jsonl --quiet --anonymous"));
    assert!(
        stdout.contains("B against A:") && !stdout.contains("data.bin") && stderr.is_empty(),
        "{stdout}{stderr}"
    );
}

#[test]
fn exit_codes_have_an_order() {
    let home = Home::new();
    let file = fs::File::create(home.path("data.bin")).unwrap();
    file.set_len(65536).unwrap();
    // On a file that is one hole every figure is wrong, except that of the bare loop, which reads
    // nothing.
    home.stdout(&format!(
        "--batch data.bin -b null,pread,uring -s 4k -c asis {FIVE} --quiet --save base"
    ));
    fn change(line: &mut Value) -> bool {
        if line["kind"] == "trial" {
            line["ops"] = json!((line["ops"].as_u64().unwrap() as f64 * FAR) as u64);
        }
        if line["kind"] == "verdict" && line["cell"] == 2 {
            line["error"] = json!("it failed");
        }
        line["kind"] != "trial" || line["cell"] != 2
    }
    doctored(&home, "failed.jsonl", change);
    let line = "--baseline failed.jsonl --fail-if-slower 5% --quiet";
    let (code, stdout, _) = texts(&run(&home, line));
    assert_eq!(code, 3, "{stdout}");
    assert!(joined(&stdout).contains("The baseline has no valid figure for 2 cells."), "{stdout}");
    assert_eq!(texts(&run(&home, &format!("{line} --strict"))).0, 4);
    // A cell that failed in the baseline may fail again: then the exit code is 1, whatever else is
    // wrong or slower.
    let mut command = home.std(&format!("--batch --trial-time 1ms --budget 10m {line} --strict"));
    kernel::forbid_uring(&mut command);
    let (code, stdout, _) = texts(&output(&mut command));
    assert!(
        code == 1 && stdout.contains("EPERM") && stdout.contains("slower: null"),
        "{code}: {stdout}"
    );
    // Something available in the baseline but unavailable here makes it another plan.
    let mut command = home.std("--batch --baseline base --trials 5");
    kernel::forbid_uring(&mut command);
    let (code, _, stderr) = texts(&output(&mut command));
    assert!(
        code == 2 && stderr.contains("not comparable: uring 4 KiB") && stderr.contains("EPERM"),
        "{code}: {stderr}"
    );
}

#[test]
fn open_cell_does_not_pass() {
    let home = measured();
    faster(&home, 1.0 / FAR);
    let line = "--batch --baseline other.jsonl --budget 1us --quiet";
    let (code, stdout, stderr) =
        texts(&output(&mut home.std(&format!("{line} --fail-if-slower 5%"))));
    assert!(
        code == 1 && joined(&stdout).contains("The gate did not pass: use a longer --budget"),
        "{code}: {stdout}{stderr}"
    );
    assert!(
        joined(&stdout)
            .contains("not judged: pread 4 KiB warm: the budget ended before its first trial"),
        "{stdout}"
    );
    let (code, stdout, _) = texts(&output(&mut home.std(line)));
    assert!(code == 1 && stdout.contains("nothing to compare"), "{code}: {stdout}");
}

#[test]
fn other_machine_is_reported_first() {
    let home = measured();
    doctored(&home, "moved.jsonl", |line| {
        if line["kind"] == "session" {
            line["host"]["kernel"] = json!("5.10.0-other");
            line["host"]["cpu"]["model"] = json!("Another CPU");
        }
        true
    });
    let (code, stdout, stderr) = texts(&run(&home, "--baseline moved.jsonl"));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.starts_with("iotui: this is not the machine of the baseline")
            && stderr.lines().next().unwrap().contains("Another CPU | "),
        "{stderr}"
    );
    assert!(stdout.contains("5.10.0-other | "), "{stdout}");
    assert_eq!(texts(&run(&home, "--baseline moved.jsonl --quiet")).2, "");
}

#[test]
fn baseline_recreates_its_scratch_file() {
    let home = Home::new();
    fs::create_dir(home.path("there")).unwrap();
    home.stdout(&format!("--batch --dir . --size 128k {CELLS} {FIVE} --quiet --save base"));
    let plan = home.json("--batch --baseline base --dir there --dry-run");
    assert_eq!(
        (plan["target"]["kind"].as_str(), plan["target"]["size"].as_u64()),
        (Some("scratch"), Some(128 << 10))
    );
    assert!(plan["target"]["dir"].as_str().unwrap().ends_with("/there"), "{plan}");
    let (code, stdout, _) =
        texts(&run(&home, "--baseline base --dir there --quiet --fail-if-slower 99.9%"));
    assert!(code == 0 && stdout.contains("Gate: none of 2 cells"), "{code}: {stdout}");
    let memory = home.path("memory");
    kernel::with_tmpfs(&memory, "1m", || {
        let (code, _, stderr) = texts(&run(&home, "--baseline base --dir memory"));
        assert!(
            code == 2
                && stderr.contains("not comparable: the baseline was measured on ")
                && stderr.contains("this is tmpfs"),
            "{stderr}"
        );
    });
}

/// Creates a home with sessions and files that do not match the baseline.
fn home_with_others() -> Home {
    let home = measured();
    home.file("larger.bin", 128 << 10);
    home.file("smaller.bin", 4096);
    doctored(&home, "empty.jsonl", |line| line["kind"] != "trial" && line["kind"] != "verdict");
    doctored(&home, "few.jsonl", |line| {
        line["kind"] != "trial" || line["round"].as_u64() < Some(5)
    });
    doctored(&home, "elsewhere.jsonl", |line| {
        if line["kind"] == "grounds" {
            line["target"]["fs"] = json!("zfs");
        }
        true
    });
    home
}

/// Asserts that one line says why, for a run and for a dry run.
fn assert_refused(home: &Home, line: &str, code: i32, words: &[&str]) {
    for extra in ["", "--dry-run"] {
        let (found, stdout, stderr) =
            texts(&output(&mut home.std(&format!("--batch {line} {extra}"))));
        assert_eq!((found, stdout.as_str()), (code, ""), "{line}: {stderr}");
        assert!(stderr.lines().count() == 1, "{line}: {stderr}");
        words.iter().for_each(|word| {
            assert!(stderr.contains(word), "{line}: {word:?} is missing: {stderr}")
        });
    }
}

#[test]
fn incomparable_baseline_is_refused_early() {
    let home = home_with_others();
    let before = (home.sessions(), home.names());
    for (line, code, words) in [
        (
            "--baseline base larger.bin",
            2,
            &["not comparable: the baseline's file has 64 KiB, this file has 128 KiB"][..],
        ),
        ("--baseline base smaller.bin", 2, &["64 KiB", "4 KiB"]),
        ("--baseline base missing.bin", 2, &["missing.bin: no such file"]),
        (
            "--baseline elsewhere.jsonl",
            2,
            &["not comparable: the baseline was measured on zfs, this is "],
        ),
        ("--baseline empty.jsonl", 2, &["has no trials"]),
        ("--baseline few.jsonl --fail-if-slower 5", 2, &["needs 5 trials", "--trials 7"]),
        ("--baseline base --fail-if-slower 5 --trials 4", 2, &["use --trials 5 or more, not 4"]),
        (
            "--baseline base -b null",
            2,
            &["--backend excludes cells of the baseline: pread 4 KiB warm"],
        ),
        ("--baseline base -s 4k,8k", 2, &["the baseline has no cell with --block-size 8k"]),
        (
            "--baseline base -s 8k",
            2,
            &["--block-size excludes cells of the baseline: null 4 KiB, and 1 more"],
        ),
        ("--baseline base --op write", 2, &["--op excludes"]),
        ("--baseline base --size 4k", 2, &["--size excludes"]),
        ("--baseline base -p raw", 2, &["excludes cells of the baseline"]),
        ("--baseline base -p nosuch", 2, &["nosuch"]),
        ("--baseline base --dir .", 2, &["--dir and --keep", "data.bin"]),
        ("--baseline base --plan base", 2, &["cannot be used with"]),
        ("--baseline nosuch", 1, &["no session 'nosuch'"]),
        ("--fail-if-slower 5", 2, &["--baseline"]),
        ("--baseline base --fail-if-slower 101", 2, &["'101' is not a percentage", "0 to 100"]),
        ("--baseline base --fail-if-slower 100%", 2, &["less than 100"]),
        ("--baseline base --fail-if-slower -1", 2, &["'-1' is not a percentage"]),
        ("--baseline base --fail-if-slower 5%%", 2, &["is not a percentage"]),
        ("--baseline base --fail-if-slower some", 2, &["'some' is not a percentage"]),
    ] {
        assert_refused(&home, line, code, words);
    }
    assert_eq!((home.sessions(), home.names()), before);
    let (code, _, stderr) = texts(&output(&mut home.std("--baseline base")));
    assert!(
        code == 2 && stderr.contains("--baseline is for headless runs: add --batch"),
        "{stderr}"
    );
}
