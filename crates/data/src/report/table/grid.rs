//! Lays out columns of text as lines: which of them fit, and where each is placed.

use super::axes::axis_number;
use crate::plan::{Axis, Job};
use crate::report::Look;
use crate::report::text::{self, safe};
use crate::text::table::{self, Align};
use crate::units::column::{self, Unit, align};

/// The style of a piece of text, which only repeats what the text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Bold,
    Dim,
    Red,
    Yellow,
}

/// Returns `text` with the ANSI codes of `style`, using the 16 colours that every terminal defines
/// itself.
pub fn paint(style: Style, text: &str, color: bool) -> String {
    let code = match style {
        Style::Bold => "1",
        Style::Dim => "2",
        Style::Red => "31",
        Style::Yellow => "33",
        Style::Plain => "",
    };
    if color && !code.is_empty() && !text.trim().is_empty() {
        format!("\x1b[{code}m{text}\x1b[0m")
    } else {
        text.into()
    }
}

/// The pieces of one cell, one after the other.
pub type Cell = Vec<(Style, String)>;

#[derive(Debug, Clone)]
pub struct Column {
    pub title: String,
    /// The unit of all its numbers; empty for words.
    pub unit: String,
    pub right: bool,
    /// Rank 0 is always shown; of the others, the lowest takes precedence.
    pub rank: u8,
    /// The title of the column that this one requires; empty: none.
    pub needs: &'static str,
    pub cells: Vec<Cell>,
    /// The figures that its texts show, to sort by; empty for words.
    pub values: Vec<Option<f64>>,
}

impl Column {
    pub fn text_column(title: &str, rank: u8, cells: Vec<String>) -> Column {
        let cells = cells.into_iter().map(|text| vec![(Style::Plain, text)]).collect();
        Column {
            title: title.into(),
            unit: String::new(),
            right: false,
            rank,
            needs: "",
            cells,
            values: Vec::new(),
        }
    }

    pub fn numbers(title: &str, unit: &str, rank: u8, cells: Vec<String>) -> Column {
        Column { unit: unit.into(), right: true, ..Column::text_column(title, rank, cells) }
    }

    /// Returns a column of styled cells, which is always shown.
    pub fn styled(title: &str, cells: Vec<Cell>) -> Column {
        Column { cells, ..Column::text_column(title, 0, Vec::new()) }
    }

    /// Returns a column of figures in one suitable unit.
    pub fn figures(title: &str, rank: u8, values: &[Option<f64>], units: &[Unit]) -> Column {
        Column::in_unit(title, rank, values, column::unit(values.iter().flatten().copied(), units))
    }

    /// Returns a column of figures in this unit.
    pub fn in_unit(title: &str, rank: u8, values: &[Option<f64>], (factor, unit): Unit) -> Column {
        let texts = align(values, factor);
        Column { values: values.to_vec(), ..Column::numbers(title, unit, rank, texts) }
    }

    /// Returns a column of figures that are not aligned by their points.
    pub fn exact(
        title: &str,
        unit: &str,
        rank: u8,
        values: &[Option<f64>],
        show: impl Fn(f64) -> String,
    ) -> Column {
        let texts = values.iter().map(|value| value.map_or("-".into(), &show)).collect();
        Column { values: values.to_vec(), ..Column::numbers(title, unit, rank, texts) }
    }

    /// Returns the column of an axis of these jobs.
    pub fn of_axis<'a>(axis: Axis, jobs: impl Iterator<Item = &'a Job>) -> Column {
        let jobs: Vec<&Job> = jobs.collect();
        let cells = jobs.iter().map(|job| axis.value(job)).collect();
        let right = axis.is_number();
        let numbers = jobs.iter().filter(|_| right).map(|job| axis_number(axis, job)).collect();
        Column { right, values: numbers, ..Column::text_column(axis.column(), 0, cells) }
    }

    /// Makes the text safe to show.
    pub fn make_safe(&mut self, look: &Look) {
        self.title = safe(&self.title, look);
        self.unit = safe(&self.unit, look);
        for (_, piece) in self.cells.iter_mut().flatten() {
            *piece = safe(piece, look);
        }
    }

    /// Returns the width that its title, unit and cells need, in terminal columns.
    pub fn width(&self) -> usize {
        let cells = self.texts().into_iter().map(|text| text::width(&text));
        cells.chain([text::width(&self.title), text::width(&self.unit)]).max().unwrap_or(0)
    }

    /// Returns the texts of its cells.
    pub fn texts(&self) -> Vec<String> {
        let text = |cell: &Cell| cell.iter().map(|(_, piece)| piece.as_str()).collect();
        self.cells.iter().map(text).collect()
    }

    fn align(&self) -> Align {
        if self.right { Align::Right } else { Align::Left }
    }
}

/// A table with the text below it.
#[derive(Debug, Default)]
pub struct Table {
    /// Its id on a page: `writes`.
    pub id: &'static str,
    pub title: &'static str,
    pub columns: Vec<Column>,
    /// For each row, whether a gap precedes it; empty for a table without gaps.
    pub breaks: Vec<bool>,
    /// The whole table as lines, where the columns do not fit the width.
    pub narrow: Option<Vec<String>>,
    /// Often empty.
    pub text: String,
    /// It repeats figures of another table.
    pub repeats: bool,
    /// It has the rows of the first table, in their order, and all that people ask of them.
    pub has_all_rows: bool,
}

impl Table {
    pub const RESULTS: &'static str = "results";
}

fn paint_cell(cell: &Cell, color: bool) -> table::Cell {
    let text: String = cell.iter().map(|(style, text)| paint(*style, text, color)).collect();
    table::Cell::painted(text, cell.iter().map(|(_, text)| text::width(text)).sum())
}

/// Spaces between columns.
const GAP: usize = 2;

fn total_width<'a>(columns: impl Iterator<Item = &'a Column>, gap: usize) -> usize {
    columns.map(|c| c.width() + gap).sum::<usize>().saturating_sub(gap)
}

/// Returns whether all columns fit `width`.
pub fn all_fit(columns: &[Column], width: usize) -> bool {
    total_width(columns.iter(), GAP) <= width
}

/// Returns whether the columns of rank 0 and 1 fit `width`.
pub fn fits(columns: &[Column], width: usize) -> bool {
    total_width(columns.iter().filter(|c| c.rank <= 1), GAP) <= width
}

/// Returns whether all columns fit `width` with less space between them.
pub fn squeezes(columns: &[Column], width: usize) -> bool {
    total_width(columns.iter(), 1) <= width
}

/// Returns the columns that fit `width`: rank 0 in any case, then rank by rank while there is
/// room; the columns of a rank go together. For rank 1 the space between columns shrinks if
/// necessary.
pub fn fit(mut columns: Vec<Column>, width: usize) -> Vec<Column> {
    let gap = if fits(&columns, width) { GAP } else { 1 };
    let mut ranks: Vec<u8> = columns.iter().map(|c| c.rank).filter(|rank| *rank > 0).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let mut kept = vec![0];
    for rank in ranks {
        kept.push(rank);
        let there = || columns.iter().filter(|c| kept.contains(&c.rank));
        let supported =
            |c: &Column| c.needs.is_empty() || there().any(|other| other.title == c.needs);
        if total_width(there(), gap) > width || !there().all(supported) {
            kept.pop();
        }
    }
    columns.retain(|c| kept.contains(&c.rank));
    columns
}

/// Formats two lines of titles and units, then a line per row, with an empty one before each row of
/// `breaks`, which may be shorter than the rows.
pub fn format_lines(columns: &[Column], breaks: &[bool], look: &Look) -> Vec<String> {
    let gap = if all_fit(columns, look.width) { GAP } else { 1 };
    let row_of = |cell: &dyn Fn(&Column) -> Cell| -> Vec<table::Cell> {
        columns.iter().map(|column| paint_cell(&cell(column), look.color)).collect()
    };
    let mut rows = vec![
        row_of(&|column| vec![(Style::Plain, column.title.clone())]),
        row_of(&|column| vec![(Style::Dim, column.unit.clone())]),
    ];
    for row in 0..row_count(columns) {
        rows.push(row_of(&|column| column.cells.get(row).cloned().unwrap_or_default()));
    }
    let align: Vec<Align> = columns.iter().map(Column::align).collect();
    let mut laid = table::lay_out(&rows, &align, gap).into_iter();
    let mut lines: Vec<String> = laid.by_ref().take(2).collect();
    for (row, line) in laid.enumerate() {
        if breaks.get(row) == Some(&true) {
            lines.push(String::new());
        }
        lines.push(line);
    }
    lines
}

/// Returns the number of rows of a table of these columns.
pub fn row_count(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.cells.len()).max().unwrap_or(0)
}
