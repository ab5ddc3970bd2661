//! Where a copied text goes: to the programs that hold a clipboard here, else to the terminal by
//! OSC 52, which goes over ssh too but is never acknowledged.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::Command as TerminalCommand;
use crossterm::clipboard::CopyToClipboard;

use crate::sys::pause;
use crate::tui::msg::Copied;

/// Bytes of a text whose sequence is no longer than the 100,000 that hterm and those after it take.
pub const MAX_TEXT_BYTES: usize = 74_991;

/// How long a program may take: the display of a forwarded connection may be gone.
const TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A program that keeps a clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Where the text is then: `the clipboard`.
    name: &'static str,
    program: PathBuf,
    args: &'static [&'static str],
}

/// The programs, with the variable that says that they apply.
const PROGRAMS: &[(&str, &str, &str, &[&str])] = &[
    ("WAYLAND_DISPLAY", "the clipboard", "wl-copy", &[]),
    ("DISPLAY", "the clipboard", "xclip", &["-selection", "clipboard"]),
    ("DISPLAY", "the clipboard", "xsel", &["--clipboard", "--input"]),
    // -w: to the clipboard of the terminal outside as well, where tmux may.
    ("TMUX", "the tmux buffer", "tmux", &["load-buffer", "-w", "-"]),
];

/// Returns the programs that apply in an environment and are on its PATH.
pub fn holders(env: &dyn Fn(&str) -> Option<OsString>) -> Vec<Holder> {
    let path = env("PATH").unwrap_or_default();
    let is_set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    let find = |program: &str| {
        std::env::split_paths(&path)
            .map(|dir| dir.join(program))
            .find(|file| file.is_absolute() && file.is_file())
    };
    PROGRAMS
        .iter()
        .filter(|(variable, ..)| is_set(variable))
        .filter_map(|&(_, name, program, args)| {
            Some(Holder { name, program: find(program)?, args })
        })
        .collect()
}

/// Gives the text to the programs: to the first that takes it of each kind.
pub fn copy(holders: &[Holder], text: String) -> Copied {
    let mut taken: Vec<&str> = Vec::new();
    for holder in holders {
        if !taken.contains(&holder.name) && gave(holder, &text, TIMEOUT) {
            taken.push(holder.name);
        }
    }
    if taken.is_empty() {
        return Copied::Refused(text);
    }
    Copied::Known(format!("copied to {}", taken.join(" and ")))
}

/// Returns whether the program took the whole text in time.
fn gave(holder: &Holder, text: &str, timeout: Duration) -> bool {
    let started = Command::new(&holder.program)
        .args(holder.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // It lives on as the clipboard when the terminal is closed.
        .process_group(0)
        .spawn();
    let Ok(mut child) = started else { return false };
    let Some(mut stdin) = child.stdin.take() else { return false };
    let bytes = text.as_bytes().to_vec();
    // A program that reads nothing would block this one; its end breaks the pipe.
    let writer =
        thread::Builder::new().name("copy".into()).spawn(move || stdin.write_all(&bytes).is_ok());
    let ended = wait(&mut child, timeout);
    if !ended {
        let _ = child.kill();
        let _ = child.wait();
    }
    ended && writer.is_ok_and(|writer| writer.join().unwrap_or(false))
}

/// Returns whether the child ended well in time.
fn wait(child: &mut Child, timeout: Duration) -> bool {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if begin.elapsed() < timeout => pause::sleep(POLL_INTERVAL),
            _ => return false,
        }
    }
}

/// Returns what makes the terminal copy `text`.
pub fn osc52(text: &str) -> impl TerminalCommand {
    CopyToClipboard::to_clipboard_from(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn sequence(text: &str) -> String {
        let mut sequence = String::new();
        osc52(text).write_ansi(&mut sequence).unwrap();
        sequence
    }

    #[test]
    fn clipboard_text_is_in_base64() {
        for (text, wanted) in [
            ("", ""),
            ("f", "Zg=="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("\u{fc}\u{1b}", "w7wb"),
        ] {
            assert_eq!(sequence(text), format!("\x1b]52;c;{wanted}\x1b\\"));
        }
    }

    #[test]
    fn safe_length_fits_every_terminal() {
        assert!(sequence(&"x".repeat(MAX_TEXT_BYTES)).len() <= 100_000);
        assert!(sequence(&"x".repeat(MAX_TEXT_BYTES + 1)).len() > 100_000);
    }

    /// A folder with programs of these names, each a script.
    fn programs(scripts: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, script) in scripts {
            // By another process: one that this process still writes to, also in a fork of another
            // test, cannot be executed.
            let wrote = Command::new("sh")
                .args(["-c", "printf '#!/bin/sh\n%s\n' \"$2\" > $1; chmod +x $1", "sh"])
                .arg(dir.path().join(name))
                .arg(script)
                .status();
            assert!(wrote.unwrap().success());
        }
        dir
    }

    fn copied(dir: &tempfile::TempDir, variables: &[&str], text: &str) -> Copied {
        let env = |name: &str| match name {
            "PATH" => Some(dir.path().into()),
            _ => variables.contains(&name).then(|| "x".into()),
        };
        copy(&holders(&env), text.into())
    }

    #[test]
    fn copies_need_a_successful_program() {
        let keep = |name: &str| format!("cat > $0.got; echo \"$@\" > $0.args # {name}");
        let dir = programs(&[
            ("wl-copy", &keep("wl")),
            ("xclip", "exit 1"),
            ("xsel", &keep("xsel")),
            ("tmux", &keep("tmux")),
        ]);
        let text = "read warm 64 KiB\n".repeat(20_000);
        let got = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap_or_default();
        for (variables, wanted, file) in [
            (vec!["TMUX"], "copied to the tmux buffer", "tmux.got"),
            (vec!["WAYLAND_DISPLAY"], "copied to the clipboard", "wl-copy.got"),
            (vec!["DISPLAY"], "copied to the clipboard", "xsel.got"),
            (vec!["TMUX", "DISPLAY"], "copied to the clipboard and the tmux buffer", "xsel.got"),
        ] {
            assert_eq!(copied(&dir, &variables, &text), Copied::Known(wanted.into()));
            assert_eq!(got(file), text, "{file}");
            fs::remove_file(dir.path().join(file)).unwrap();
        }
        assert_eq!(got("tmux.args"), "load-buffer -w -\n");
        assert_eq!(copied(&dir, &[], "a"), Copied::Refused("a".into()));
    }

    #[test]
    fn failed_programs_have_not_copied() {
        let dir = programs(&[("tmux", "exit 1"), ("wl-copy", "exec cat /dev/zero > /dev/null")]);
        assert_eq!(copied(&dir, &["TMUX", "DISPLAY"], "a"), Copied::Refused("a".into()));
        let env = |name: &str| match name {
            "PATH" => Some(dir.path().into()),
            _ => (name == "WAYLAND_DISPLAY").then(|| "x".into()),
        };
        let hangs = holders(&env);
        assert_eq!(hangs.len(), 1);
        // More than a pipe holds, to a program that never reads it.
        assert!(!gave(&hangs[0], &"x".repeat(1 << 20), Duration::from_millis(50)));
    }
}
