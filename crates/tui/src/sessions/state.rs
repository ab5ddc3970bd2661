//! The list of sessions: filter, order, cursor and marks.

use std::cmp::Reverse;
use std::collections::HashMap;

use tui_input::Input;

use crate::session::{Listed, State, Worst};
use crate::session_view::{self, Preview};
use crate::units;

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
    pub const ALL: &'static [Sort] = &[
        Sort::When,
        Sort::Name,
        Sort::Target,
        Sort::Cells,
        Sort::Best,
        Sort::Verdict,
        Sort::State,
    ];
}

/// A session with the text that the filter searches.
#[derive(Debug)]
struct Row {
    listed: Listed,
    text: String,
    /// The id of the run before it of the same kind.
    before: Option<String>,
}

#[derive(Debug, Default)]
pub struct Sessions {
    /// As listed: the newest first.
    rows: Vec<Row>,
    /// Indexes into `rows` of the sessions that match the filter, sorted; `None` is the heading of
    /// the published machines, which come last.
    shown: Vec<Option<usize>>,
    /// Index into `shown`.
    pub cursor: usize,
    /// The published machines are listed even if there are own sessions and no filter.
    pub unfolded: bool,
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
    /// How sessions compare with the runs before them.
    pub changes: Changes,
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

    /// Returns the listed sessions.
    pub fn listed(&self) -> impl Iterator<Item = &Listed> {
        self.shown.iter().flatten().map(|at| &self.rows[*at].listed)
    }

    /// Returns the session of a line, with its ratio to the run before it, where that is a
    /// difference; `None` for the heading.
    pub fn line(&self, line: usize) -> Option<(&Listed, Option<f64>)> {
        let row = &self.rows[(*self.shown.get(line)?)?];
        let ratio = |before| self.changes.ratio(&row.listed.id, before);
        Some((&row.listed, row.before.as_deref().and_then(ratio)))
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.shown.len()
    }

    /// Returns the session under the cursor.
    pub fn current(&self) -> Option<&Listed> {
        self.line(self.cursor).map(|(listed, _)| listed)
    }

    /// Returns the number of published machines.
    pub fn references(&self) -> usize {
        (0..self.rows.len()).filter(|row| self.is_reference(*row)).count()
    }

    /// Returns whether the published machines are listed below their heading.
    pub fn shows_references(&self) -> bool {
        matches!(self.shown.last(), Some(Some(at)) if self.is_reference(*at))
    }

    fn is_reference(&self, row: usize) -> bool {
        self.rows[row].listed.state == State::Reference
    }

    /// Shows or hides the published machines.
    pub fn fold(&mut self) {
        self.unfolded = !self.unfolded;
        self.arrange();
    }

    pub fn get(&self, id: &str) -> Option<&Listed> {
        self.rows.iter().map(|row| &row.listed).find(|listed| listed.id == id)
    }

    /// Returns the marked sessions, the oldest first: that is A.
    pub fn marked(&self) -> Vec<String> {
        self.oldest_first(self.marks.clone())
    }

    /// Sorts ids by age; ids that are not listed yet are the newest.
    pub fn oldest_first(&self, mut ids: Vec<String>) -> Vec<String> {
        if ids.len() > 1 {
            ids.sort_by_cached_key(|id| {
                let listed = self.get(id);
                let age = listed.map(|listed| (listed.created.clone(), listed.nanos));
                (age.is_none(), age, id.clone())
            });
        }
        ids
    }

    /// Returns the ratio of the session under the cursor to the run before it.
    pub fn current_change(&self) -> Option<f64> {
        self.line(self.cursor)?.1
    }

    /// Chooses a visible session and the run before it to compare next.
    pub fn ask_change(&mut self, first: usize, rows: usize) -> Option<(String, String)> {
        let visible = self.shown.iter().skip(first).take(rows).flatten();
        let visible = visible.map(|at| &self.rows[*at]);
        let pairs =
            visible.filter_map(|row| Some((row.listed.id.as_str(), row.before.as_deref()?)));
        self.changes.ask(pairs)
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
        let before = runs_before(&all);
        let rows = all.into_iter().zip(before);
        self.rows = rows.map(|(listed, before)| Row::new(listed, before)).collect();
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
            self.unfolded |= self.get(id).is_some_and(|own| own.state == State::Reference);
            self.arrange();
        }
        self.cursor = self.row_of(id).unwrap_or(self.cursor);
    }

    fn row_of(&self, id: &str) -> Option<usize> {
        self.shown.iter().position(|at| at.is_some_and(|at| self.rows[at].listed.id == id))
    }

    fn arrange(&mut self) {
        let words: Vec<String> =
            self.filter.value().split_whitespace().map(str::to_lowercase).collect();
        let rows = &self.rows;
        let passes = |at: &usize| words.iter().all(|word| rows[*at].text.contains(word.as_str()));
        let mut shown: Vec<usize> = (0..rows.len()).filter(passes).collect();
        let listed = |at: &usize| &rows[*at].listed;
        // Stable: the newest first among equals.
        match self.sort {
            Sort::When => {}
            Sort::Name => {
                shown.sort_by_cached_key(|at| session_view::listed_name(listed(at)).to_lowercase())
            }
            Sort::Target => shown.sort_by(|a, b| listed(a).target.cmp(&listed(b).target)),
            Sort::Cells => shown.sort_by_key(|at| Reverse(listed(at).cells)),
            Sort::Best => shown.sort_by(|a, b| {
                listed(b).best.unwrap_or(0.0).total_cmp(&listed(a).best.unwrap_or(0.0))
            }),
            Sort::Verdict => shown.sort_by_key(|at| Reverse(severity_rank(listed(at).verdict))),
            Sort::State => shown.sort_by_key(|at| listed(at).state.name()),
        }
        let is_own = |at: &usize| !self.is_reference(*at);
        let (own, published): (Vec<usize>, Vec<usize>) = shown.into_iter().partition(is_own);
        // A text that is looked for is found wherever it is.
        let shows = self.unfolded || !words.is_empty() || own.is_empty();
        self.shown = own.into_iter().map(Some).collect();
        if !published.is_empty() {
            self.shown.push(None);
            self.shown.extend(published.into_iter().filter(|_| shows).map(Some));
        }
    }
}

impl Row {
    fn new(listed: Listed, before: Option<String>) -> Row {
        let verdict = listed.verdict.map_or("", Worst::name);
        let words = [&listed.id, &listed.name, &listed.label, &listed.target].map(String::as_str);
        let text = [&words[..], &[listed.state.name(), verdict]].concat().join(" ");
        Row { text: text.to_lowercase(), listed, before }
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

/// Returns the noun behind that number.
pub fn cells_noun(listed: &Listed) -> &'static str {
    units::verb(listed.cells as usize, "cell", "cells")
}

/// The known comparisons.
#[derive(Debug, Default)]
pub struct Changes {
    /// By the ids of a session and of the run before it.
    known: HashMap<(String, String), Option<f64>>,
    /// The comparison in progress.
    asked: Option<(String, String)>,
}

impl Changes {
    /// Returns the ratio of the throughput of a session to that of the run before it; `None` where
    /// it is unknown or there is no difference.
    pub fn ratio(&self, id: &str, before: &str) -> Option<f64> {
        self.known.get(&(id.to_string(), before.to_string())).copied().flatten()
    }

    /// Chooses the next pair to compare; `None` while one is being compared.
    pub fn ask<'a>(
        &mut self,
        mut pairs: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Option<(String, String)> {
        if self.asked.is_some() {
            return None;
        }
        self.asked = pairs.find_map(|(id, before)| {
            let pair = (id.to_string(), before.to_string());
            (!self.known.contains_key(&pair)).then_some(pair)
        });
        self.asked.clone()
    }

    pub fn take(&mut self, id: String, before: String, ratio: Option<f64>) {
        self.asked = None;
        self.known.insert((id, before), ratio);
    }
}

/// Returns, for each session of a list with the newest first, the id of the run before it of the
/// same kind on the same target, with as many cells.
pub fn runs_before(all: &[Listed]) -> Vec<Option<String>> {
    let mut last: HashMap<(&str, &str, u64), &str> = HashMap::new();
    let mut before: Vec<Option<String>> = all
        .iter()
        .rev()
        .map(|listed| {
            let has_result = listed.measured.is_some_and(|measured| measured > 0);
            if listed.state == State::Reference || !has_result {
                return None;
            }
            let kind = (&*listed.target, &*listed.label, listed.cells);
            last.insert(kind, &listed.id).map(String::from)
        })
        .collect();
    before.reverse();
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::tests::four;

    #[test]
    fn run_before_has_same_target_label() {
        let mut all = four();
        for at in [0, 2, 3] {
            (all[at].target, all[at].label) = ("/a/one.bin".into(), "one.bin · read".into());
            all[at].cells = 3;
        }
        let ids: Vec<String> = all.iter().map(|one| one.id.clone()).collect();
        assert_eq!(runs_before(&all), [Some(ids[2].clone()), None, Some(ids[3].clone()), None]);
        all[2].cells = 6;
        assert_eq!(runs_before(&all), [Some(ids[3].clone()), None, None, None]);
        all[2].cells = 3;
        all[2].measured = Some(0);
        assert_eq!(runs_before(&all)[0], Some(ids[3].clone()));
    }

    #[test]
    fn each_session_is_compared_once() {
        let mut changes = Changes::default();
        let pairs = [("b", "a"), ("c", "b")];
        assert_eq!(changes.ask(pairs.into_iter()), Some(("b".into(), "a".into())));
        assert_eq!(changes.ask(pairs.into_iter()), None);
        changes.take("b".into(), "a".into(), Some(0.5));
        assert_eq!(changes.ratio("b", "a"), Some(0.5));
        assert_eq!(changes.ask(pairs.into_iter()), Some(("c".into(), "b".into())));
        changes.take("c".into(), "b".into(), None);
        assert_eq!((changes.ask(pairs.into_iter()), changes.ratio("c", "b")), (None, None));
    }
}
