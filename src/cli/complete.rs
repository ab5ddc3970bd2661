//! Completes command lines: the shell runs iotui and asks for the words that can follow, so the
//! presets, profiles and sessions of this machine are among them.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use clap::{Arg, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;

use super::command;
use crate::plan::{Group, Settings, ValueKind};
use crate::{catalog, config, runner, session};

/// The variable that a shell sets to its name when it asks for words.
const VARIABLE: &str = "IOTUI_COMPLETE";

/// Maximum number of sessions that are offered, the newest.
const MAX_SESSIONS: usize = 50;

/// A word and what it means.
type Word = (String, String);

/// Answers a shell that asks for words; false if no shell asks.
///
/// # Errors
/// The shell is unknown, its request has no word to complete, or stdout cannot be written.
pub fn complete(argv: &[OsString]) -> Result<bool, String> {
    let answer = CompleteEnv::with_factory(|| add_completers(command())).var(VARIABLE);
    answer
        .try_complete(argv.iter().cloned(), std::env::current_dir().ok().as_deref())
        .map_err(|error| format!("{VARIABLE}: {}", super::refused::plain(&error)))
}

/// Writes what makes a shell ask: bash, zsh or fish.
///
/// # Errors
/// The shell is unknown, or writing fails.
pub fn write_registration(shell: &str, to: &mut dyn Write) -> io::Result<()> {
    let shells = Shells::builtins();
    let known = shells.completer(shell).ok_or(io::ErrorKind::InvalidInput)?;
    known.write_registration(VARIABLE, "iotui", "iotui", "iotui", to)
}

fn add_completers(command: Command) -> Command {
    command.mut_args(add_completer).mut_subcommands(add_completers)
}

fn add_completer(arg: Arg) -> Arg {
    let words: fn() -> Vec<Word> = match arg.get_id().as_str() {
        "preset" => presets,
        "expect" => profiles,
        "plan" | "refine" | "baseline" | "session" | "base" | "others" => sessions,
        "backend" => backends,
        "probe" => probes,
        name => {
            let kind = Settings::ALL.iter().find(|setting| setting.name == name).map(|of| of.kind);
            let (ValueKind::OneOf(names) | ValueKind::OneOfOr(names, _) | ValueKind::SomeOf(names)) =
                kind.unwrap_or(ValueKind::Switch)
            else {
                return arg;
            };
            return arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
                let words = names.iter().map(|name| (name.to_string(), String::new()));
                candidates(typed, words.collect())
            }));
        }
    };
    arg.add(ArgValueCompleter::new(move |typed: &OsStr| candidates(typed, words())))
}

/// Returns the words that continue what was typed after its last comma.
fn candidates(typed: &OsStr, words: Vec<Word>) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let (kept, begun) = typed.split_at(typed.rfind(',').map_or(0, |comma| comma + 1));
    let mut found = Vec::new();
    for (word, about) in words {
        if word.starts_with(begun) {
            let help = (!about.is_empty()).then(|| about.into());
            found.push(CompletionCandidate::new(format!("{kept}{word}")).help(help));
        }
    }
    found
}

fn presets() -> Vec<Word> {
    config::presets().iter().map(|preset| (preset.id.clone(), preset.about.clone())).collect()
}

fn profiles() -> Vec<Word> {
    runner::profiles().iter().map(|of| (of.id.clone(), of.about.clone())).collect()
}

/// Returns the names of the newest sessions, or the ids of those without one.
fn sessions() -> Vec<Word> {
    let Ok(dir) = session::folder() else { return Vec::new() };
    let newest = session::newest(&dir).take(MAX_SESSIONS);
    newest.map(|of| (if of.name.is_empty() { of.id } else { of.name }, of.label)).collect()
}

fn backends() -> Vec<Word> {
    let mut words = Vec::new();
    for info in catalog::infos() {
        words.push((info.id.to_string(), info.about.to_string()));
        for option in info.options {
            let value = if option.value.is_some() { "=" } else { "" };
            let word = format!("{}+{}{value}", info.id, option.name);
            words.push((word, option.about.to_string()));
        }
    }
    words
}

/// Returns the probes, their groups, and the word for all of them.
fn probes() -> Vec<Word> {
    let mut words = vec![("all".to_string(), "every probe".to_string())];
    for group in Group::ALL {
        words.push((group.name().into(), "a group of probes".into()));
    }
    for info in catalog::PROBES {
        words.push((info.id.into(), info.about.into()));
    }
    words
}
