//! The rules of the source tree: which module may import which, where unsafe code is allowed, the
//! maximum length of files, and what registries contain.

mod backend_ids;
mod circles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::source::{File, folders, paths, tokens};

/// Floors from the top down; a module imports from lower floors, and within its own floor only
/// where `->` allows it.
const FLOORS: &str = "
9  main bin lib app cli config         main -> app, bin -> app, app -> cli config, cli -> config
8  shell batch commands
7  report output tui                   output -> report, tui -> report
6  runner
5  analysis
4  session
3  engine
2  backend probe peer experiment doctor
1  host userdata
0  text units sys plan catalog record stats facts     units -> text, sys -> units text facts record stats, facts -> record units text, plan -> units text, catalog -> plan, stats -> units, record -> plan catalog stats units text
";

/// Imports from above that the tests of a room may use: an imported session is checked by its
/// figures, and the doctor examines this machine.
const TESTS_LOOK_UP: [(&str, &str); 2] = [("session", "analysis"), ("host", "doctor")];

/// Rooms that may contain unsafe code.
const UNSAFE: [&str; 3] = ["sys", "backend", "probe"];
const MOST_LINES: usize = 800;
const MOST_LINES_OF_A_FUNCTION: usize = 60;
const MOST_COLUMNS: usize = 100;

/// The floors block, parsed.
struct House {
    floors: BTreeMap<String, u32>,
    arrows: BTreeSet<(String, String)>,
}

impl House {
    fn read(text: &str) -> House {
        let (mut floors, mut arrows) = (BTreeMap::new(), BTreeSet::new());
        for row in text.lines().filter(|row| !row.trim().is_empty()) {
            let arrow =
                row.find("->").map_or(row.len(), |at| row[..at].trim_end().rfind(' ').unwrap());
            let (rooms, sideways) = row.split_at(arrow);
            let mut rooms = rooms.split_whitespace();
            let floor = rooms
                .next()
                .unwrap()
                .parse()
                .unwrap_or_else(|_| panic!("a row begins with its floor: {row}"));
            floors.extend(rooms.map(|room| (room.to_string(), floor)));
            for item in sideways.split(',').filter(|item| !item.trim().is_empty()) {
                let (from, to) =
                    item.split_once("->").unwrap_or_else(|| panic!("an arrow is missing: {row}"));
                arrows.extend(
                    to.split_whitespace().map(|to| (from.trim().to_string(), to.to_string())),
                );
            }
        }
        House { floors, arrows }
    }

    /// Returns the fault of an import; `None` if it is allowed.
    fn wrong(&self, from: &str, to: &str) -> Option<String> {
        let floor =
            |room: &str| self.floors.get(room).ok_or_else(|| format!("{room} is on no floor"));
        match (floor(from), floor(to)) {
            (Err(why), _) | (_, Err(why)) => Some(why),
            _ if from == to => None,
            (Ok(here), Ok(there)) if there < here => None,
            _ if self.arrows.contains(&(from.into(), to.into())) => None,
            (Ok(here), Ok(there)) if there == here => {
                Some(format!("{from} may not import sideways from {to}"))
            }
            _ => Some(format!("{from} may not import upwards from {to}")),
        }
    }
}

/// Returns every wrong import of these files (path under src and text).
fn wrong_imports(house: &House, files: &[(PathBuf, String)]) -> Vec<String> {
    let read: Vec<(File, Vec<&str>)> =
        files.iter().map(|(path, text)| (File::of(path), tokens(text))).collect();
    // A macro is exported to the root of the crate, wherever it is defined.
    let mut macros = BTreeMap::new();
    for (file, tokens) in &read {
        for words in tokens.windows(3).filter(|w| w[0] == "macro_rules" && w[1] == "!") {
            macros.insert(words[2], file.room.clone());
        }
    }
    let mut wrong = Vec::new();
    for (file, tokens) in &read {
        for to in paths(tokens, file.depth) {
            let to = macros.get(to).map_or(to, String::as_str);
            if file.path.ends_with("tests.rs") && TESTS_LOOK_UP.contains(&(file.room.as_str(), to))
            {
                continue;
            }
            wrong.extend(
                house.wrong(&file.room, to).map(|why| format!("{}: {why}", file.path.display())),
            );
        }
    }
    wrong
}

fn wrong_unsafe(files: &[(PathBuf, String)]) -> Vec<String> {
    let outside = files.iter().filter(|(path, _)| !UNSAFE.contains(&File::of(path).room.as_str()));
    let describe = |(path, text): &(PathBuf, String)| {
        let tokens = tokens(text);
        let allows =
            tokens.windows(3).any(|w| matches!(w, ["allow" | "expect", "(", "unsafe_code"]));
        (allows || tokens.contains(&"unsafe"))
            .then(|| format!("{}: unsafe code belongs into {UNSAFE:?}", path.display()))
    };
    outside.filter_map(describe).collect()
}

fn too_long(files: &[(PathBuf, String)]) -> Vec<String> {
    let long = |(path, text): &(PathBuf, String)| {
        let lines = text.lines().count();
        (lines > MOST_LINES)
            .then(|| format!("{}: {lines} lines, {MOST_LINES} are the most", path.display()))
    };
    files.iter().filter_map(long).collect()
}

/// Finds wide comments, which rustfmt leaves as they are; tables cannot be wrapped.
fn wide_comments(files: &[(PathBuf, String)]) -> Vec<String> {
    let is_wide = |line: &str| {
        let text = line.trim_start();
        text.starts_with("//")
            && !text.trim_start_matches(['/', '!', ' ']).starts_with('|')
            && line.chars().count() > MOST_COLUMNS
    };
    let lines = files.iter().flat_map(|(path, text)| {
        let lines = text.lines().zip(1..).filter(|(line, _)| is_wide(line));
        lines.map(|(_, number)| format!("{}:{number}: a wide comment", path.display()))
    });
    lines.collect()
}

/// Finds long functions: rustfmt puts the closing brace at the indentation of the first line.
fn long_functions(files: &[(PathBuf, String)]) -> Vec<String> {
    let mut long = Vec::new();
    for (path, text) in files {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let begins = line
                .split_whitespace()
                .take_while(|word| !word.contains('(') || word.starts_with("pub("))
                .any(|word| word == "fn");
            let indent = &line[..line.len() - line.trim_start().len()];
            if !begins || indent.len() == line.len() || line.ends_with(['}', ';']) {
                continue;
            }
            let len = lines[at..]
                .iter()
                .take_while(|line| line.strip_prefix(indent) != Some("}"))
                .count()
                + 1;
            if len > MOST_LINES_OF_A_FUNCTION {
                long.push(format!(
                    "{}:{}: a function of {len} lines, {MOST_LINES_OF_A_FUNCTION} are the most",
                    path.display(),
                    at + 1
                ));
            }
        }
    }
    long
}

/// Lists every source file under `dir`, with its path relative to it.
fn sources(dir: &Path) -> Vec<(PathBuf, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![dir.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(dir).unwrap().into(), text));
            }
        }
    }
    found.sort();
    found
}

/// Lists the sources of all crates, each path relative to its `src`. The crates of files and of the
/// screens are one room each.
fn house() -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for (folder, mut files) in crates() {
        files.retain(|(path, _)| folder == root().join("src") || path != Path::new("lib.rs"));
        for room in ["files", "tui"] {
            if folder.ends_with(format!("{room}/src")) {
                files.iter_mut().for_each(|(path, _)| *path = Path::new(room).join(&path));
            }
        }
        all.extend(files);
    }
    all
}

/// Lists the folder of each crate, and its sources, each path relative to that folder.
fn crates() -> Vec<(PathBuf, Vec<(PathBuf, String)>)> {
    folders().into_iter().map(|folder| (folder.clone(), sources(&folder))).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn imports_go_downwards() {
    let mut files = house();
    assert!(files.len() > 100, "the sources were not found");
    // The compiler keeps the borders of these crates, which have no floors inside.
    files.retain(|(path, _)| !path.starts_with("files") && !path.starts_with("tui"));
    assert_none(wrong_imports(&House::read(FLOORS), &files));
}

#[test]
fn unsafe_code_stays_in_its_rooms() {
    assert_none(wrong_unsafe(&house()));
}

/// In files that print text for users, every path goes through `text::show_path`.
#[test]
fn paths_are_cleaned_before_display() {
    let files = house();
    let rooms = ["app", "batch", "cli", "commands", "config", "session", "shell", "tui"];
    fn shows(text: &str) -> bool {
        tokens(text).windows(3).any(|w| matches!(w, [".", "display", "("]))
    }
    let raw = files
        .iter()
        .filter(|(path, text)| rooms.contains(&File::of(path).room.as_str()) && shows(text))
        .map(|(path, _)| format!("{}: a raw path", path.display()));
    assert_none(raw.collect());
}

/// JSON for users and programs is written by `report::pretty`, which escapes terminal control
/// characters.
#[test]
fn json_errors_are_cleaned() {
    let made =
        |text: &str| text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_string();
    let raw = |text: &str| {
        ["serde_json::to_writer", "serde_json::to_string"]
            .iter()
            .any(|call| made(text).contains(call))
    };
    let files = sources(&root().join("crates/data/src/report"));
    let wrong =
        files.iter().filter(|(path, text)| !path.to_string_lossy().contains("test") && raw(text));
    assert_none(
        wrong
            .map(|(path, _)| format!("report/{}: JSON past report::pretty", path.display()))
            .collect(),
    );
}

/// A path reads the same everywhere, and a test module is where Rust looks for it.
#[test]
fn imports_begin_at_the_crate() {
    let files = house();
    let climbs = |(path, text): &(PathBuf, String)| {
        let wrong = ["super::super", "#[path"].into_iter().find(|wrong| text.contains(wrong))?;
        Some(format!(
            "{}: {wrong}: write crate::, or put the tests into NAME/tests.rs",
            path.display()
        ))
    };
    assert_none(files.iter().filter_map(climbs).collect());
}

/// A file that no module declares would never be compiled, so it could never fail.
#[test]
fn every_test_file_is_a_module() {
    let tests = root().join("tests");
    let modules = fs::read_to_string(tests.join("tests.rs")).unwrap();
    let missing = fs::read_dir(&tests).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").filter(|module| *module != "tests")?;
        let is_named = modules.lines().any(|line| line == format!("mod {module};"));
        (!is_named).then(|| format!("tests/tests.rs: mod {module}; is missing"))
    });
    assert_none(missing.collect());
}

/// There is one list of the characters that may not reach a terminal.
#[test]
fn one_function_cleans_text() {
    let files = house();
    let own = files.iter().filter(|(path, text)| {
        path != Path::new("text/clean.rs") && text.contains("..='\\u{202e}'")
    });
    assert_none(
        own.map(|(path, _)| format!("{}: another list of characters", path.display())).collect(),
    );
}

#[test]
fn files_are_short() {
    assert_none(too_long(&house()));
    assert_none(too_long(&sources(&root().join("tests"))));
}

#[test]
fn comments_are_narrow() {
    let mut files = house();
    files.extend(sources(&root().join("tests")));
    files.extend(sources(&root().join("benches")));
    assert_none(wide_comments(&files));
}

#[test]
fn functions_are_short() {
    assert_none(long_functions(&house()));
    assert_none(long_functions(&sources(&root().join("tests"))));
}

/// Returns what the checker reports for one made-up source file in room `from`.
fn says(path: &str, text: &str) -> String {
    let raw = (
        PathBuf::from("sys/raw.rs"),
        "#[macro_export] macro_rules! with_fill { () => {} }".to_string(),
    );
    wrong_imports(&House::read(FLOORS), &[raw, (path.into(), text.into())]).join("; ")
}

#[test]
fn the_checker_finds_wrong_imports() {
    for (path, text, wanted) in [
        ("plan/job.rs", "use crate::sys::fd;", "plan may not import sideways from sys"),
        ("units.rs", "use crate::{plan::Job, stats};", "units may not import sideways from plan"),
        (
            "units.rs",
            "use crate::{\n  units::{Bytes, Rate},\n  stats::Summary,\n};",
            "sideways from stats",
        ),
        (
            "session/mod.rs",
            "fn f() { crate::report::json(); }",
            "session may not import upwards from report",
        ),
        ("session/mod.rs", "use super::report;", "upwards from report"),
        ("session/answer/mod.rs", "use super::super::report::x;", "upwards from report"),
        (
            "session/answer/text.rs",
            "mod a { mod b { use super::super::super::super::super::report; } }",
            "upwards from report",
        ),
        ("sys/fd.rs", "use super::{fill, super::{host::Host}};", "upwards from host"),
        (
            "backend/null.rs",
            "macro_rules! m { () => { $crate::engine::run() } }",
            "upwards from engine",
        ),
        ("stats/mod.rs", "crate::with_fill!(FILL => 1);", "stats may not import sideways from sys"),
        ("plan/mod.rs", "use crate::attic;", "attic is on no floor"),
        ("attic.rs", "use crate::units;", "attic is on no floor"),
        ("main.rs", "fn main() { iotui::attic::main() }", "attic is on no floor"),
    ] {
        let found = says(path, text);
        assert!(found.contains(wanted), "{path}: {text}\n  wanted: {wanted}\n  found:  {found}");
    }
}

#[test]
fn the_checker_lets_good_imports_pass() {
    for (path, text) in [
        ("session/mod.rs", "use crate::{engine::run, host, units::{self, Bytes}};"),
        ("record/trial.rs", "use crate::plan::Job; pub(crate) fn f() {} pub(super) fn g() {}"),
        ("sys/fd.rs", "use super::fill; mod tests { use super::*; use super::super::clock; }"),
        ("sys/fd_tests.rs", "use super::super::super::units;"),
        (
            "plan/job.rs",
            "// use crate::tui;\n/* crate::tui /* nested */ crate::tui */ const A: &str = \"crate::tui\"; const B: &str = r#\"\"crate::tui\"#;",
        ),
        (
            "plan/job.rs",
            "fn f<'a>(x: &'a str) -> char { '\"' } // \" use crate::tui;\nconst C: char = '\\''; use crate::units;",
        ),
        ("backend/read.rs", "crate::with_fill!(FILL => 1);"),
        ("lib.rs", "pub mod tui; pub mod attic;"),
        ("main.rs", "fn main() { iotui::app::main() }"),
        ("app.rs", "use crate::cli::{self, Asked};"),
    ] {
        assert_eq!(says(path, text), "", "{path}: {text}");
    }
}

#[test]
fn checker_finds_unsafe_and_long_code() {
    fn file(path: &str, text: &str) -> [(PathBuf, String); 1] {
        [(PathBuf::from(path), text.to_string())]
    }
    let begin = "impl A {\n    pub(super) const fn f(\n    ) {\n";
    let body = |lines: usize| format!("{begin}{}    }}\n}}\n", "        g();\n".repeat(lines));
    assert_eq!(long_functions(&file("plan/job.rs", &body(58))).len(), 1);
    assert_eq!(long_functions(&file("plan/job.rs", &body(57))).len(), 0);
    assert_eq!(wrong_unsafe(&file("plan/job.rs", "fn f() { unsafe { g() } }")).len(), 1);
    assert_eq!(wrong_unsafe(&file("plan/job.rs", "#![allow(unsafe_code)]")).len(), 1);
    assert_eq!(wrong_unsafe(&file("plan/job.rs", "// unsafe\nfn f() { \"unsafe\"; }")).len(), 0);
    assert_eq!(wrong_unsafe(&file("sys/raw.rs", "fn f() { unsafe { g() } }")).len(), 0);
    assert_eq!(too_long(&file("plan/job.rs", &"\n".repeat(MOST_LINES + 1))).len(), 1);
    assert_eq!(too_long(&file("plan/job.rs", &"\n".repeat(MOST_LINES))).len(), 0);
    let comment = |columns: usize| format!("    // {}\n", "-".repeat(columns - 7));
    assert_eq!(wide_comments(&file("plan/job.rs", &comment(101))).len(), 1);
    assert_eq!(wide_comments(&file("plan/job.rs", &comment(100))).len(), 0);
}

/// Asserts that a registry has each id once, and as many as the sources have entries.
fn assert_registry(what: &str, ids: &[&str], written: usize) {
    let once: BTreeSet<_> = ids.iter().collect();
    assert_eq!(once.len(), ids.len(), "an id of {what} is listed twice: {ids:?}");
    assert_eq!(
        ids.len(),
        written,
        "{what}: something is written and not listed, or listed twice: {ids:?}"
    );
}

/// Counts the files in a folder and its subfolders.
fn files_below(dir: &Path) -> usize {
    fn count(path: PathBuf) -> usize {
        if path.is_dir() { files_below(&path) } else { 1 }
    }
    fs::read_dir(dir).unwrap().flatten().map(|entry| count(entry.path())).sum()
}

/// Counts how often these words occur, in this order, in the sources of a room.
fn written(room: &str, words: &[&str]) -> usize {
    house()
        .iter()
        .filter(|(path, _)| path.starts_with(room))
        .map(|(_, text)| tokens(text).windows(words.len()).filter(|w| w == &words).count())
        .sum()
}

#[test]
fn registries_list_everything_once() {
    use iotui::{
        backend::BACKENDS,
        experiment::EXPERIMENTS,
        peer::PEERS,
        plan::{PRESETS, PROFILES},
        probe::PROBES,
        report::{COMPARISONS, FORMATS},
    };
    let ids: Vec<_> = BACKENDS.iter().map(|b| b.info().id).collect();
    assert_registry("backends", &ids, written("backend", &["impl", "Backend", "for"]));
    let ids: Vec<_> = PEERS.iter().map(|p| p.info().id).collect();
    assert!(
        ids.iter().all(|id| !BACKENDS.iter().any(|b| b.info().id == *id)),
        "a peer has the name of a backend"
    );
    assert_registry("peers", &ids, written("peer", &["impl", "Peer", "for"]));
    let ids: Vec<_> = EXPERIMENTS.iter().map(|e| e.id).collect();
    assert_registry("experiments", &ids, written("experiment", &["Experiment", "{", "id", ":"]));
    let ids: Vec<_> = FORMATS.iter().map(|f| f.id).collect();
    assert_registry("formats", &ids, written("report", &["const", "FORMAT", ":", "Format"]));
    let ids: Vec<_> = COMPARISONS.iter().map(|f| f.id).collect();
    assert_registry(
        "formats of a comparison",
        &ids,
        written("report/compare", &[":", "ComparisonFormat", "="]),
    );
    let ids: Vec<_> = PRESETS.iter().map(|(id, _)| *id).collect();
    assert_registry("presets", &ids, files_below(&root().join("crates/core/assets/presets")));
    let ids: Vec<_> = PROFILES.iter().map(|(id, _)| *id).collect();
    assert_registry("profiles", &ids, files_below(&root().join("crates/core/assets/expect")));
    let ids: Vec<_> = PROBES.iter().map(|p| p.info().id).collect();
    // Each has its own record.
    assert_registry("probes", &ids, written("catalog", &[":", "ProbeInfo", "=", "ProbeInfo"]));
}
