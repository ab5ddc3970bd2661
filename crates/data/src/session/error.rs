//! Errors of sessions. Every message is one line with the next step.

use std::io;
use std::path::{Path, PathBuf};

use crate::text::{clean, describe_io_error, show_path};

/// Why a session cannot be saved, found, read or changed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(
        "no home folder for sessions: set HOME or XDG_DATA_HOME to an absolute path, or use --no-save"
    )]
    NoHome,
    #[error("cannot {what} {}: {}", show_path(.path), describe_io_error(.error))]
    Io { what: &'static str, path: PathBuf, error: io::Error },
    #[error("{} is not a regular file: name a session's .jsonl file, or its id", show_path(.0))]
    NotAFile(PathBuf),
    #[error("{} is not an iotui session: {why}", show_path(.path))]
    NotASession { path: PathBuf, why: String },
    #[error("{} was written by a newer iotui (schema {schema}, this one reads {}): update iotui", show_path(.path), super::SCHEMA)]
    Newer { path: PathBuf, schema: u64 },
    #[error("{} is damaged in line {line}: {why}", show_path(.path))]
    Damaged { path: PathBuf, line: u64, why: String },
    #[error("{} has {bytes} bytes, the limit is {most}", show_path(.path))]
    TooLarge { path: PathBuf, bytes: u64, most: u64 },
    #[error("no session '{}'{}", clean::brief(.text, 80), hint(.near))]
    Unknown { text: String, near: Vec<String> },
    #[error(
        "'{0}' is a built-in reference: it can be shown, compared and exported, but not changed or run"
    )]
    Reference(&'static str),
    #[error(
        "'{0}' is a built-in reference: a report has figures but not when they were measured, so it cannot be replayed"
    )]
    ReferenceReplay(&'static str),
    #[error("session '{id}' cannot be replayed: {why}")]
    NoReplay { id: String, why: &'static str },
    #[error("'{}' matches {count} sessions: {}{}; use a longer part of the id", clean::brief(.text, 80), .near.join(", "), if .near.len() < *.count { ", .." } else { "" })]
    Ambiguous { text: String, count: usize, near: Vec<String> },
    #[error("'{}' is not a valid session name: use 1 to {} printable characters", clean::brief(.0, 80), super::NAME_LENGTH)]
    Name(String),
    #[error("session '{0}' is still being recorded: stop its run first")]
    Busy(String),
    #[error("{} is not a session and not in the session folder: not changed", show_path(.0))]
    NotOurs(PathBuf),
    #[error("the session cannot be written as JSON: {0}")]
    Json(String),
}

impl SessionError {
    pub(super) fn io(what: &'static str, path: &Path, error: io::Error) -> SessionError {
        SessionError::Io { what, path: path.into(), error }
    }

    /// Returns the error of a replay: a reference has other reasons against it than a change.
    pub fn into_replay(self) -> SessionError {
        match self {
            SessionError::Reference(id) => SessionError::ReferenceReplay(id),
            other => other,
        }
    }

    /// Returns the message with the most important part first: its end is cut off if room is short.
    pub(super) fn reason_first(&self) -> String {
        match self {
            SessionError::Io { what, path, error } => {
                format!("{}: cannot {what} {}", describe_io_error(error), show_path(path))
            }
            other => other.to_string(),
        }
    }
}

fn hint(near: &[String]) -> String {
    match near {
        [] => "; 'iotui sessions list' shows all of them".into(),
        _ => format!("; did you mean {}?", near.join(" or ")),
    }
}

/// Returns the text of a JSON error, shortened: it may quote megabytes of its input.
pub(super) fn describe_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    // Every line is parsed separately, so the parser's "line 1" would contradict our line number.
    let text = match text.rfind(" at line 1 column ") {
        Some(at) => format!(
            "{} at byte {}",
            clean::brief(&text[..at], 160),
            &text[at + " at line 1 column ".len()..]
        ),
        None => clean::brief(&text, 160),
    };
    if text.starts_with("unknown field") { text + " (a newer iotui may support it)" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_short_line() {
        let hostile = format!("\"{}\\n\x1b\"", "x".repeat(1 << 20));
        let error = serde_json::from_slice::<u64>(hostile.as_bytes()).unwrap_err();
        let error =
            SessionError::Damaged { path: "a\nb".into(), line: 7, why: describe_json(&error) }
                .to_string();
        assert!(error.len() < 400 && !error.contains(char::is_control), "{error}");
        assert!(error.starts_with("a\\nb is damaged in line 7"), "{error}");
        let far = SessionError::Unknown { text: "x".into(), near: vec![] }.to_string();
        assert!(far.contains("iotui sessions list"), "{far}");
    }

    #[test]
    fn system_errors_are_in_words() {
        let full = SessionError::io("write", Path::new("/s/x"), io::Error::from_raw_os_error(28));
        assert_eq!(full.to_string(), "cannot write /s/x: no space left on device");
        assert_eq!(full.reason_first(), "no space left on device: cannot write /s/x");
        // Else the command line would add it a second time, with its number.
        assert!(std::error::Error::source(&full).is_none());
    }
}
