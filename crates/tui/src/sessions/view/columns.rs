//! The columns of the list and how they shrink on a narrow screen.

use std::time::SystemTime;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::analysis::{letter, times};
use crate::plot::sparkline;
use crate::record::Severity;
use crate::session::{Listed, State, Worst};
use crate::session_view;
use crate::sessions::state::{Sort, cells};
use crate::text::time;
use crate::theme::{Look, Role};
use crate::view::{findings, pane};

/// Columns for the letter of a marked session.
const MARK_COLUMNS: usize = 3;
const GAP: usize = 2;
/// `12 min ago`, `2026-11-21`.
const AGE: usize = 10;
/// `17/54`.
const CELLS: usize = 6;
/// `12.3 GiB/s`.
const BEST: usize = 10;
/// `-12 %`.
const CHANGE: usize = 6;
/// `! 2 of 16`, `! misleading`.
const VERDICT: usize = 12;
/// A name that is worth as much as any other column.
const NAME: usize = 20;
const MAX_NAME: usize = 36;
const MIN_TARGET: usize = 14;

/// Context that rows need to show their sessions.
pub struct Shown<'a> {
    pub look: &'a Look,
    /// The marked sessions, in the order of their letters.
    pub marked: Vec<String>,
    pub now: Option<SystemTime>,
}

/// Widths; 0: not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    pub name: usize,
    pub target: usize,
    pub cells: usize,
    pub curve: usize,
    pub verdict: usize,
    pub state: usize,
}

impl Columns {
    /// Returns the columns that fit in a list of this width: by the width alone, so that the names
    /// do not change them.
    pub fn fit(width: usize) -> Columns {
        let curve = Columns { name: 0, target: 0, cells: 0, curve: 8, verdict: 1, state: 0 };
        let cells = Columns { cells: CELLS, ..curve };
        let state = Columns { curve: MAX_CURVE, state: 11, ..cells };
        let verdict = Columns { verdict: VERDICT, ..state };
        let rest = |columns: &Columns| width.saturating_sub(MARK_COLUMNS + columns.fixed());
        let fits = [verdict, state, cells]
            .into_iter()
            .find(|columns| rest(columns) >= NAME)
            .unwrap_or(curve);
        let rest = rest(&fits).saturating_sub(GAP);
        let target = rest.saturating_sub(MAX_NAME.min(rest) + GAP);
        let target = if target >= MIN_TARGET { target } else { 0 };
        let name = if target > 0 { MAX_NAME } else { rest };
        Columns { name, target, ..fits }
    }

    /// Returns the width of all columns except names and targets, with their gaps.
    fn fixed(&self) -> usize {
        [AGE, self.cells, self.curve, BEST, CHANGE, self.verdict, self.state]
            .iter()
            .filter(|width| **width > 0)
            .map(|width| width + GAP)
            .sum()
    }

    /// Returns the first column of the curves, and their width.
    pub fn curve_place(&self) -> (u16, u16) {
        let before = [self.name, self.target, AGE, self.cells];
        let used = before.iter().filter(|width| **width > 0).map(|width| width + GAP);
        ((MARK_COLUMNS + used.sum::<usize>()) as u16, self.curve as u16)
    }

    /// Draws the titles, with an arrow at the sort key.
    pub fn head(&self, look: &Look, sorted: Sort) -> Line<'static> {
        // A letter would be part of the title.
        let arrow = look.glyph("▼", "*");
        let mut parts = vec![Span::raw(" ".repeat(MARK_COLUMNS))];
        for (sort, title, width, right) in [
            (Some(Sort::Name), "name", self.name, false),
            (Some(Sort::Target), "target", self.target, false),
            (Some(Sort::When), "age", AGE, false),
            (Some(Sort::Cells), "cells", self.cells, true),
            (None, "curve", self.curve, false),
            (Some(Sort::Best), "best", BEST, true),
            (None, "change", CHANGE, true),
            (Some(Sort::Verdict), "verdict", self.verdict, false),
            (Some(Sort::State), "state", self.state, false),
        ] {
            let own = sort == Some(sorted);
            let title = match (width, own) {
                (0, _) => continue,
                (1, true) => arrow.to_string(),
                (1, false) => String::new(),
                (_, true) => format!("{title}{arrow}"),
                (_, false) => title.to_string(),
            };
            let style = look.style(if own { Role::Focus } else { Role::Dim });
            parts.push(cell(&pane::fit(&title, width), width, right, style));
        }
        Line::from(parts)
    }

    /// Returns a session.
    pub fn row(&self, shown: &Shown, (listed, ratio): (&Listed, Option<f64>)) -> Line<'static> {
        let look = shown.look;
        let unreadable = listed.state == State::Unreadable;
        let mark = match shown.marked.iter().position(|id| *id == listed.id) {
            Some(at) => look.span(Role::Title, format!(" {} ", letter(at))),
            None => Span::raw(" ".repeat(MARK_COLUMNS)),
        };
        let named = !unreadable && !listed.name.is_empty();
        let name_style = look.style(if named { Role::Title } else { Role::Text });
        let name = pane::fit(&name(listed), self.name);
        let mut parts = vec![mark, cell(&name, self.name, false, name_style)];
        if self.target > 0 {
            parts.push(target(look, listed, self.target));
        }
        let age = pane::fit(&age(listed, shown.now), AGE);
        parts.push(cell(&age, AGE, false, look.style(Role::Dim)));
        if self.cells > 0 {
            parts.push(cell(&cells(listed), self.cells, true, look.style(Role::Number)));
        }
        let curve = draw_curve(look, &listed.curve, self.curve);
        parts.push(cell(&curve, self.curve, false, look.style(Role::Text)));
        parts.extend(best(look, listed));
        let (text, role) = change(ratio);
        parts.push(cell(&text, CHANGE, true, look.style(role)));
        parts.extend(self.end(look, listed));
        Line::from(parts)
    }

    /// Returns verdict and state.
    fn end(&self, look: &Look, listed: &Listed) -> Vec<Span<'static>> {
        let (badge, role) = match (self.state, listed.state) {
            // Without its own column, the state shows here if it is not a good one.
            (0, State::Running) => (look.glyph("►", ">").into(), Role::Text),
            (0, State::Interrupted) => (look.glyph("…", "~").into(), Role::Misleading),
            (0, State::Failed | State::Unreadable) => {
                (findings::severity(look, Severity::Wrong).1.into(), Role::Wrong)
            }
            _ => verdict(look, listed, self.verdict > 1),
        };
        let mut parts = vec![cell(&badge, self.verdict, false, look.style(role))];
        if self.state > 0 {
            let role = look.style(state(listed.state));
            parts.push(cell(listed.state.name(), self.state, false, role));
        }
        parts
    }
}

/// Returns the name of a session, or of a file that cannot be read as one.
pub fn name(listed: &Listed) -> String {
    if listed.state == State::Unreadable {
        return format!("unreadable: {}", listed.id);
    }
    session_view::listed_name(listed).into()
}

/// Returns the age of a session, or its day if the time is unknown.
fn age(listed: &Listed, now: Option<SystemTime>) -> String {
    now.map_or_else(
        || time::to_day(&listed.created).to_string(),
        |now| time::age(&listed.created, now),
    )
}

/// Describes a ratio to the run before: `-12 %`, `2.40x`; empty without a difference.
pub fn change(ratio: Option<f64>) -> (String, Role) {
    let Some(ratio) = ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0) else {
        return (String::new(), Role::Dim);
    };
    let percent = (ratio * 100.0).round() as i64 - 100;
    if percent == 0 {
        return ("0 %".into(), Role::Dim);
    }
    let role = if ratio > 1.0 { Role::Good } else { Role::Misleading };
    let text = if (0.5..2.0).contains(&ratio) {
        format!("{percent:+} %")
    } else {
        format!("{}x", times(ratio))
    };
    (text, role)
}

/// Returns the target of a session. A path keeps the name of its file, anything else its start.
fn target(look: &Look, listed: &Listed, width: usize) -> Span<'static> {
    let target = listed.target.as_str();
    let shown = if target.contains('/') {
        pane::fit_front(target, width)
    } else {
        pane::fit(target, width)
    };
    cell(&shown, width, false, look.style(Role::Dim))
}

/// Draws the peak with its unit dimmed.
fn best(look: &Look, listed: &Listed) -> [Span<'static>; 2] {
    let text = listed.best.map_or("-".into(), |rate| look.unit.show(rate));
    let (figure, unit) = text.split_once(' ').unwrap_or((&text, ""));
    // Units are aligned whatever their length.
    let unit = format!("{unit:<5}");
    let (number, dim) = (look.style(Role::Number), look.style(Role::Dim));
    let figure = pane::fit(figure, BEST - 6);
    [
        Span::styled(format!("{figure:>0$} ", BEST - 6), number),
        Span::styled(format!("{unit}{}", " ".repeat(GAP)), dim),
    ]
}

fn cell(text: &str, width: usize, right: bool, style: Style) -> Span<'static> {
    pane::cell(text, width, right, GAP, style)
}

/// Returns the sign of the most severe warning; if `word` with the number of its cells, or its name
/// where that is not known.
pub fn verdict(look: &Look, listed: &Listed, word: bool) -> (String, Role) {
    let worst = listed.verdict;
    let (role, sign) = match worst {
        None => return (if word { "-".into() } else { String::new() }, Role::Dim),
        Some(Worst::Ok) => (Role::Good, look.glyph("√", "*")),
        Some(Worst::Note) => findings::severity(look, Severity::Note),
        // The list does not know whether a headline figure is among these.
        Some(Worst::Misleading) => (Role::Dim, findings::severity(look, Severity::Misleading).1),
        Some(Worst::Wrong) => findings::severity(look, Severity::Wrong),
    };
    match worst {
        Some(worst) if word => {
            let known = listed.worst_cells.map(|some| format!("{some} of {}", listed.cells));
            let said = known.filter(|said| said.len() + 2 <= VERDICT);
            (format!("{sign} {}", said.unwrap_or(worst.name().into())), role)
        }
        _ => (sign.to_string(), role),
    }
}

pub fn state(state: State) -> Role {
    match state {
        State::Finished | State::Budget | State::Goal | State::Reference => Role::Dim,
        State::Running => Role::Text,
        State::Interrupted => Role::Misleading,
        State::Failed | State::Unreadable => Role::Wrong,
    }
}

/// The most values of a curve.
pub const MAX_CURVE: usize = 12;

/// Values that differ by less than this share of the largest are alike: their curve is flat.
const FLAT: f64 = 0.1;

/// Draws values from the smallest to the largest, or from 0 where they are alike; of more than
/// there is room for, both ends and those evenly between.
pub fn draw_curve(look: &Look, values: &[u64], width: usize) -> String {
    let highest = values.iter().copied().max().unwrap_or(0);
    let shown = values.len().min(width).min(MAX_CURVE);
    if shown < 2 || highest == 0 {
        return String::new();
    }
    let (lowest, highest) = (values.iter().copied().min().unwrap_or(0) as f64, highest as f64);
    let lowest = if highest - lowest < FLAT * highest { 0.0 } else { lowest };
    let shown = (0..shown).map(|at| values[at * (values.len() - 1) / (shown - 1)] as f64);
    sparkline(look, shown, (lowest, highest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Glyphs;

    #[test]
    fn columns_fill_width_regardless_of_names() {
        for width in 70..200 {
            let columns = Columns::fit(width);
            let target = if columns.target > 0 { columns.target + GAP } else { 0 };
            let all = MARK_COLUMNS + columns.name + GAP + target + columns.fixed();
            assert!(all <= width, "{width}: {columns:?}");
            assert!(columns.name >= NAME - GAP, "{width}: {columns:?}");
        }
    }

    #[test]
    fn ascii_arrow_differs_from_title_letters() {
        let look = Look { glyphs: Glyphs::Ascii, ..Look::default() };
        for (sort, title) in
            [(Sort::When, "age*"), (Sort::Cells, "cells*"), (Sort::Verdict, "verdict*")]
        {
            let head = Columns::fit(160).head(&look, sort).to_string();
            assert!(head.contains(title), "{head}");
        }
    }

    #[test]
    fn changes_are_shares_or_factors() {
        for (ratio, expected) in [
            (None, ""),
            (Some(0.88), "-12 %"),
            (Some(1.31), "+31 %"),
            (Some(2.4), "2.40x"),
            (Some(0.25), "0.25x"),
            (Some(0.998), "0 %"),
            (Some(1.002), "0 %"),
            (Some(f64::NAN), ""),
        ] {
            assert_eq!(change(ratio).0, expected);
        }
    }

    #[test]
    fn highest_is_full_and_ends_stay() {
        let look = Look::default();
        assert_eq!(draw_curve(&look, &[1, 4, 8], 8), "▁▄█");
        assert_eq!(draw_curve(&look, &[8, 1, 1, 1, 1, 4], 3), "█▁▄");
        for (values, width) in [(vec![], 8), (vec![5], 8), (vec![0, 0], 8), (vec![1, 2], 0)] {
            assert_eq!(draw_curve(&look, &values, width), "");
        }
        let ascii = Look { glyphs: Glyphs::Ascii, ..Look::default() };
        assert_eq!(draw_curve(&ascii, &[1, 4, 8], 8), "_-#");
        assert_eq!(draw_curve(&look, &[u64::MAX, 1], 8), "█▁");
        // Its shape is seen wherever it begins, and what is alike has none.
        assert_eq!(draw_curve(&look, &[1000, 1200, 1400], 8), "▁▄█");
        assert_eq!(draw_curve(&look, &[97, 100, 98], 8), "███");
    }
}
