//! The list of sessions: filter, order, cursor and marks.

use std::cmp::Reverse;

use tui_input::Input;

use crate::session::{Listed, State, Worst};
use crate::tui::session_name;
use crate::tui::session_view::Preview;
use crate::tui::view::pane;

/// The sort key of the list.
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
    /// The most severe first.
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

/// A session with the text that the filter searches.
#[derive(Debug)]
struct Row {
    listed: Listed,
    text: String,
}

#[derive(Debug, Default)]
pub struct Sessions {
    /// As listed: the newest first.
    rows: Vec<Row>,
    /// Indexes into `rows` of the sessions that match the filter, sorted.
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
    /// The session just imported: the cursor moves to it once it is listed.
    pub wanted: Option<String>,
    /// Whether the folder could be read; `None` until then.
    pub read: Option<Result<(), String>>,
}

fn severity_rank(verdict: Option<Worst>) -> u8 {
    match verdict {
        None => 0,
        Some(Worst::Ok) => 1,
        Some(Worst::Note) => 2,
        Some(Worst::Misleading) => 3,
        Some(Worst::Wrong) => 4,
    }
}

impl Sessions {
    /// Returns the number of sessions, filtered out or not.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the listed sessions, starting at a row.
    pub fn from(&self, first: usize) -> impl Iterator<Item = &Listed> {
        self.shown.iter().skip(first).map(|at| &self.rows[*at].listed)
    }

    /// Returns the columns of the longest name and of the longest target.
    pub fn longest(&self) -> (usize, usize) {
        self.from(0).take(1000).fold((0, 0), |(name, target), listed| {
            (
                name.max(pane::width(session_name::of_listed(listed))),
                target.max(pane::width(&listed.target)),
            )
        })
    }

    /// Returns the number of sessions that match the filter.
    pub fn matching(&self) -> usize {
        self.shown.len()
    }

    /// Returns the session under the cursor.
    pub fn current(&self) -> Option<&Listed> {
        self.from(self.cursor).next()
    }

    pub fn get(&self, id: &str) -> Option<&Listed> {
        self.rows.iter().map(|row| &row.listed).find(|listed| listed.id == id)
    }

    /// Returns the index among the marks.
    pub fn mark_of(&self, id: &str) -> Option<usize> {
        self.marks.iter().position(|own| own == id)
    }

    /// Replaces the list; the cursor stays on its session, or on its row if that was deleted.
    pub fn take(&mut self, all: Vec<Listed>) {
        let here = self.current().map(|listed| listed.id.clone());
        // A session that changed on disk is loaded again.
        let changed = |preview: &Preview| {
            all.iter().find(|own| own.id == preview.id) != self.get(&preview.id)
        };
        if self.preview.as_ref().is_some_and(changed) {
            self.preview = None;
        }
        self.rows = all.into_iter().map(Row::new).collect();
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

    /// Applies filter and order; the cursor stays on its session, or goes to the first.
    pub fn again(&mut self) {
        let here = self.current().map(|listed| listed.id.clone());
        self.arrange();
        self.cursor = here.and_then(|id| self.row_of(&id)).unwrap_or(0);
    }

    /// Moves the cursor to a session; clears the filter if it hides the session.
    pub fn go_to(&mut self, id: &str) {
        if self.get(id).is_some() && self.row_of(id).is_none() {
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
            Sort::Verdict => {
                self.shown.sort_by_key(|at| Reverse(severity_rank(listed(at).verdict)))
            }
            Sort::State => self.shown.sort_by_key(|at| listed(at).state.name()),
        }
    }
}

impl Row {
    fn new(listed: Listed) -> Row {
        let verdict = listed.verdict.map_or("", Worst::name);
        let text = [listed.id.as_str(), &listed.name, &listed.target, listed.state.name(), verdict]
            .join(" ")
            .to_lowercase();
        Row { listed, text }
    }
}

/// Formats the number of cells: `17/54`, or only the total if all were measured.
pub fn cells(listed: &Listed) -> String {
    match listed.measured {
        _ if listed.state == State::Unreadable => String::new(),
        Some(measured) if measured < listed.cells => format!("{measured}/{}", listed.cells),
        _ => listed.cells.to_string(),
    }
}
