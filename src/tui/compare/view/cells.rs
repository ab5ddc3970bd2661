//! The table of cells: both medians, their ratio with its interval around 1, and what that means.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::analysis::{Outcome, Pair, Versus};
use crate::report::table::grid::Column;
use crate::tui::compare::data::{Row, Sheet};
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

/// The columns of the table as they are shown in a width.
pub struct Table<'a> {
    columns: Vec<&'a (Column, usize)>,
    gap: usize,
}

/// The bar of an interval, by the rank that its column has.
const BAR: u8 = 2;

impl<'a> Table<'a> {
    pub fn of(sheet: &'a Sheet, width: usize) -> Table<'a> {
        let (columns, gap) = sheet.fit(width);
        Table { columns, gap }
    }

    /// Titles and units.
    pub fn head(&self, look: &Look) -> [Line<'static>; 2] {
        let line = |text: fn(&Column) -> &str, role: Role| {
            let parts = self
                .columns
                .iter()
                .map(|(column, width)| self.cell(column, *width, text(column), look.style(role)));
            Line::from_iter(std::iter::once(Span::raw(" ")).chain(parts))
        };
        [line(|column| &column.title, Role::Text), line(|column| &column.unit, Role::Dim)]
    }

    fn cell(&self, column: &Column, width: usize, text: &str, style: Style) -> Span<'static> {
        let pad = " ".repeat(width.saturating_sub(pane::width(text)));
        let gap = " ".repeat(self.gap);
        Span::styled(
            if column.right { format!("{pad}{text}{gap}") } else { format!("{text}{pad}{gap}") },
            style,
        )
    }

    /// A row; the outcome gives its colour to all that says it.
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
            let own = match () {
                () if column.rank == BAR => {
                    parts.extend(bar(look, &text, *width, outcome));
                    parts.push(Span::raw(" ".repeat(self.gap)));
                    continue;
                }
                () if at + 1 == self.columns.len() || column.unit == "x" => outcome,
                () if column.right && column.rank == 1 => look.style(Role::Dim),
                () => look.style(Role::Text),
            };
            parts.push(self.cell(column, *width, &text, own));
        }
        Line::from(parts)
    }
}

/// The interval in the colour of its outcome; where 1 is stays dim.
fn bar(look: &Look, text: &str, width: usize, outcome: Style) -> Vec<Span<'static>> {
    let one = look.glyph("│", "|");
    let each = text.chars().map(|c| {
        let style = if one.contains(c) { look.style(Role::Rule) } else { outcome };
        Span::styled(c.to_string(), style)
    });
    let pad = " ".repeat(width.saturating_sub(pane::width(text)));
    each.chain([Span::raw(pad)]).collect()
}

pub fn role(outcome: Outcome) -> Role {
    match outcome {
        Outcome::Faster => Role::Good,
        Outcome::Slower => Role::Misleading,
        Outcome::Same | Outcome::Unclear | Outcome::Larger | Outcome::Smaller | Outcome::TooFew => {
            Role::Dim
        }
        Outcome::Wrong | Outcome::Failed => Role::Wrong,
    }
}

/// A row of the sheet.
pub fn line(look: &Look, table: &Table, versus: &Versus, row: Row) -> Line<'static> {
    match row {
        Row::Gap => Line::default(),
        Row::Cell { row, cell } => {
            versus.cells.get(cell).map_or_else(Line::default, |pair| table.row(look, row, pair))
        }
    }
}

/// What stands under the table: why pairs are not judged, equal reasons together; and the cells
/// without a partner.
pub fn below(look: &Look, versus: &Versus, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut told: Vec<(Outcome, &str, Vec<&Pair>)> = Vec::new();
    for pair in
        versus.cells.iter().filter(|pair| matches!(pair.outcome, Outcome::Wrong | Outcome::Failed))
    {
        let why = pair.reason.as_deref().unwrap_or("no figure on one side");
        match told
            .iter_mut()
            .find(|(outcome, reason, _)| *outcome == pair.outcome && *reason == why)
        {
            Some((.., having)) => having.push(pair),
            None => told.push((pair.outcome, why, vec![pair])),
        }
    }
    for (outcome, why, having) in told {
        let more = if having.len() > 1 {
            format!(", and {} more", having.len() - 1)
        } else {
            String::new()
        };
        let text = format!("{}{more}: {why}", having[0].cell.label());
        lines.extend(paragraph(
            look,
            &format!(" {}: ", outcome.name()),
            role(outcome),
            &text,
            width,
        ));
    }
    for cell in &versus.alone {
        let why = cell.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        let text = format!("{}{why}", cell.cell.label());
        lines.extend(paragraph(
            look,
            &format!(" only in {}: ", cell.only_in),
            Role::Dim,
            &text,
            width,
        ));
    }
    if !lines.is_empty() {
        lines.insert(0, Line::default());
    }
    lines
}

/// Words on lines; `mark` stands before the first, the others are indented as far.
pub fn paragraph(
    look: &Look,
    mark: &str,
    role: Role,
    text: &str,
    width: usize,
) -> Vec<Line<'static>> {
    let indent = pane::width(mark);
    let parts = pane::wrap(text, width.saturating_sub(indent + 1).max(10));
    let start = |at: usize| if at == 0 { mark.to_string() } else { " ".repeat(indent) };
    let line = |(at, part): (usize, String)| {
        Line::from(vec![
            Span::styled(start(at), look.style(role)),
            Span::styled(part, look.style(Role::Text)),
        ])
    };
    parts.into_iter().enumerate().map(line).collect()
}

/// Columns of titles and units above the rows.
pub const HEAD: u16 = 2;
