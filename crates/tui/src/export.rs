//! Export: what is written, in which format, to which file. Never over a file without a question.

use std::path::PathBuf;
use std::sync::Arc;

use tui_input::Input;

use crate::report::{COMPARISONS, FORMATS, Look};
use crate::session::Session;
use crate::text::clean_text;
use crate::view::list::next_of;

/// The data to write.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A session that is shown, kept or not.
    Shown(Arc<Session>),
    /// A session that is kept, by its id.
    Kept(String),
    /// Sessions against the first of them, by their ids.
    LoadedComparison(Vec<String>),
}

/// Everything that is needed to write it.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// By which the answer is known.
    pub number: u64,
    pub what: What,
    /// The id of a format of sessions, or of comparisons.
    pub format: &'static str,
    /// As it was typed.
    pub path: String,
    pub anonymous: bool,
    pub look: Look,
    /// Over a file that is there.
    pub replace: bool,
}

/// The outcome of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Written(PathBuf),
    /// A file has that name, and replacing it was not confirmed.
    Exists(Box<ExportOver>),
    Failed(String),
}

/// The file that is in the way, with its size, and the export that would replace it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOver {
    pub path: PathBuf,
    pub detail: String,
}

/// A format as the form shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    pub id: &'static str,
    pub about: &'static str,
    pub extension: &'static str,
}

/// Where keys go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    Format,
    Path,
    Anonymous,
}

const STOPS: [Focus; 3] = [Focus::Format, Focus::Path, Focus::Anonymous];

/// The form over the screen.
#[derive(Debug, Clone)]
pub struct Form {
    what: What,
    /// The name of the exported data.
    pub name: String,
    pub choices: Vec<Choice>,
    pub cursor: usize,
    pub path: Input,
    pub anonymous: bool,
    pub focus: Focus,
    /// The last export requested in this form, and what it was.
    pub asked: Option<Export>,
    pub writing: bool,
    pub error: Option<String>,
}

impl Form {
    /// Creates the form for a session; `file` is how the file is to be called, without an
    /// extension.
    pub fn session(what: What, name: &str, file: &str) -> Form {
        let choices =
            FORMATS.iter().map(|f| Choice { id: f.id, about: f.about, extension: f.extension });
        Form::new(what, name, file, choices.collect())
    }

    /// Creates the form for these sessions against the first of them.
    pub fn comparison(ids: Vec<String>, name: &str) -> Form {
        let choices =
            COMPARISONS.iter().map(|f| Choice { id: f.id, about: f.about, extension: f.extension });
        Form::new(What::LoadedComparison(ids), name, name, choices.collect())
    }

    fn new(what: What, name: &str, file: &str, choices: Vec<Choice>) -> Form {
        let extension = choices.first().map_or("txt", |choice| choice.extension);
        let path = Input::new(format!("{}.{extension}", file_name(file)));
        let name = clean_text(name);
        Form {
            what,
            name,
            choices,
            cursor: 0,
            path,
            anonymous: false,
            focus: Focus::Format,
            asked: None,
            writing: false,
            error: None,
        }
    }

    /// Chooses a format from the start.
    pub fn with_format(mut self, id: &str) -> Form {
        if let Some(at) = self.choices.iter().position(|choice| choice.id == id) {
            self.choose(at);
        }
        self
    }

    fn choice(&self) -> Option<&Choice> {
        self.choices.get(self.cursor)
    }

    /// Chooses a format; the name of the file keeps the extension of the format, unless it has
    /// another one.
    pub fn choose(&mut self, cursor: usize) {
        let before = self.choice().map_or("", |choice| choice.extension);
        self.cursor = cursor.min(self.choices.len().saturating_sub(1));
        let after = self.choice().map_or("", |choice| choice.extension);
        let stem = self.path.value().strip_suffix(before).and_then(|rest| rest.strip_suffix('.'));
        if let Some(stem) = stem.filter(|_| before != after) {
            self.path = Input::new(format!("{stem}.{after}"));
        }
    }

    pub fn turn(&mut self, back: bool) {
        self.focus = next_of(&STOPS, self.focus, back);
    }

    /// Returns what Enter asks for.
    pub fn ask(&mut self, number: u64, look: Look) -> Option<Export> {
        let path = self.path.value().trim().to_string();
        if path.is_empty() {
            self.error = Some("write the name of a file".into());
            return None;
        }
        let format = self.choice()?.id;
        let export = Export {
            number,
            what: self.what.clone(),
            format,
            path,
            anonymous: self.anonymous,
            look,
            replace: false,
        };
        (self.asked, self.writing, self.error) = (Some(export.clone()), true, None);
        Some(export)
    }
}

/// Returns a name as that of a file in this folder: neither a path nor hidden, and of a length that
/// every file system takes.
fn file_name(name: &str) -> String {
    fn plain(c: char) -> char {
        if c == '/' || crate::text::is_unsafe_char(c) || c.is_whitespace() { '-' } else { c }
    }
    let text: String = clean_text(name).chars().map(plain).take(60).collect();
    match text.trim_matches(['-', '.']) {
        "" => "session".into(),
        text => text.into(),
    }
}

#[cfg(test)]
mod tests;
