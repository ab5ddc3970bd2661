//! Several files in one run: the file is an axis, measured in the same rounds.

use crate::common::stderr_of;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::common::child::Run;
use crate::common::{Home, QUICK, output};
use iotui::report::FORMATS;
use serde_json::Value;

const LINE: &str = "-b pread -s 4k,64k -c warm --trial-time 1ms";

/// Returns the letter of each result's target, with its number of trials and its error.
fn results(report: &Value) -> Vec<(u64, usize, Option<String>)> {
    let results = report["results"].as_array().unwrap();
    results
        .iter()
        .map(|result| {
            let trials = result["trials"].as_array().unwrap().len();
            let error = result["error"].as_str().map(String::from);
            (result["cell"]["target"].as_u64().unwrap(), trials, error)
        })
        .collect()
}

#[test]
fn files_share_rounds() {
    let home = Home::new();
    home.file("a.bin", 1 << 20);
    home.file("b.bin", 1 << 20);
    let report = home.json(&format!("--batch a.bin b.bin {LINE} --trials 5 --save both"));
    assert_eq!(report["plan"]["others"].as_array().unwrap().len(), 1);
    let cells: Vec<(u64, usize)> = results(&report).into_iter().map(|(at, n, _)| (at, n)).collect();
    assert_eq!(cells, [(0, 5), (0, 5), (1, 5), (1, 5)]);
    let compared = &report["answer"]["targets"];
    assert_eq!(compared.as_array().unwrap().len(), 1, "{compared}");
    assert_eq!((&compared[0]["target"], &compared[0]["base"]), (&"B".into(), &"A".into()));
    assert!(compared[0]["low"].as_f64().unwrap() <= compared[0]["ratio"].as_f64().unwrap());
    // A round has a trial of each file.
    let jsonl = home.stdout("sessions export both --format jsonl");
    let trials: Vec<Value> = jsonl
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["kind"] == "trial")
        .collect();
    for four in trials.chunks(4) {
        let cell = |trial: &Value| {
            let number = |key: &str| trial["cell"][key].as_u64().unwrap();
            (number("target"), number("block"))
        };
        let mut cells: Vec<(u64, u64)> = four.iter().map(cell).collect();
        cells.sort_unstable();
        assert_eq!(cells, [(0, 4096), (0, 65536), (1, 4096), (1, 65536)], "of one round");
    }
    // A page wraps its lines anywhere.
    let table = home.stdout("sessions show both");
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in ["A: ", "B: ", "target", "on B"] {
        assert!(table.contains(wanted), "{wanted}: {table}");
    }
    for format in FORMATS {
        home.cmd(&format!("sessions export both --format {} -o out.x", format.id))
            .assert()
            .success();
    }
}

#[test]
fn plan_of_files_runs_again() {
    let home = Home::new();
    for name in ["a.bin", "b.bin", "c.bin", "d.bin"] {
        home.file(name, 1 << 20);
    }
    home.cmd(&format!("--batch a.bin b.bin {LINE} --trials 5 --save both")).assert().success();
    let again = home.json("--batch --plan both --no-save");
    assert_eq!(results(&again).len(), 4);
    let other = home.json("--batch --plan both c.bin d.bin --no-save");
    let path = |report: &Value| report["plan"]["others"][0]["path"].as_str().unwrap().to_string();
    assert!(path(&again).ends_with("b.bin") && path(&other).ends_with("d.bin"));
    let few = output(&mut home.std("--batch --plan both c.bin --no-save"));
    let stderr = stderr_of(&few);
    assert_eq!(few.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("measures 2 targets, but 1 was named"), "{stderr}");
    let gate = output(&mut home.std("--batch --baseline both --fail-if-slower 99% --no-save"));
    assert_eq!(gate.status.code(), Some(0), "{}", stderr_of(&gate));
}

#[test]
fn folders_are_compared() {
    let home = Home::new();
    for dir in ["one", "two"] {
        fs::create_dir(home.path(dir)).unwrap();
    }
    let line = "-b pread -s 4k -c warm --trial-time 1ms --trials 2 --size 1m";
    let report = home.json(&format!("--batch --dir one --dir two {line} --save both"));
    let cells: Vec<u64> = results(&report).into_iter().map(|(at, ..)| at).collect();
    assert_eq!(cells, [0, 1]);
    let dir = |report: &Value| report["plan"]["others"][0]["dir"].as_str().unwrap().to_string();
    assert!(dir(&report).ends_with("two"), "{report}");
    for dir in ["one", "two"] {
        assert_eq!(fs::read_dir(home.path(dir)).unwrap().count(), 0, "a scratch file is left");
    }
    let turned = home.json("--batch --plan both --dir two --dir one --no-save");
    assert!(dir(&turned).ends_with("one"), "{turned}");
    for line in [
        "--batch --dir one --dir ./one",
        "--batch --plan both --dir one",
        "--dir one --dir two",
        "--batch --dir one --dir nosuch",
    ] {
        let ran = output(&mut home.std(line));
        assert_eq!(ran.status.code(), Some(2), "{line}: {ran:?}");
        assert_eq!(stderr_of(&ran).lines().count(), 1, "{line}: {ran:?}");
    }
}

#[test]
fn the_smallest_file_sets_the_span() {
    let home = Home::new();
    home.file("a.bin", 2 << 20);
    home.file("b.bin", 1 << 20);
    let ran = output(
        &mut home.std(&format!("--batch a.bin b.bin {LINE} --trials 1 --no-save --format json")),
    );
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let spans = report["results"].as_array().unwrap().iter().map(|r| r["cell"]["span"].as_u64());
    assert!(spans.eq([Some(1 << 20); 4]), "{report}");
    let stderr = stderr_of(&ran);
    assert!(stderr.contains("each is used up to the size of B, 1 MiB"), "{stderr}");
    // A size that was asked for is not explained, and one that does not fit is refused.
    let asked = output(&mut home.std(&format!("--batch a.bin b.bin {LINE} --size 1m {QUICK}")));
    assert!(!stderr_of(&asked).contains("the size of"), "{asked:?}");
    home.cmd(&format!("--batch a.bin b.bin {LINE} --size 2m {QUICK}")).assert().code(2);
}

#[test]
fn vanished_file_fails_its_cells() {
    let home = Home::new();
    home.file("a.bin", 1 << 20);
    home.file("b.bin", 1 << 20);
    let line = format!("--batch a.bin b.bin {LINE} --trials 12 --format jsonl --save both");
    let mut run = Run::start(home.std(&line).stderr(Stdio::piped()));
    run.until("\"trial\"");
    fs::remove_file(home.path("b.bin")).unwrap();
    run.rest();
    let status = run.end(Duration::from_secs(60)).expect("it ends");
    assert_eq!(status.code(), Some(1), "{}", run.stderr());
    for (target, trials, error) in results(&home.json("sessions show both")) {
        if target == 0 {
            assert_eq!((trials, error), (12, None));
        } else {
            assert!(trials < 12 && error.is_some_and(|error| error.contains("removed")));
        }
    }
}

#[test]
fn anonymous_reports_name_no_file() {
    let home = Home::new();
    home.file("secret-a.bin", 1 << 20);
    home.file("secret-b.bin", 1 << 20);
    let line = format!("--batch secret-a.bin secret-b.bin {LINE} --trials 2 --anonymous --no-save");
    for format in FORMATS.iter().filter(|format| !format.binary) {
        let text = home.stdout(&format!("{line} --quiet --format {}", format.id));
        assert!(!text.contains("secret"), "{}: {text}", format.id);
    }
}
