//! Windows over a screen: help, palette, a question, a line of text, the presets, the doctor,
//! others on the bars of Lab, the themes.

use tui_input::Input;

use super::export::{Focus, Form};
use super::msg::{Effect, HeldRun};
use super::refine::RefineForm;

/// What a confirmed line of text is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// A new preset of the settings.
    Preset,
    /// The name of this session.
    Rename { id: String },
    /// The path of a session to take in.
    Import,
    /// A setting of Setup, by the name of its option.
    Setting(&'static str),
    /// The values of this probe's parameters.
    Values(&'static str),
}

/// What follows a yes.
#[derive(Debug, Clone, PartialEq)]
pub enum Then {
    Quit,
    Do(Effect),
}

#[derive(Debug, Clone)]
pub enum Popup {
    Help {
        /// The page of signs and words, not that of keys.
        words: bool,
        scroll: usize,
        filter: Option<Input>,
    },
    Palette {
        input: Input,
        cursor: usize,
    },
    Question {
        text: String,
        detail: String,
        then: Then,
    },
    /// Another iotui measures on the same disk: wait, or measure all the same.
    HeldRun(HeldRun),
    /// A run waits for another iotui already.
    WaitingRun,
    Line {
        title: String,
        hint: String,
        input: Input,
        error: Option<String>,
        purpose: Purpose,
    },
    Export(Box<Form>),
    Presets {
        cursor: usize,
    },
    Refine(Box<RefineForm>),
    /// Kinds of warnings of the shown session, and what helps.
    Warnings {
        cursor: usize,
    },
    /// The guided start: questions instead of settings.
    Start {
        cursor: usize,
    },
    /// Others on the bars of Lab.
    Marks {
        cursor: usize,
    },
    Doctor {
        scroll: usize,
    },
    /// The themes; the one under the cursor is shown, and `before` comes back if it is not kept.
    Themes {
        cursor: usize,
        before: String,
    },
    /// The messages of the last line.
    Messages {
        scroll: usize,
    },
}

impl Popup {
    pub fn help() -> Popup {
        Popup::Help { words: false, scroll: 0, filter: None }
    }

    pub fn palette() -> Popup {
        Popup::Palette { input: Input::default(), cursor: 0 }
    }

    pub fn question(text: impl Into<String>, detail: impl Into<String>, then: Then) -> Popup {
        Popup::Question { text: text.into(), detail: detail.into(), then }
    }

    pub fn line(
        title: impl Into<String>,
        hint: impl Into<String>,
        value: impl Into<String>,
        purpose: Purpose,
    ) -> Popup {
        Popup::Line {
            title: title.into(),
            hint: hint.into(),
            input: Input::new(value.into()),
            error: None,
            purpose,
        }
    }

    /// Returns the selected row of a list, or the first row that is shown of a text.
    pub fn row_mut(&mut self) -> Option<&mut usize> {
        match self {
            Popup::Help { scroll: row, .. }
            | Popup::Palette { cursor: row, .. }
            | Popup::Presets { cursor: row }
            | Popup::Warnings { cursor: row }
            | Popup::Start { cursor: row }
            | Popup::Marks { cursor: row }
            | Popup::Themes { cursor: row, .. }
            | Popup::Doctor { scroll: row }
            | Popup::Messages { scroll: row } => Some(row),
            Popup::Refine(form) => Some(&mut form.cursor),
            Popup::Export(form) => Some(&mut form.cursor),
            Popup::Question { .. } | Popup::HeldRun(_) | Popup::WaitingRun | Popup::Line { .. } => {
                None
            }
        }
    }

    /// Returns whether it is a text, which scrolls and has no selected row.
    pub fn is_text(&self) -> bool {
        let words = matches!(self, Popup::Help { words: true, .. });
        words || matches!(self, Popup::Doctor { .. } | Popup::Messages { .. })
    }

    /// Returns the text that letters go to, if it has one.
    pub fn field(&mut self) -> Option<&mut Input> {
        match self {
            Popup::Help { filter, .. } => filter.as_mut(),
            Popup::Palette { input, .. } | Popup::Line { input, .. } => Some(input),
            Popup::Export(form) if form.focus == Focus::Path => Some(&mut form.path),
            _ => None,
        }
    }
}
