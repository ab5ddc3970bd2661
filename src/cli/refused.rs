//! A command line that is refused, in one line that begins with the name of the option: clap says
//! it in up to twenty.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::plan::nearest;

/// The line for what clap refuses of `argv`.
pub(super) fn line(error: &clap::Error, argv: &[OsString], command: &clap::Command) -> String {
    let told = Told(error);
    let option = name(&told.first(ContextKind::InvalidArg));
    let value = told.first(ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::InvalidUtf8 => not_text(argv, command),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            no_command(argv, command)
        }
        ErrorKind::InvalidSubcommand => {
            let word = told.first(ContextKind::InvalidSubcommand);
            format!(
                "{word}: {} has no such command{}",
                told.program(),
                told.hint(ContextKind::SuggestedSubcommand)
            )
        }
        _ if option.is_empty() => plain(error),
        ErrorKind::InvalidValue if value.is_empty() => {
            match told.all(ContextKind::ValidValue).as_slice() {
                [] => format!("{option}: a value is missing"),
                known => {
                    format!("{option}: a value is missing; possible values: {}", known.join(", "))
                }
            }
        }
        ErrorKind::InvalidValue => {
            let known = told.all(ContextKind::ValidValue);
            format!("{option}: {}", nearest("value", &value, known.iter().map(String::as_str)))
        }
        ErrorKind::ValueValidation => match error.source().map(ToString::to_string) {
            Some(why) if why.contains(&value) => format!("{option}: {why}"),
            why => format!("{option}: '{value}': {}", why.unwrap_or_default()),
        },
        ErrorKind::UnknownArgument if option.starts_with('-') => {
            format!(
                "{option}: {} has no such option{}",
                told.program(),
                told.hint(ContextKind::SuggestedArg)
            )
        }
        ErrorKind::UnknownArgument => {
            format!("'{option}': unexpected argument; usage: {}", told.usage())
        }
        ErrorKind::TooManyValues => format!("{option} takes no value, but '{value}' was given"),
        ErrorKind::ArgumentConflict => describe_conflict(&told, &option),
        ErrorKind::MissingRequiredArgument => {
            let missing: Vec<String> =
                told.all(ContextKind::InvalidArg).iter().map(|arg| name(arg)).collect();
            format!("{}: missing; usage: {}", missing.join(" "), told.usage())
        }
        _ => plain(error),
    }
}

fn describe_conflict(told: &Told, option: &str) -> String {
    let others: Vec<String> =
        told.all(ContextKind::PriorArg).iter().map(|other| name(other)).collect();
    let twice = others.iter().all(|other| *other == option);
    if twice {
        format!("{option} is given twice")
    } else {
        format!("{option} cannot be used with {}", others.join(", "))
    }
}

/// What clap knows of its error.
struct Told<'a>(&'a clap::Error);

impl Told<'_> {
    fn all(&self, kind: ContextKind) -> Vec<String> {
        match self.0.get(kind) {
            Some(ContextValue::String(one)) => vec![one.clone()],
            Some(ContextValue::Strings(some)) => some.clone(),
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

    /// `iotui`, or `iotui sessions show`.
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

/// `--block-size` of `--block-size <RANGE|auto>`, `-Z` of itself, `SESSION` of `<SESSION>`.
fn name(arg: &str) -> String {
    let arg = arg.trim_matches(['<', '>', '.']);
    let end = if arg.starts_with('-') { arg.find([' ', '[', '=', '<']) } else { None };
    arg[..end.unwrap_or(arg.len())].to_string()
}

/// The first paragraph of clap's own words.
fn plain(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
    first.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// clap does not tell which word it is: the first that is accepted once it is text.
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

/// A command that has commands of its own, and none was said.
fn no_command(argv: &[OsString], command: &clap::Command) -> String {
    let with = argv
        .iter()
        .find_map(|word| command.find_subcommand(word).filter(|sub| sub.has_subcommands()));
    let of = with.unwrap_or(command);
    let names: Vec<&str> =
        of.get_subcommands().map(clap::Command::get_name).filter(|name| *name != "help").collect();
    format!("{}: a command is missing: {}", of.get_name(), names.join(", "))
}
