//! What is listed, in which order, where the cursor stands and what is marked.

use std::cmp::Reverse;

use tui_input::Input;

use crate::session::{Listed, State, Worst};
use crate::tui::session_name;
use crate::tui::session_view::Preview;
use crate::tui::view::pane;

/// What the list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// The newest first.
    #[default]
    When,
    Name,
    Target,
    /// The most first.
    Cells,
    /// The fastest first.
    Best,
    /// The gravest first.
    Verdict,
    State,
}

impl Sort {
    const ALL: &'static [Sort] = &[
        Sort::When,
        Sort::Name,
        Sort::Target,
        Sort::Cells,
        Sort::Best,
        Sort::Verdict,
        Sort::State,
    ];

    pub fn next(self) -> Sort {
        let at = Sort::ALL.iter().position(|sort| *sort == self).unwrap_or(0);
        Sort::ALL[(at + 1) % Sort::ALL.len()]
    }

    pub fn title(self) -> &'static str {
        match self {
            Sort::When => "when, UTC",
            Sort::Name => "name",
            Sort::Target => "target",
            Sort::Cells => "cells",
            Sort::Best => "best",
            Sort::Verdict => "verdict",
            Sort::State => "state",
        }
    }
}

/// A session with the text that a filter is looked for in.
#[derive(Debug)]
struct Row {
    listed: Listed,
    text: String,
}

#[derive(Debug, Default)]
pub struct Sessions {
    /// As listed: the newest first.
    rows: Vec<Row>,
    /// Indexes into `rows`: those that the filter lets through, sorted.
    shown: Vec<usize>,
    /// Index into `shown`.
    pub cursor: usize,
    pub sort: Sort,
    pub filter: Input,
    /// Letters go to the filter.
    pub typing: bool,
    /// Ids, in the order in which they were marked.
    pub marks: Vec<String>,
    pub preview: Option<Preview>,
    /// The session that is being loaded: one at a time, however fast the cursor moves.
    pub asked: Option<String>,
    /// The session that was taken in: the cursor goes to it once it is listed.
    pub wanted: Option<String>,
    /// The folder was read, or why it could not be.
    pub read: Option<Result<(), String>>,
}

fn grave(verdict: Option<Worst>) -> u8 {
    match verdict {
        None => 0,
        Some(Worst::Ok) => 1,
        Some(Worst::Note) => 2,
        Some(Worst::Misleading) => 3,
        Some(Worst::Wrong) => 4,
    }
}

impl Sessions {
    /// All of them, whatever the filter says.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Those of the list, from a row on.
    pub fn from(&self, first: usize) -> impl Iterator<Item = &Listed> {
        self.shown.iter().skip(first).map(|at| &self.rows[*at].listed)
    }

    /// Columns of the longest name and of the longest target.
    pub fn longest(&self) -> (usize, usize) {
        self.from(0).take(1000).fold((0, 0), |(name, target), listed| {
            (
                name.max(pane::width(session_name::of_listed(listed))),
                target.max(pane::width(&listed.target)),
            )
        })
    }

    /// How many the filter lets through.
    pub fn matching(&self) -> usize {
        self.shown.len()
    }

    /// The one under the cursor.
    pub fn current(&self) -> Option<&Listed> {
        self.from(self.cursor).next()
    }

    pub fn of(&self, id: &str) -> Option<&Listed> {
        self.rows.iter().map(|row| &row.listed).find(|listed| listed.id == id)
    }

    /// The place among the marks.
    pub fn mark_of(&self, id: &str) -> Option<usize> {
        self.marks.iter().position(|own| own == id)
    }

    /// Takes a new list in; the cursor stays on its session, or where it was if that is gone.
    pub fn take(&mut self, all: Vec<Listed>) {
        let here = self.current().map(|listed| listed.id.clone());
        // What changed on disk is to be looked at again.
        let changed =
            |preview: &Preview| all.iter().find(|own| own.id == preview.id) != self.of(&preview.id);
        if self.preview.as_ref().is_some_and(changed) {
            self.preview = None;
        }
        self.rows = all.into_iter().map(Row::of).collect();
        let known: std::collections::HashSet<&str> =
            self.rows.iter().map(|row| row.listed.id.as_str()).collect();
        self.marks.retain(|id| known.contains(id.as_str()));
        let at = self.cursor;
        self.arrange();
        self.cursor = here
            .and_then(|id| self.row_of(&id))
            .unwrap_or(at)
            .min(self.shown.len().saturating_sub(1));
    }

    /// After another filter or order: the cursor stays on its session, or goes to the first.
    pub fn again(&mut self) {
        let here = self.current().map(|listed| listed.id.clone());
        self.arrange();
        self.cursor = here.and_then(|id| self.row_of(&id)).unwrap_or(0);
    }

    /// Puts the cursor on a session, out of the filter where that hides it.
    pub fn go_to(&mut self, id: &str) {
        if self.of(id).is_some() && self.row_of(id).is_none() {
            self.filter = Input::default();
            self.arrange();
        }
        self.cursor = self.row_of(id).unwrap_or(self.cursor);
    }

    fn row_of(&self, id: &str) -> Option<usize> {
        self.shown.iter().position(|at| self.rows[*at].listed.id == id)
    }

    fn arrange(&mut self) {
        let words: Vec<String> =
            self.filter.value().split_whitespace().map(str::to_lowercase).collect();
        let rows = &self.rows;
        let passes = |at: &usize| words.iter().all(|word| rows[*at].text.contains(word.as_str()));
        self.shown = (0..rows.len()).filter(passes).collect();
        let listed = |at: &usize| &rows[*at].listed;
        // Stable: the newest first among equals.
        match self.sort {
            Sort::When => {}
            Sort::Name => self
                .shown
                .sort_by_cached_key(|at| session_name::of_listed(listed(at)).to_lowercase()),
            Sort::Target => self.shown.sort_by(|a, b| listed(a).target.cmp(&listed(b).target)),
            Sort::Cells => self.shown.sort_by_key(|at| Reverse(listed(at).cells)),
            Sort::Best => self.shown.sort_by(|a, b| {
                listed(b).best.unwrap_or(0.0).total_cmp(&listed(a).best.unwrap_or(0.0))
            }),
            Sort::Verdict => self.shown.sort_by_key(|at| Reverse(grave(listed(at).verdict))),
            Sort::State => self.shown.sort_by_key(|at| listed(at).state.name()),
        }
    }
}

impl Row {
    fn of(listed: Listed) -> Row {
        let verdict = listed.verdict.map_or("", Worst::name);
        let text = [listed.id.as_str(), &listed.name, &listed.target, listed.state.name(), verdict]
            .join(" ")
            .to_lowercase();
        Row { listed, text }
    }
}

/// `17/54`, or the cells of the plan where all were measured.
pub fn cells(listed: &Listed) -> String {
    match listed.measured {
        _ if listed.state == State::Unreadable => String::new(),
        Some(measured) if measured < listed.cells => format!("{measured}/{}", listed.cells),
        _ => listed.cells.to_string(),
    }
}
