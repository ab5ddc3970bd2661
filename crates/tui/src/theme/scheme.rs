//! The colours of a theme as one terminal shows them.

use ratatui::style::{Color, Style};

use crate::catalog::HUES;

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colours {
    #[default]
    None,
    Sixteen,
    TwoFiftySix,
    True,
}

/// The colours of each role on this terminal. Warnings, the accent and the series are three
/// families: a colour of one is in no other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Theme {
    pub id: String,
    pub about: String,
    /// Painted under everything; `None`: the terminal's own.
    pub(super) background: Option<Color>,
    /// The background of a selection; `None`: it is reversed.
    pub(super) selected: Option<Color>,
    /// In the order of its file.
    pub(super) roles: [Style; 12],
    pub(super) series: [Style; HUES],
}
