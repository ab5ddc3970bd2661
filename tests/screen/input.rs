//! Key presses, pastes and resizes; and a terminal that disappears.

use std::io::Read;

use portable_pty::{PtySize, native_pty_system};

use super::{ENDLESS, home_with_file, running, start};
use crate::common::Home;
use crate::common::pty::{CTRL_C, ESC, PATIENCE, Terminal, command, is_braille};

#[test]
fn small_terminal_keeps_the_run() {
    let home = home_with_file();
    let mut terminal = running(&home, ENDLESS);
    for (columns, rows) in [(40, 12), (20, 5), (1, 1)] {
        terminal.resize(columns, rows);
        if columns > 10 {
            terminal.shows("80x24");
        }
    }
    for size in [(80, 24), (200, 60)] {
        terminal.resize(size.0, size.1);
        terminal.shows("Throughput");
        terminal.shows(" %");
    }
    terminal.press(CTRL_C);
    terminal.shows("saved");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn resize_loses_no_key() {
    let home = home_with_file();
    let mut terminal = start(&home, "");
    for round in 0..100 {
        terminal.resize(100 + round % 2, 30);
        // Two keys in one read: the second must not wait for the next read.
        terminal.press("1?");
        terminal.shows("Help");
        terminal.resize(110 + round % 2, 30);
        terminal.press(ESC);
        // Up to the last line: during the redraw at the new size the screen is empty.
        terminal.until("the help is gone", |s| {
            !s.contents().contains("Help:") && s.contents().contains("q quit")
        });
    }
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn a_paste_is_no_command() {
    let home = home_with_file();
    let mut terminal = start(&home, "");
    terminal.press("\x1b[200~qqrx\n\x1b[201~");
    terminal.press("?");
    terminal.shows("Help");
    terminal.press(ESC);
    terminal.until("the help is gone", |s| !s.contents().contains("Help:"));
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn lost_terminal_ends_the_program() {
    let home = Home::new();
    let pair =
        native_pty_system().openpty(PtySize { rows: 30, cols: 100, ..PtySize::default() }).unwrap();
    let mut command = command(&home, "");
    // SIGHUP is sent only for a controlling terminal.
    command.set_controlling_tty(false);
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let (mut seen, mut buffer) = (String::new(), [0; 4096]);
    while !seen.contains("Setup") {
        let read = reader.read(&mut buffer).unwrap();
        assert!(read > 0, "it ended by itself: {seen}");
        seen += &String::from_utf8_lossy(&buffer[..read]);
    }
    drop((reader, pair.master));
    let (over, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || over.send(child.wait().unwrap().exit_code()));
    assert_eq!(ended.recv_timeout(PATIENCE), Ok(129));
}

/// A terminal that drops the symbol stays in the first column, and what comes behind it would move.
#[test]
fn octants_need_single_width() {
    let home = Home::new();
    let is_octant = |c: char| ('\u{1cd00}'..='\u{1cde5}').contains(&c);
    for (answer, is_known) in [("\x1b[1;1R", false), ("\x1b[1;2R", true)] {
        let mut terminal =
            Terminal::start(&home, "--demo --graph octant --speed 100", (100, 30), &[]);
        terminal.until_raw();
        terminal.press(answer);
        if !is_known {
            terminal.shows("this terminal has no octants");
        }
        let wanted = |c: char| if is_known { is_octant(c) } else { is_braille(c) };
        let text = terminal.until("a curve", |s| s.contents().contains(wanted));
        assert_eq!(text.contains(is_octant), is_known, "{text}");
        terminal.press("q");
        assert_eq!(terminal.end().0, 0);
    }
}
