//! Replays in a real terminal: they measure and write nothing, and refuse what they cannot replay.

use std::fs;

use iotui::session::demo_lines;

use crate::common::pty::Terminal;
use crate::common::{Home, names};

const SIZE: (u16, u16) = (100, 30);

#[test]
fn demo_writes_no_file() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, "--demo --speed 1", SIZE, &[]);
    terminal.shows("replay 1x");
    // A theme is not kept either.
    terminal.press(">t\r");
    terminal.shows("replay 2x");
    terminal.press(" ");
    terminal.shows("replay paused");
    // Paused, it stays at the end until it goes on.
    terminal.press("G ");
    terminal.until("the results", |screen| !screen.contents().contains("replay paused"));
    terminal.press("\x03");
    assert_eq!(terminal.end().0, 0);
    for folder in [home.home(), home.path(""), home.path("../data")] {
        assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    }
}

#[test]
fn torn_session_plays_in_part() {
    let (home, session) = (Home::new(), demo_lines());
    fs::write(home.path("torn.jsonl"), &session[..session.len() / 2]).unwrap();
    let mut terminal = Terminal::start(&home, "--replay torn.jsonl --speed 5", SIZE, &[]);
    terminal.shows("replay 5x");
    terminal.press("G");
    terminal.shows("the run was killed");
    terminal.press("\x03");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(home.names(), ["torn.jsonl"]);
}

#[test]
fn impossible_replay_is_refused_early() {
    let home = Home::new();
    fs::write(home.path("no.jsonl"), "{}\n").unwrap();
    for (line, why) in [
        ("--replay xeon-os", "cannot be replayed"),
        ("--replay nothing", "no session 'nothing'"),
        ("--replay no.jsonl", "is not an iotui session"),
        ("--demo --speed 0", "--speed"),
        ("--demo --speed 101", "--speed"),
        ("--speed 5", "--replay"),
        ("--demo --replay last", "--demo"),
        ("--demo big.iso", "takes no file"),
        ("--replay last -s 4k", "takes no file"),
    ] {
        let (code, text) = Terminal::start(&home, line, SIZE, &[]).end();
        assert!(code == 2 && text.contains(why), "{line}: {code} {text}");
    }
}
