//! The columns of the list and how they shrink on a narrow screen.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::record::Severity;
use crate::session::{Listed, State, Worst};
use crate::text::time::to_minute;
use crate::tui::session_name;
use crate::tui::sessions::state::{Sessions, Sort, cells};
use crate::tui::theme::{Look, Role};
use crate::tui::view::{findings, pane};

/// Columns for mark and border of a row.
const MARK_COLUMNS: usize = 3;
const GAP: usize = 2;
/// `12.3 GiB/s`.
const BEST: usize = 10;

/// Widths; 0: not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    pub name: usize,
    pub target: usize,
    pub when: usize,
    pub cells: usize,
    pub best: usize,
    pub verdict: usize,
    pub state: usize,
}

impl Columns {
    /// Returns those that a list of this width has room for, where the longest name and target are
    /// so long: words become signs first, then columns go.
    pub fn fit(width: usize, (longest, targets): (usize, usize)) -> Columns {
        let (longest, targets) = (longest.max(8), targets.max(10));
        let cells = if width >= 50 { 6 } else { 0 };
        let rest = |words: &(usize, usize, usize, usize)| {
            let fixed = [words.0, words.1, words.2, words.3, cells]
                .iter()
                .filter(|width| **width > 0)
                .map(|width| width + GAP)
                .sum::<usize>();
            width.saturating_sub(MARK_COLUMNS + fixed + 1)
        };
        // The widest words that leave the names complete, and the part of the targets that
        // distinguishes them.
        // The preview shows the best too.
        let words = [(16, 12, 11, BEST), (11, 12, 11, BEST), (11, 1, 11, BEST), (11, 1, 11, 0)];
        let enough = longest.min(24) + GAP + targets.min(18);
        let least = (11, 1, 0, if width >= 70 { BEST } else { 0 });
        let (when, verdict, state, best) =
            words.into_iter().find(|words| rest(words) >= enough).unwrap_or(least);
        let rest = rest(&(when, verdict, state, best));
        if rest < 20 {
            return Columns { name: rest, target: 0, when, cells, best, verdict, state };
        }
        let name = longest.min((rest / 2).max(rest.saturating_sub(GAP + targets)));
        Columns { name, target: targets.min(rest - name - GAP), when, cells, best, verdict, state }
    }

    /// Draws the titles, with an arrow at the sort key.
    pub fn head(&self, look: &Look, sorted: Sort) -> Line<'static> {
        let arrow = look.glyph("▾", "v");
        let mut parts = vec![Span::raw(" ".repeat(MARK_COLUMNS))];
        for (sort, width, right) in [
            (Sort::Name, self.name, false),
            (Sort::Target, self.target, false),
            (Sort::When, self.when, false),
            (Sort::Cells, self.cells, true),
            (Sort::Best, self.best, true),
            (Sort::Verdict, self.verdict, false),
            (Sort::State, self.state, false),
        ] {
            let own = sort == sorted;
            let title = match (width, own) {
                (0, _) => continue,
                (1, true) => arrow.to_string(),
                (1, false) => String::new(),
                (_, true) => format!("{}{arrow}", sort.title()),
                (_, false) => sort.title().to_string(),
            };
            let style = look.style(if own { Role::Focus } else { Role::Dim });
            parts.push(cell(&pane::fit(&title, width), width, right, style));
        }
        Line::from(parts)
    }

    /// Returns a session.
    pub fn row(&self, look: &Look, listed: &Listed, sessions: &Sessions) -> Line<'static> {
        let unreadable = listed.state == State::Unreadable;
        let mark = match sessions.mark_of(&listed.id) {
            Some(at) => Span::styled(format!(" {} ", look.ordinal(at)), look.series(at)),
            None => Span::raw("   "),
        };
        let name_style =
            look.style(if unreadable || listed.name.is_empty() { Role::Dim } else { Role::Title });
        let name = pane::fit(session_name::of_listed(listed), self.name);
        let mut parts = vec![mark, cell(&name, self.name, false, name_style)];
        if self.target > 0 {
            parts.push(self.target_cell(look, listed));
        }
        parts.push(cell(
            &short_when(&listed.created, self.when),
            self.when,
            false,
            look.style(Role::Dim),
        ));
        if self.cells > 0 {
            parts.push(cell(&cells(listed), self.cells, true, look.style(Role::Number)));
        }
        if self.best > 0 {
            parts.extend(best(look, listed, self.best));
        }
        let (badge, role) = match (self.state, listed.state) {
            // Without its own column, the state shows here if it is not a good one.
            (0, State::Interrupted) => (look.glyph("…", "~").into(), Role::Misleading),
            (0, State::Failed | State::Unreadable) => {
                (findings::severity(look, Severity::Wrong).1.into(), Role::Wrong)
            }
            _ => verdict(look, listed.verdict, self.verdict > 1),
        };
        parts.push(cell(&badge, self.verdict, false, look.style(role)));
        if self.state > 0 {
            parts.push(cell(
                listed.state.name(),
                self.state,
                false,
                look.style(state(listed.state)),
            ));
        }
        Line::from(parts)
    }

    /// Returns the target of a session; that it cannot be read where it cannot.
    fn target_cell(&self, look: &Look, listed: &Listed) -> Span<'static> {
        let unreadable = if self.target < 14 { "unreadable" } else { "cannot be read" };
        let (shown, role) = if listed.state == State::Unreadable {
            (unreadable, Role::Wrong)
        } else {
            (listed.target.as_str(), Role::Text)
        };
        // A path keeps the name of its file, anything else its start.
        let shown = if shown.contains('/') {
            pane::fit_front(shown, self.target)
        } else {
            pane::fit(shown, self.target)
        };
        cell(&shown, self.target, false, look.style(role))
    }
}

/// Draws the peak with its unit dimmed.
fn best(look: &Look, listed: &Listed, width: usize) -> [Span<'static>; 2] {
    let text = listed.best.map_or("-".into(), |rate| look.unit.show(rate));
    let (figure, unit) = text.split_once(' ').unwrap_or((&text, ""));
    // Units are aligned whatever their length.
    let unit = format!("{unit:<5}");
    let (number, dim) = (look.style(Role::Number), look.style(Role::Dim));
    let figure = pane::fit(figure, width.saturating_sub(6));
    [
        Span::styled(format!("{figure:>0$} ", width.saturating_sub(6)), number),
        Span::styled(format!("{unit}{}", " ".repeat(GAP)), dim),
    ]
}

/// Formats a time; the year is dropped first.
fn short_when(created: &str, width: usize) -> String {
    let all = to_minute(created);
    let short = if width < 16 { all.get(5..).unwrap_or(&all) } else { &all };
    pane::fit(short, width)
}

fn cell(text: &str, width: usize, right: bool, style: Style) -> Span<'static> {
    let pad = " ".repeat(width.saturating_sub(pane::width(text)));
    let gap = " ".repeat(GAP);
    Span::styled(
        if right { format!("{pad}{text}{gap}") } else { format!("{text}{pad}{gap}") },
        style,
    )
}

/// Returns the sign of the most severe warning, with its name if `word`.
pub fn verdict(look: &Look, worst: Option<Worst>, word: bool) -> (String, Role) {
    let (role, sign) = match worst {
        None => return (if word { "-".into() } else { String::new() }, Role::Dim),
        Some(Worst::Ok) => (Role::Good, look.glyph("✓", "*")),
        Some(Worst::Note) => findings::severity(look, Severity::Note),
        Some(Worst::Misleading) => findings::severity(look, Severity::Misleading),
        Some(Worst::Wrong) => findings::severity(look, Severity::Wrong),
    };
    match worst {
        Some(worst) if word => (format!("{sign} {}", worst.name()), role),
        _ => (sign.to_string(), role),
    }
}

pub fn state(state: State) -> Role {
    match state {
        State::Finished | State::Budget | State::Goal | State::Reference => Role::Dim,
        State::Interrupted => Role::Misleading,
        State::Failed | State::Unreadable => Role::Wrong,
    }
}
