//! Every seed and finding of the fuzz targets, run through the targets' own functions.

use std::fs;
use std::path::Path;

use crate::common::{self, hostile};

/// Runs a target over all files of its corpus.
fn run(target: &str, body: fn(&Path, &[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let files = common::names(&corpus);
    if files.is_empty() {
        // The published package does not contain it.
        return common::skip(&format!("no corpus of {target}"));
    }
    let dir = tempfile::tempdir().unwrap();
    for name in files {
        let bytes = fs::read(corpus.join(&name)).unwrap();
        let result = std::panic::catch_unwind(|| body(dir.path(), &bytes));
        assert!(result.is_ok(), "{target}: {name}");
    }
}

#[test]
fn every_file_is_refused_or_shown() {
    run("load", hostile::load);
    // Sessions to copy.
    run("import", hostile::load);
}

#[test]
fn every_file_is_listed() {
    run("list", hostile::list);
    run("load", hostile::list);
    run("import", hostile::list);
}

#[test]
fn fio_file_imports_whole_or_fails() {
    run("import", hostile::import);
    run("load", hostile::import);
}

#[test]
fn preset_is_refused_or_round_trips() {
    run("preset", hostile::preset);
}

#[test]
fn the_golden_session_holds_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let golden =
        fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/session-v1.jsonl")).unwrap();
    for body in [hostile::load, hostile::list, hostile::import] {
        body(dir.path(), &golden);
    }
}
