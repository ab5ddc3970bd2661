//! Caches below this machine: the first visit of blocks, and `--fresh`, which reads each once.

use crate::common::{stderr_of, stdout_of};
use std::time::Duration;

use serde_json::Value;

use crate::common::slow_first::SlowFirst;
use crate::common::{Home, assert_valid, warning, warnings};

/// Direct reads of a file, with room for the comparison before the first trial.
const RUN: &str = "--batch -b pread -s 64k --direct --trials 3 --trial-time 5ms --budget 1m \
                   --ceilings never";

fn visited(document: &Value) -> Vec<(u64, u64)> {
    let trials = document["results"][0]["trials"].as_array().unwrap();
    let range = |trial: &Value| {
        let range = &trial["evidence"]["visited"];
        Some((range[0].as_u64()?, range[1].as_u64()?))
    };
    trials.iter().filter_map(range).collect()
}

#[test]
fn slow_first_visit_is_warned_once() {
    let home = Home::new();
    // On a busy machine second visits may be slow, too, or time for enough blocks is missing.
    for left in (0..5).rev() {
        let Some(slow) = SlowFirst::mount(Duration::from_millis(4)) else { return };
        let line = format!("{RUN} {}", slow.file().display());
        let document = home.json(&line);
        assert_valid(&document);
        let result = &document["results"][0];
        let first = &result["trials"][0]["evidence"]["first"];
        assert!(first["bytes"].as_u64().unwrap() > 0 && first["nanos"].as_u64().unwrap() > 0);
        if left > 0 && !warnings(result).contains(&"first-visit") {
            continue;
        }
        let found = warning(result, "first-visit");
        assert_eq!(found["severity"], "misleading");
        assert!(found["remedy"].as_str().unwrap().contains("--fresh"), "{found}");
        // Now all has been read before.
        std::fs::read(slow.file()).unwrap();
        let again = home.json(&line);
        return assert!(!warnings(&again["results"][0]).contains(&"first-visit"));
    }
}

#[test]
fn uncached_file_system_gets_no_warning() {
    let (home, Some(plain)) = (Home::new(), SlowFirst::mount(Duration::ZERO)) else { return };
    let document = home.json(&format!("{RUN} {}", plain.file().display()));
    assert!(!warnings(&document["results"][0]).contains(&"first-visit"));
    let listings = plain.listings();
    assert!(listings <= 4, "a folder that cannot be listed was asked {listings} times");
}

#[test]
fn fresh_reads_each_block_once() {
    let home = Home::new();
    home.file("file", 8 << 20);
    let line = "--batch --fresh file -b pread -s 16k -c cold --trials 4 --trial-time 1ms \
                --budget 1m --ceilings never";
    let mut seen: Vec<(u64, u64)> = Vec::new();
    for _ in 0..2 {
        let output = home.cmd(&format!("{line} --format json")).assert().success();
        let output = output.get_output().clone();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_valid(&document);
        for range in visited(&document) {
            let apart = |other: &(u64, u64)| range.1 <= other.0 || other.1 <= range.0;
            assert!(range.0 < range.1 && seen.iter().all(apart), "{range:?} of {seen:?}");
            seen.push(range);
        }
        let notes = stderr_of(&output);
        assert!(notes.contains("each block was read once"), "{notes}");
    }
    assert!(seen.len() > 4, "the second run read what the first had left: {seen:?}");
}

#[test]
fn fresh_trials_drop_what_is_cached() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let file = home.file("file", 8 << 20);
    std::fs::read(&file).unwrap();
    let line = "--batch --fresh file -b pread -s 16k -c cold --trials 2 --trial-time 1ms \
                --budget 1m --ceilings never";
    let document = home.json(line);
    let trials = document["results"][0]["trials"].as_array().unwrap();
    assert!(!trials.is_empty());
    for trial in trials {
        let prepared = &trial["evidence"]["preparation"];
        assert_eq!((&prepared["for"], &prepared["left"]), (&"cold".into(), &0.into()), "{trial}");
    }
}

#[test]
fn fresh_without_unread_blocks_reads_nothing() {
    let home = Home::new();
    home.file("file", 1 << 20);
    home.json("--batch file -b pread -s 64k -c cold --trials 1 --trial-time 1ms");
    let run = "--batch --fresh file -b pread -s 64k -c cold --trials 1 --trial-time 1ms";
    let output = home.cmd(run).assert().code(1).get_output().clone();
    let text = stdout_of(&output);
    assert!(text.contains("no blocks are left"), "{text}");
}

#[test]
fn fresh_refuses_repeated_reads() {
    let home = Home::new();
    home.file("file", 1 << 20);
    for (line, why) in [
        ("file -b pread -s 4k -c warm", "--cache cold or --direct"),
        ("-b pread -s 4k -c cold --size 4m", "measure a file that is older"),
        ("file -b pread -s 4k -c cold -n 10", "--count"),
    ] {
        let output = home.cmd(&format!("--batch --fresh {line}")).assert().code(2);
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(text.contains(why), "{line}: {text}");
    }
}
