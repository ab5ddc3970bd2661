//! The full screen in a real terminal, operated by keys alone.

mod input;
mod kept;

use crate::common::pty::{CTRL_C, CTRL_Z, ESC, Terminal, is_braille};
use crate::common::{self, Home};
use nix::sys::signal::Signal;
use predicates::prelude::*;

const WIDE: (u16, u16) = (120, 40);

/// A run that takes some seconds, and one that runs until it is stopped.
const SHORT: &str = "-b pread,mmap -s 4k,64k -c warm --trials 5 --trial-time 20ms --budget 1m";
const ENDLESS: &str =
    "-b pread,mmap -s 4k,16k,64k -c warm --trials 100000 --trial-time 150ms --budget 1h";

fn home_with_file() -> Home {
    let home = Home::new();
    common::data::write(&home.path("some-file.bin"), &common::data::random(8 << 20, 1));
    home
}

fn start(home: &Home, line: &str) -> Terminal {
    let terminal = Terminal::start(home, &format!("some-file.bin {line}"), WIDE, &[]);
    terminal.shows("Setup");
    terminal
}

/// Starts a run, and waits until its curves move and a cell is known.
fn running(home: &Home, line: &str) -> Terminal {
    let mut terminal = start(home, line);
    terminal.press("r");
    fn braille(screen: &vt100::Screen) -> String {
        screen.contents().chars().filter(|c| is_braille(*c)).collect::<String>()
    }
    let mut first = String::new();
    terminal.until("a plot", |screen| {
        first = braille(screen);
        screen.contents().contains("System calls") && !first.is_empty()
    });
    terminal.until("a plot that moves", |screen| braille(screen) != first);
    // A run without results leaves no session.
    terminal.until("a result", |screen| {
        let text = screen.contents();
        text.contains(" cells known") && !text.contains(" 0 of ")
    });
    terminal
}

fn sessions(home: &Home) -> Vec<serde_json::Value> {
    home.json("sessions list").as_array().unwrap().clone()
}

#[test]
fn keys_run_and_reopen_a_session() {
    let home = home_with_file();
    let mut terminal = start(&home, SHORT);
    terminal.press("r");
    terminal.shows("Throughput");
    terminal.shows("System calls");
    // A finished run shows its results automatically.
    terminal.shows("at a glance");
    terminal.press("q");
    let (code, printed) = terminal.end();
    assert_eq!(code, 0);
    let kept = sessions(&home);
    assert_eq!((kept.len(), &kept[0]["state"]), (1, &"finished".into()));
    assert!(
        printed.contains("saved") && printed.contains(kept[0]["id"].as_str().unwrap()),
        "{printed}"
    );
    // Loaded again from the list, by keys alone.
    let mut again = start(&home, "");
    again.press("4");
    again.shows("some-file.bin");
    again.shows("finished");
    again.press("\r");
    again.shows("at a glance");
    again.press("q");
    assert_eq!(again.end().0, 0);
}

#[test]
fn final_lines_fit_the_terminal() {
    let home = home_with_file();
    let line = format!("some-file.bin {SHORT}");
    let mut terminal = Terminal::start(&home, &line, (80, 24), &[]);
    terminal.shows("Setup");
    terminal.press("r");
    terminal.shows("at a glance");
    terminal.press("q");
    let (code, printed) = terminal.end();
    assert_eq!(code, 0);
    let wide = |line: &&str| line.trim_end().chars().count() > 80 && !line.contains('/');
    assert_eq!(printed.lines().filter(wide).count(), 0, "{printed}");
    assert!(printed.contains("read from memory") && printed.contains("saved"), "{printed}");
}

#[test]
fn lab_runs_probes() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, "--no-mouse", WIDE, &[]);
    terminal.shows("Setup");
    terminal.press("5");
    // The probes of this machine, each with its expected value.
    terminal.shows("function call");
    terminal.press("/loop\r");
    terminal.until("one bar", |screen| !screen.contents().contains("function call"));
    terminal.press(ESC);
    terminal.shows("function call");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
    let line = "--probe loop,call --trial-time 1ms --trials 5";
    let mut terminal = Terminal::start(&home, line, WIDE, &[]);
    terminal.shows("function call");
    terminal.press("r");
    terminal.until("a bar", |screen| {
        screen.contents().lines().any(|line| line.contains("arguments 3") && line.contains('█'))
    });
    terminal.shows("saved");
    terminal.press("q");
    let (code, printed) = terminal.end();
    assert_eq!(code, 0, "{printed}");
    let kept = sessions(&home);
    assert_eq!(
        (kept.len(), &kept[0]["state"], &kept[0]["probes"], &kept[0]["target"]),
        (1, &"finished".into(), &9.into(), &"-".into())
    );
    assert!(kept[0]["id"].as_str().unwrap().ends_with("-lab"), "{}", kept[0]);
    // Opened from the list, it is shown on the screen where it was measured.
    let mut again = Terminal::start(&home, "", WIDE, &[]);
    again.shows("Setup");
    again.press("4");
    again.shows("finished · lab");
    again.press("\r");
    again.until("its bars", |screen| {
        screen.contents().lines().any(|line| line.contains("arguments 7") && line.contains('█'))
    });
    again.press("q");
    assert_eq!(again.end().0, 0);
}

#[test]
fn keys_pick_a_file() {
    let home = home_with_file();
    common::data::write(&home.path("another.bin"), &common::data::random(4 << 20, 2));
    let mut terminal = Terminal::start(&home, SHORT, WIDE, &[]);
    // No target named: the scratch file is selected, and the list of files has the focus.
    terminal.shows("scratch file");
    terminal.shows("another.bin");
    terminal.press("/ano");
    terminal.until("only what contains the text", |screen| {
        !screen.contents().contains("some-file.bin")
    });
    terminal.press("\r");
    terminal.until("the plan for it", |screen| {
        screen.contents().contains("another.bin, 4 MiB; writes nothing")
    });
    terminal.press("r");
    terminal.shows("at a glance");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
    let id = sessions(&home)[0]["id"].as_str().unwrap().to_string();
    assert!(id.contains("another"), "{id}");
}

#[test]
fn ctrl_c_keeps_the_results() {
    let home = home_with_file();
    let mut terminal = running(&home, ENDLESS);
    terminal.press(CTRL_C);
    terminal.shows("Results");
    terminal.shows("saved");
    terminal.press("q");
    let (code, printed) = terminal.end();
    assert_eq!(code, 0, "{printed}");
    assert_eq!(sessions(&home)[0]["state"], "interrupted");
}

#[test]
fn quitting_during_a_run_asks() {
    let home = home_with_file();
    let mut terminal = running(&home, ENDLESS);
    terminal.press("q");
    terminal.shows("Quit during a run?");
    terminal.press("n");
    terminal.until("the question is gone", |s| !s.contents().contains("Quit during a run?"));
    terminal.press("q");
    terminal.shows("Quit during a run?");
    terminal.press("y");
    let (code, printed) = terminal.end();
    assert_eq!(code, 0);
    assert!(printed.contains("saved"), "{printed}");
    assert_eq!(sessions(&home)[0]["state"], "interrupted");
}

#[test]
fn signals_restore_the_terminal() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129), (Signal::SIGQUIT, 131)] {
        let home = home_with_file();
        let terminal = running(&home, ENDLESS);
        terminal.signal(signal);
        assert_eq!(terminal.end().0, code, "{signal}");
        assert_eq!(sessions(&home)[0]["state"], "interrupted", "{signal}");
    }
    let home = home_with_file();
    let terminal = start(&home, "");
    terminal.signal(Signal::SIGTERM);
    assert_eq!(terminal.end().0, 143);
    assert!(sessions(&home).is_empty());
}

#[test]
fn stop_during_fill_is_no_failure() {
    let home = home_with_file();
    let mut terminal = Terminal::start(&home, "--size 1g -b pread -s 64k --trials 1", WIDE, &[]);
    terminal.shows("to a scratch file");
    terminal.press("r");
    terminal.shows("filling");
    terminal.press("x");
    terminal.shows("stopped while");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
    assert!(sessions(&home).is_empty(), "nothing was measured");
}

#[test]
fn ctrl_z_suspends_and_resumes() {
    let home = home_with_file();
    let mut terminal = running(&home, ENDLESS);
    terminal.press(CTRL_Z);
    terminal.until_stopped();
    terminal.until("the normal screen", |screen| !screen.alternate_screen());
    terminal.signal(Signal::SIGCONT);
    terminal.until("the full screen", |screen| {
        screen.alternate_screen() && screen.contents().contains("Throughput")
    });
    terminal.until("the run goes on", |screen| screen.contents().contains("cells known"));
    terminal.press(CTRL_C);
    terminal.shows("saved");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn tstp_suspends_like_ctrl_z() {
    let home = home_with_file();
    let mut terminal = start(&home, "");
    terminal.signal(Signal::SIGTSTP);
    terminal.until_stopped();
    terminal.until("the normal screen", |screen| !screen.alternate_screen());
    terminal.signal(Signal::SIGCONT);
    terminal.until("the full screen", |screen| screen.alternate_screen());
    // The program cannot catch SIGSTOP; the shell that sees it needs line mode and echo.
    terminal.signal(Signal::SIGSTOP);
    terminal.until_stopped();
    terminal.cook();
    terminal.signal(Signal::SIGCONT);
    terminal.until_raw();
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn each_screen_has_help_and_palette() {
    let home = home_with_file();
    let mut terminal = start(&home, "");
    for (key, name) in [
        ("1", "Setup"),
        ("2", "Live"),
        ("3", "Results"),
        ("4", "Sessions"),
        ("5", "Lab"),
        ("6", "Host"),
    ] {
        terminal.press(key);
        terminal.press("?");
        terminal.shows(&format!("Help: {name}"));
        terminal.press("q");
        terminal.until("the help is gone", |s| !s.contents().contains("Help:"));
    }
    terminal.press(":");
    terminal.shows("What do you want to do?");
    terminal.press("go to sess\r");
    terminal.until("the palette is gone", |s| !s.contents().contains("What do you want"));
    terminal.press("?");
    terminal.shows("Help: Sessions");
    terminal.press("qq");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn no_color_and_ascii_are_honored() {
    let home = home_with_file();
    let mut terminal = Terminal::start(&home, "some-file.bin --ascii", WIDE, &[("NO_COLOR", "1")]);
    for key in ["1", "2", "3", "4", "6", "?"] {
        terminal.press(key);
    }
    terminal.shows("Help: Host");
    terminal.look(|screen| {
        for row in 0..WIDE.1 {
            for column in 0..WIDE.0 {
                let cell = screen.cell(row, column).unwrap();
                assert!(cell.contents().is_ascii(), "{:?} at {column},{row}", cell.contents());
                assert_eq!(
                    (cell.fgcolor(), cell.bgcolor()),
                    (vt100::Color::Default, vt100::Color::Default),
                    "{column},{row}"
                );
            }
        }
    });
    terminal.press("qq");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn no_terminal_is_explained() {
    let home = home_with_file();
    home.cmd("some-file.bin").assert().code(2).stderr(predicate::str::contains("--batch"));
    home.cmd("--theme nihgt").assert().code(2);
    home.cmd("some-file.bin --dry-run")
        .assert()
        .code(2)
        .stderr(predicate::str::contains("--batch"));
}

#[test]
fn dumb_terminal_is_explained() {
    let home = home_with_file();
    let terminal = Terminal::start(&home, "some-file.bin", WIDE, &[("TERM", "dumb")]);
    let (code, printed) = terminal.end();
    assert_eq!(code, 2, "{printed}");
    assert_eq!(
        printed.trim(),
        "iotui: a dumb terminal cannot show the screen: use iotui --batch [FILE]"
    );
}

#[test]
fn second_signal_ends_a_blocked_screen() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let home = home_with_file();
        let mut terminal = start(&home, "");
        terminal.hold();
        assert_eq!(terminal.signal_until_end(signal), code);
    }
    // A signal that only stops a run, while the thread that draws is already blocked.
    let home = home_with_file();
    let mut terminal = running(&home, ENDLESS);
    terminal.hold();
    assert_eq!(terminal.signal_until_end(Signal::SIGINT), 130);
    assert_eq!(sessions(&home).len(), 1, "what was measured is kept");
}
