//! Describes a refused command line in one line that begins with the name of the option, where
//! clap prints up to twenty lines.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::plan::{is_near, nearest};
use crate::text::show_path;

/// Describes the error that clap found in `argv`, in one line.
pub(super) fn describe_error(
    error: &clap::Error,
    argv: &[OsString],
    command: &clap::Command,
) -> String {
    let details = ErrorDetails(error);
    let option = name(&details.first(ContextKind::InvalidArg));
    let value = details.first(ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::InvalidUtf8 => not_text(argv, command),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            no_command(argv, command)
        }
        ErrorKind::InvalidSubcommand => {
            let word = details.first(ContextKind::InvalidSubcommand);
            format!(
                "{word}: {} has no such command{}",
                details.program(),
                details.hint(ContextKind::SuggestedSubcommand)
            )
        }
        _ if option.is_empty() => plain(error),
        ErrorKind::InvalidValue if value.is_empty() => {
            match details.all(ContextKind::ValidValue).as_slice() {
                [] => format!("{option}: a value is missing"),
                known => {
                    format!("{option}: a value is missing; possible values: {}", known.join(", "))
                }
            }
        }
        ErrorKind::InvalidValue => {
            let known = details.all(ContextKind::ValidValue);
            format!("{option}: {}", nearest("value", &value, known.iter().map(String::as_str)))
        }
        ErrorKind::ValueValidation => match error.source().map(ToString::to_string) {
            Some(why) if why.contains(&value) => format!("{option}: {why}"),
            why => format!("{option}: '{value}': {}", why.unwrap_or_default()),
        },
        ErrorKind::UnknownArgument if option.starts_with('-') => {
            format!(
                "{option}: {} has no such option{}",
                details.program(),
                details.hint(ContextKind::SuggestedArg)
            )
        }
        ErrorKind::UnknownArgument => {
            format!("'{option}': unexpected argument; usage: {}", details.usage())
        }
        ErrorKind::TooManyValues => format!("{option} takes no value, but '{value}' was given"),
        ErrorKind::ArgumentConflict => describe_conflict(&details, &option),
        ErrorKind::MissingRequiredArgument => {
            let missing: Vec<String> =
                details.all(ContextKind::InvalidArg).iter().map(|arg| name(arg)).collect();
            format!("{}: missing; usage: {}", missing.join(", "), details.usage())
        }
        _ => plain(error),
    }
}

fn describe_conflict(details: &ErrorDetails, option: &str) -> String {
    let others: Vec<String> =
        details.all(ContextKind::PriorArg).iter().map(|other| name(other)).collect();
    let twice = others.iter().all(|other| *other == option);
    if twice {
        format!("{option} is given twice")
    } else {
        format!("{option} cannot be used with {}", others.join(", "))
    }
}

/// The details that clap attached to an error.
struct ErrorDetails<'a>(&'a clap::Error);

impl ErrorDetails<'_> {
    fn all(&self, kind: ContextKind) -> Vec<String> {
        match self.0.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(texts)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    fn first(&self, kind: ContextKind) -> String {
        self.all(kind).into_iter().next().unwrap_or_default()
    }

    fn usage(&self) -> String {
        let usage = match self.0.get(ContextKind::Usage) {
            Some(ContextValue::StyledStr(usage)) => usage.to_string(),
            _ => "iotui --help".into(),
        };
        usage.trim().trim_start_matches("Usage:").lines().next().unwrap_or_default().trim().into()
    }

    /// Returns `iotui`, or `iotui sessions show`.
    fn program(&self) -> String {
        let usage = self.usage();
        usage
            .split(' ')
            .take_while(|word| !word.starts_with(['[', '<', '-']))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn hint(&self, kind: ContextKind) -> String {
        match self.all(kind).as_slice() {
            [] => format!("; see '{} --help'", self.program()),
            near => format!("; did you mean {}?", near.join(" or ")),
        }
    }
}

/// Returns `--block-size` of `--block-size <RANGE|auto>`, `-Z` of itself, `SESSION` of `<SESSION>`.
fn name(arg: &str) -> String {
    let arg = arg.trim_matches(['<', '>', '.']);
    let end = if arg.starts_with('-') { arg.find([' ', '[', '=', '<']) } else { None };
    arg[..end.unwrap_or(arg.len())].to_string()
}

/// Returns the first paragraph of clap's text.
pub(super) fn plain(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
    first.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Names the word that is not UTF-8, which clap does not report: the first that is accepted once it
/// is replaced by text.
fn not_text(argv: &[OsString], command: &clap::Command) -> String {
    let refused = |words: &[OsString]| {
        command
            .clone()
            .try_get_matches_from(words)
            .is_err_and(|e| e.kind() == ErrorKind::InvalidUtf8)
    };
    let (mut words, mut culprit) = (argv.to_vec(), None);
    for (at, word) in argv.iter().enumerate().filter(|(_, word)| word.to_str().is_none()) {
        words[at] = word.to_string_lossy().into_owned().into();
        culprit = Some(at);
        if !refused(&words) {
            break;
        }
    }
    let at = culprit.unwrap_or(0);
    let word = argv.get(at).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let before = at
        .checked_sub(1)
        .and_then(|before| argv[before].to_str())
        .filter(|before| before.starts_with('-'));
    match (word.split_once('='), before) {
        (Some((option, value)), _) if word.starts_with("--") => {
            format!("{option}: '{value}' is not valid UTF-8")
        }
        (_, Some(option)) => format!("{option}: '{word}' is not valid UTF-8"),
        _ => format!("'{word}' is not valid UTF-8"),
    }
}

/// Lists the subcommands where one is missing.
fn no_command(argv: &[OsString], command: &clap::Command) -> String {
    let with = argv
        .iter()
        .find_map(|word| command.find_subcommand(word).filter(|sub| sub.has_subcommands()));
    let of = with.unwrap_or(command);
    let names: Vec<&str> =
        of.get_subcommands().map(clap::Command::get_name).filter(|name| *name != "help").collect();
    format!("{}: a command is missing: {}", of.get_name(), names.join(", "))
}

/// Returns the message for a command after a file or an option, which clap takes for a file.
pub(super) fn late_command(
    files: &[PathBuf],
    argv: &[OsString],
    command: &Command,
) -> Option<String> {
    if files.len() < 2 {
        return None;
    }
    let words = || argv.iter().take_while(|word| *word != "--");
    let is_late = |file: &&PathBuf| {
        command.find_subcommand(file).is_some() && words().any(|word| word == file.as_os_str())
    };
    let late = show_path(files.iter().find(is_late)?);
    Some(format!(
        "{late} is a command: put it first, without options of a run (see iotui {late} --help)"
    ))
}

/// Returns the message for a first word that names no file, but a command with up to two wrong
/// letters: fewer than half of its letters.
pub(super) fn nearly_command(argv: &[OsString], command: &Command) -> Option<String> {
    let typed = argv.get(1)?.to_str().filter(|word| !word.starts_with('-'))?;
    if Path::new(typed).symlink_metadata().is_ok() || command.find_subcommand(typed).is_some() {
        return None;
    }
    let names = command.get_subcommands().map(Command::get_name).chain(["--batch"]);
    let meant = names.into_iter().find(|name| is_near(typed, name))?;
    let words = argv[2..].iter().map(|word| show_path(word.as_ref()));
    let line: Vec<String> = ["iotui", meant].map(String::from).into_iter().chain(words).collect();
    Some(format!("{typed}: no such file; did you mean '{}'?", line.join(" ")))
}
