//! Properties that hold for any bytes in place of a session or preset: the bodies of the fuzz
//! targets in `fuzz/`, and of the test that runs their corpus.
#![allow(dead_code, reason = "a target uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use iotui::analysis;
use iotui::plan::Preset;
use iotui::report::{self, FORMATS, Look};
use iotui::runner;
use iotui::session::{self, Session, State};

/// Returns a folder for this process, in memory if possible.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
        let dir = base.join(format!("iotui-fuzz-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("make a folder");
        dir
    })
}

/// Loads a complete file: it is refused with one line, or all its reports can be written and read.
pub fn load(dir: &Path, bytes: &[u8]) {
    let path = dir.join("x.jsonl");
    fs::write(&path, bytes).expect("write the file");
    match session::load(&path) {
        Ok(session) => shown(&session),
        Err(error) => line(&error.to_string()),
    }
}

/// Lists the file: it is listed once, and its id finds it, whatever it contains.
pub fn list(dir: &Path, bytes: &[u8]) {
    let path = dir.join("x.jsonl");
    fs::write(&path, bytes).expect("write the file");
    let all = session::list(dir).expect("the folder can be read");
    let entry = all.iter().find(|s| s.id == "x").expect("every file is listed");
    for text in [&entry.name, &entry.target, &entry.created] {
        printable(text);
    }
    assert!(entry.seconds.is_none_or(|s| s.is_finite()), "{entry:?}");
    assert_eq!(session::find(dir, "x").expect("an id is found"), path);
    serde_json::to_string(entry).expect("an entry is JSON");
    if entry.state == State::Unreadable {
        session::load(&path).expect_err("what no list can read cannot be loaded");
    }
    for (_, _, samples) in session::samples(&path, 0).unwrap_or_default() {
        serde_json::to_string(&samples).expect("samples are JSON");
    }
}

/// Imports a copy into another folder: the result is the same session, or no file at all.
pub fn import(dir: &Path, bytes: &[u8]) {
    let path = dir.join("x.jsonl");
    let store = dir.join("store");
    fs::write(&path, bytes).expect("write the file");
    let _ = fs::remove_dir_all(&store);
    let loaded = session::load(&path);
    match session::import(&store, &path) {
        Ok(imported) => {
            let copy = session::load(&imported.path).expect("a copy can be loaded");
            // The import converts another program's output to a session.
            let loaded = loaded.unwrap_or_else(|_| copy.clone());
            printable(&imported.name);
            assert_eq!((&copy.id, &copy.name), (&imported.id, &imported.name));
            same(copy, &loaded);
            let name = session::rename(&store, &imported.path, "another")
                .expect("a session can be renamed");
            let renamed = session::load(&imported.path).expect("a renamed session can be loaded");
            assert_eq!(renamed.name, name);
            same(renamed, &loaded);
            assert_eq!(fs::read_dir(&store).expect("read the folder").count(), 1);
        }
        Err(error) => {
            line(&error.to_string());
            assert_eq!(fs::read_dir(&store).map_or(0, Iterator::count), 0, "something is left");
        }
    }
}

/// Parses a preset: it is refused with a message, or can be written and read back.
pub fn preset(_: &Path, bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Preset::parse("x", text) {
        Ok(preset) => assert_eq!(
            Preset::parse("x", &preset.to_toml()).expect("what was written is read"),
            preset
        ),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn same(mut copy: Session, of: &Session) {
    (copy.id, copy.name) = (of.id.clone(), of.name.clone());
    // Compared as text: a figure may be NaN, which equals nothing.
    assert_eq!(format!("{copy:?}"), format!("{of:?}"));
}

/// Writes every report of a session, with and without names.
fn shown(session: &Session) {
    let anonymous = report::anonymize(session);
    for session in [session, &anonymous] {
        for format in FORMATS {
            for look in [Look::default(), Look { width: 40, ascii: true, ..Look::default() }] {
                let mut text = Vec::new();
                (format.write)(session, &look, &mut text).expect("memory takes it");
                if format.binary {
                    continue;
                }
                written(format.id, &String::from_utf8(text).expect("a report is text"));
            }
        }
    }
    let pair = [session.clone(), session.clone()];
    let comparison = analysis::compare(&pair).expect("two can be compared");
    written("table", &report::comparison_text(&comparison, &Look::default()));
    serde_json::to_string(&comparison).expect("a comparison is JSON");
    // Planned without a target: the result is a plan for this machine, or a reason.
    if let Err(error) =
        runner::replan(session, &["/dev/null".into()], &[], false, &Default::default())
    {
        line(&error.to_string());
    }
}

/// Asserts that a report is readable: JSON parses, and no control sequence reaches a terminal.
fn written(format: &str, text: &str) {
    let json = |text: &str| {
        drop(
            serde_json::from_str::<serde_json::Value>(text)
                .unwrap_or_else(|e| panic!("{format}: {e}")),
        )
    };
    match format {
        "json" | "gbench" => json(text),
        "jsonl" => text.lines().for_each(json),
        _ => text.lines().for_each(printable),
    }
    assert!(
        !text.contains(|c: char| iotui::text::is_unsafe_char(c) && c != '\n'),
        "{format}: {text:?}"
    );
    for no_number in ["NaN", "inf ", "inf,", "-inf"] {
        assert!(format != "csv" || !text.contains(no_number), "{format}: {no_number} in {text}");
    }
}

/// Asserts that a message is one short line.
fn line(text: &str) {
    assert!(!text.is_empty() && text.len() < 1000, "{text}");
    printable(text);
}

fn printable(text: &str) {
    assert!(!text.contains(iotui::text::is_unsafe_char), "{text:?}");
}
