//! Operations on saved sessions, and what happens if one cannot be saved.

use std::fs;

use super::{ENDLESS, home_with_file, running, sessions, start};
use crate::common::pty::{CTRL_C, Terminal};
use crate::common::{Home, kernel};

/// Saves sessions of these names on the same file, the newest last.
fn keep(home: &Home, names: &[&str]) {
    for name in names {
        home.cmd(&format!("--batch some-file.bin -b pread -s 4k,64k -c warm --trials 5 --trial-time 2ms --quiet --save {name}"))
            .assert()
            .success();
    }
}

/// Opens Sessions, with the newest one under the cursor.
fn on_sessions(home: &Home, newest: &str) -> Terminal {
    let mut terminal = start(home, "");
    terminal.press("4");
    terminal.until("the list", |screen| {
        let newest = format!("{newest} ");
        let is_recent = |line: &str| line.contains("just now") || line.contains(" ago");
        screen.contents().lines().any(|line| line.contains(&newest) && is_recent(line))
    });
    terminal
}

#[test]
fn keys_compare_and_export_sessions() {
    let home = home_with_file();
    keep(&home, &["before", "after"]);
    let mut terminal = on_sessions(&home, "after");
    terminal.press("mjmc");
    terminal.shows("What differs");
    terminal.until("the sum", |screen| {
        ["difference", "faster", "slower", "inconclusive"]
            .iter()
            .any(|word| screen.contents().contains(word))
    });
    terminal.press("v");
    terminal.shows("Throughput by block size");
    terminal.press("v");
    terminal.press("e");
    terminal.shows("Export after against before");
    terminal.press("\r");
    terminal.shows("wrote ");
    let text = fs::read_to_string(home.path("after-against-before.txt")).unwrap();
    // If chance cannot be ruled out, neither side is named first.
    assert!(text.contains("B against A: ") || text.contains("inconclusive"), "{text}");
    assert!(text.contains("64 KiB"), "{text}");
    // Overwrites it only after confirmation.
    fs::write(home.path("after-against-before.txt"), "mine").unwrap();
    terminal.press("e\r");
    terminal.shows("Overwrite after-against-before.txt?");
    terminal.press("n");
    terminal.until("the question is gone", |s| !s.contents().contains("Overwrite after"));
    assert_eq!(fs::read(home.path("after-against-before.txt")).unwrap(), b"mine");
    terminal.press("\r");
    terminal.shows("Overwrite after-against-before.txt?");
    terminal.press("y");
    terminal.until("the form is gone", |s| !s.contents().contains("Export after"));
    assert_eq!(fs::read_to_string(home.path("after-against-before.txt")).unwrap(), text);
    // The session that is compared, opened and exported as JSON.
    terminal.press("\r");
    terminal.shows("at a glance");
    terminal.press("b");
    terminal.shows("Answer");
    terminal.press("ej\r");
    terminal.shows("after.json");
    terminal.until("the form is gone", |s| !s.contents().contains("Export after"));
    let json: serde_json::Value =
        serde_json::from_slice(&fs::read(home.path("after.json")).unwrap()).unwrap();
    assert_eq!(json["schema"], "iotui/1");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn impossible_session_action_is_reported() {
    let home = home_with_file();
    keep(&home, &["only"]);
    let file = home.sessions().pop().unwrap();
    fs::rename(&file, home.path("elsewhere.jsonl")).unwrap();
    // Its file disappears while it is listed.
    for keys in ["wother\r", "Dy", "r", "\r", "e\r"] {
        fs::copy(home.path("elsewhere.jsonl"), &file).unwrap();
        let mut terminal = on_sessions(&home, "only");
        fs::remove_file(&file).unwrap();
        terminal.press(keys);
        terminal.shows("no session '");
        terminal.press(CTRL_C);
        assert_eq!(terminal.end().0, 0);
    }
    let mut terminal = start(&home, "");
    terminal.press("4");
    // Only the built-in references remain.
    terminal.until("only references", |screen| {
        screen.contents().contains("macbook-2017") && !screen.contents().contains("only")
    });
    // A file that exists, one that does not, and a folder that cannot be created.
    terminal.press("inone.jsonl\r");
    terminal.shows("not imported: cannot open");
    terminal.press("ielsewhere.jsonl\r");
    terminal.shows("imported as ");
    terminal.until("it is listed", |screen| {
        let is_listed = |line: &str| {
            line.contains("only ") && (line.contains(" ago") || line.contains("just now"))
        };
        screen.contents().lines().any(is_listed)
    });
    fs::remove_dir_all(home.sessions_dir()).unwrap();
    fs::write(home.sessions_dir(), "").unwrap();
    terminal.press("ielsewhere.jsonl\r");
    terminal.shows("not imported: cannot create the folder");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
}

/// Waits for a first result: a run without results has no answer.
fn measured(terminal: &Terminal) {
    terminal.until("a result", |screen| {
        (1..=6).any(|cells| screen.contents().contains(&format!("{cells} of 6 cells")))
    });
}

#[test]
fn session_is_saved_after_full_disk() {
    let home = home_with_file();
    kernel::with_tmpfs(&home.sessions_dir(), "1m", || {
        let filler = home.sessions_dir().join("filler");
        // Until the disk is full.
        let mut file = fs::File::create(&filler).unwrap();
        while std::io::Write::write(&mut file, &[0; 4096]).is_ok_and(|written| written > 0) {}
        drop(file);
        let mut terminal = running(&home, ENDLESS);
        let live = terminal.shows("NOT SAVED:");
        assert!(live.contains("no space left on device"), "{live}");
        measured(&terminal);
        terminal.press(CTRL_C);
        terminal.shows("at a glance");
        terminal.shows("not saved");
        // Another disk has room.
        terminal.press("bej\r");
        terminal.shows("wrote ");
        let exported = home.names().into_iter().find(|name| name.ends_with(".json")).unwrap();
        let json: serde_json::Value =
            serde_json::from_slice(&fs::read(home.path(&exported)).unwrap()).unwrap();
        assert!(!json["results"].as_array().unwrap().is_empty());
        fs::remove_file(&filler).unwrap();
        terminal.shows("saved again");
        terminal.press("q");
        let (code, said) = terminal.end();
        assert!(code == 0 && said.contains("saved   "), "{said}");
        assert_eq!(sessions(&home)[0]["state"], "interrupted");
    });
}

#[test]
fn unwritable_folder_keeps_sessions() {
    let home = home_with_file();
    kernel::with_tmpfs(&home.sessions_dir(), "4m", || {
        keep(&home, &["only"]);
        fs::copy(home.sessions().pop().unwrap(), home.path("elsewhere.jsonl")).unwrap();
        kernel::remount_read_only(&home.sessions_dir());
        for (keys, said) in [
            ("wother\r", "cannot change "),
            ("Dy", "cannot remove "),
            ("ielsewhere.jsonl\r", "not imported: cannot create "),
        ] {
            let mut terminal = on_sessions(&home, "only");
            terminal.press(keys);
            terminal.shows(said);
            terminal.press(CTRL_C);
            assert_eq!(terminal.end().0, 0);
        }
        // A run cannot be saved there, which is shown throughout; exports elsewhere still work.
        let mut terminal = running(&home, ENDLESS);
        let live = terminal.shows("NOT SAVED:");
        assert!(live.contains("read-only file system"), "{live}");
        measured(&terminal);
        terminal.press(CTRL_C);
        terminal.shows("at a glance");
        terminal.shows("not saved");
        terminal.press("e\r");
        terminal.shows("wrote ");
        terminal.press("q");
        assert_eq!(terminal.end().0, 0);
        assert_eq!(sessions(&home).len(), 1);
    });
}

#[test]
fn hostile_session_files_are_harmless() {
    let home = home_with_file();
    let dir = home.sessions_dir();
    std::fs::create_dir_all(&dir).unwrap();
    let golden = include_str!("../golden/session-v1.jsonl");
    let evil = golden
        .replace("golden – ünïcode", "evil\\u001b]0;owned\\u0007\\u202e")
        .replace("/home/user", "/\\u001b[2J\\n");
    std::fs::write(dir.join("evil.jsonl"), evil).unwrap();
    std::fs::write(dir.join("deep.jsonl"), "[".repeat(100_000) + "\n").unwrap();
    nix::unistd::mkfifo(&dir.join("pipe.jsonl"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::fs::File::create(dir.join("sparse.jsonl")).unwrap().set_len(1 << 30).unwrap();
    std::os::unix::fs::symlink("loop.jsonl", dir.join("loop.jsonl")).unwrap();
    let mut terminal = start(&home, "");
    terminal.press("4");
    terminal.shows("unreadable: ");
    terminal.shows("evil");
    // The readable one is the newest; the previews of the next ones say why they cannot be read.
    for _ in 0..4 {
        terminal.press("j");
        let reasons = ["regular file", "cannot open", "longer than", "iotui session:"];
        terminal.until("the reason", |screen| {
            reasons.iter().any(|why| screen.contents().contains(why))
        });
    }
    terminal.press("g\r");
    terminal.shows("Throughput");
    terminal.press("q");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("panicked"), "{said}");
}
