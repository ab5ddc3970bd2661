//! The table of cells: both medians, their ratio with its interval around 1, and what that means.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::analysis::{Outcome, Pair, Versus};
use crate::compare::data::{Row, Sheet};
use crate::plan::Job;
use crate::report::table::grid::Column;
use crate::report::{
    INTERVAL_RANK, RatioScale, describe_beside, describe_unjudged, describe_unmatched,
};
use crate::spoken::speak;
use crate::theme::{Look, Role};
use crate::view::pane;

/// The columns that fit a width.
pub struct Table<'a> {
    columns: Vec<(&'a Column, usize)>,
    gap: usize,
    scale: RatioScale,
}

/// The widest bar: a wider one shows no more.
const MAX_BAR: usize = 61;

impl<'a> Table<'a> {
    /// Chooses the columns; the bars get what they leave.
    pub fn fit(sheet: &'a Sheet, versus: &Versus, width: usize) -> Table<'a> {
        let (columns, gap) = sheet.fit(width);
        let total: usize = columns.iter().map(|(_, width)| width + gap).sum();
        let mut columns: Vec<(&Column, usize)> =
            columns.into_iter().map(|(column, width)| (column, *width)).collect();
        let bar = columns.iter_mut().find(|(column, _)| column.rank == INTERVAL_RANK);
        let narrow = bar.as_ref().map_or(0, |(_, width)| *width);
        let room = (narrow + (width + gap).saturating_sub(total)).min(MAX_BAR);
        let scale = RatioScale::with_width(versus.cells.iter().map(|pair| pair.ratio), room);
        if let Some((_, width)) = bar {
            *width = scale.width();
        }
        Table { columns, gap, scale }
    }

    /// Draws the titles and units.
    pub fn head(&self, look: &Look) -> [Line<'static>; 2] {
        let title = self.scale.title();
        let unit = |column: &'a Column| {
            if column.rank == INTERVAL_RANK { title.clone() } else { column.unit.clone() }
        };
        let line = |text: &dyn Fn(&'a Column) -> String, role: Role| {
            let parts = self
                .columns
                .iter()
                .map(|(column, width)| self.cell(column, *width, &text(column), look.style(role)));
            Line::from_iter(std::iter::once(Span::raw(" ")).chain(parts))
        };
        [line(&|column| column.title.clone(), Role::Text), line(&unit, Role::Dim)]
    }

    fn cell(&self, column: &Column, width: usize, text: &str, style: Style) -> Span<'static> {
        pane::cell(text, width, column.right, self.gap, style)
    }

    /// Draws a row; ratio, bar and verdict have the colour of the outcome.
    pub fn row(&self, look: &Look, row: usize, pair: &Pair) -> Line<'static> {
        let outcome = look.style(role(pair.outcome));
        let mut parts = vec![Span::raw(" ")];
        for (at, (column, width)) in self.columns.iter().enumerate() {
            let text: String = column
                .cells
                .get(row)
                .into_iter()
                .flatten()
                .map(|(_, text)| text.as_str())
                .collect();
            if column.rank == INTERVAL_RANK {
                let bar = self.scale.bar(pair.ratio.as_ref(), look.has_plain_bars());
                parts.extend(interval_bar(look, &bar, *width, outcome));
                parts.push(Span::raw(" ".repeat(self.gap)));
                continue;
            }
            let style = if at + 1 == self.columns.len() || column.unit == "x" {
                outcome
            } else if column.right && column.rank == 1 {
                look.style(Role::Dim)
            } else {
                look.style(Role::Text)
            };
            // A line below the summary shows it once.
            let is_repeated = at + 1 == self.columns.len() && pair.outcome == Outcome::TooFew;
            let text = if is_repeated { "" } else { &text };
            parts.push(self.cell(column, *width, text, style));
        }
        Line::from(parts)
    }
}

/// Draws the interval in the colour of its outcome; the mark at a ratio of 1 stays dim.
fn interval_bar(look: &Look, text: &str, width: usize, outcome: Style) -> Vec<Span<'static>> {
    let one = look.glyph("│", "|");
    let each = text.chars().map(|c| {
        let style = if one.contains(c) { look.style(Role::Rule) } else { outcome };
        Span::styled(c.to_string(), style)
    });
    let rest = width.saturating_sub(pane::width(text));
    each.chain([Span::raw(" ".repeat(rest))]).collect()
}

pub fn role(outcome: Outcome) -> Role {
    match outcome {
        Outcome::Faster => Role::Good,
        Outcome::Slower => Role::Misleading,
        Outcome::Same
        | Outcome::Unclear
        | Outcome::Larger
        | Outcome::Smaller
        | Outcome::TooFew
        | Outcome::OtherJob => Role::Dim,
        Outcome::Wrong | Outcome::Failed => Role::Wrong,
    }
}

/// Draws a row of the sheet.
pub fn line(look: &Look, table: &Table, versus: &Versus, row: Row) -> Line<'static> {
    match row {
        Row::Gap => Line::default(),
        Row::Cell { row, cell } => {
            versus.cells.get(cell).map_or_else(Line::default, |pair| table.row(look, row, pair))
        }
    }
}

/// Lists below the table the cells that differ in one axis, why pairs have no verdict, and the
/// cells that only one session has.
pub fn lines_below(look: &Look, versus: &Versus, width: usize) -> Vec<Line<'static>> {
    let dim = |list: Vec<(String, String)>| list.into_iter().map(|one| (Role::Dim, one));
    let unjudged = describe_unjudged(&versus.cells, Job::label).into_iter();
    let mut lines: Vec<Line<'static>> = dim(describe_beside(versus).collect())
        .chain(unjudged.map(|one| (Role::Wrong, one)))
        .chain(dim(describe_unmatched(&versus.alone, Job::label).collect()))
        .flat_map(|(role, (mark, text))| {
            paragraph(look, &format!(" {mark}"), role, &speak(&text), width)
        })
        .collect();
    if !lines.is_empty() {
        lines.insert(0, Line::default());
    }
    lines
}

/// Wraps text into lines; `mark` precedes the first, the others are indented to match.
pub fn paragraph(
    look: &Look,
    mark: &str,
    role: Role,
    text: &str,
    width: usize,
) -> Vec<Line<'static>> {
    let parts = pane::wrap(text, width.saturating_sub(pane::width(mark) + 1).max(10));
    pane::hang(look.span(role, mark.to_string()), parts, look.style(Role::Text))
}

/// Rows of titles and units above the cells.
pub const HEADER_ROWS: u16 = 2;
