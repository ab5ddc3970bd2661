//! The popups that are open over a screen. How each popup behaves is in [`popups`](crate::popups).

use tui_input::Input;

use super::export::Form;
use super::msg::{Effect, HeldRun};
use super::plan::Preset;
use super::refine::RefineForm;
use super::start::entries;

/// The purpose of a confirmed line of text.
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

/// The action after a yes.
#[derive(Debug, Clone, PartialEq)]
pub enum Then {
    Quit,
    Do(Effect),
}

/// A popup with its state; one file of [`popups`](crate::popups) each.
#[derive(Debug, Clone)]
pub enum Popup {
    Help(Help),
    Palette(Palette),
    Question(Question),
    /// Another iotui measures on the same disk: wait, or measure all the same.
    HeldRun(HeldRun),
    /// A run waits for another iotui already.
    WaitingRun(WaitingRun),
    Line(TextLine),
    Export(Box<Form>),
    Refine(Box<RefineForm>),
    /// Kinds of warnings of the shown session, and what helps.
    Warnings(WarningList),
    /// The guided start: questions instead of settings, then all presets.
    Start(Start),
    /// Others on the bars of Lab.
    Marks(MarkList),
    Doctor(Doctor),
    Themes(ThemeList),
    /// The messages of the last line.
    Messages(MessageList),
}

#[derive(Debug, Clone, Default)]
pub struct Help {
    /// Shows the page of signs and words instead of the keys.
    pub words: bool,
    pub scroll: usize,
    pub filter: Option<Input>,
}

#[derive(Debug, Clone, Default)]
pub struct Palette {
    pub input: Input,
    pub cursor: usize,
}

#[derive(Debug, Clone)]
pub struct Question {
    pub text: String,
    pub detail: String,
    pub then: Then,
}

#[derive(Debug, Clone)]
pub struct WaitingRun;

#[derive(Debug, Clone)]
pub struct TextLine {
    pub title: String,
    pub hint: String,
    pub input: Input,
    pub error: Option<String>,
    pub purpose: Purpose,
}

#[derive(Debug, Clone, Default)]
pub struct WarningList {
    pub cursor: usize,
}

#[derive(Debug, Clone, Default)]
pub struct Start {
    pub cursor: usize,
    pub filter: Option<Input>,
}

#[derive(Debug, Clone, Default)]
pub struct MarkList {
    pub cursor: usize,
}

#[derive(Debug, Clone, Default)]
pub struct Doctor {
    pub scroll: usize,
}

/// The themes; the one under the cursor is shown, and `before` comes back if it is not kept.
#[derive(Debug, Clone)]
pub struct ThemeList {
    pub cursor: usize,
    pub before: String,
}

#[derive(Debug, Clone, Default)]
pub struct MessageList {
    pub scroll: usize,
}

impl Popup {
    /// Opens the guided start on the row of a preset, or on its first row.
    pub fn start(presets: &[Preset], id: &str) -> Popup {
        let rows = entries(presets, "");
        let cursor = rows.iter().position(|row| !id.is_empty() && row.id() == id).unwrap_or(0);
        Popup::Start(Start { cursor, filter: None })
    }

    pub fn question(text: impl Into<String>, detail: impl Into<String>, then: Then) -> Popup {
        Popup::Question(Question { text: text.into(), detail: detail.into(), then })
    }

    pub fn line(
        title: impl Into<String>,
        hint: impl Into<String>,
        value: impl Into<String>,
        purpose: Purpose,
    ) -> Popup {
        Popup::Line(TextLine {
            title: title.into(),
            hint: hint.into(),
            input: Input::new(value.into()),
            error: None,
            purpose,
        })
    }
}
