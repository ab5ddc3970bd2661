//! Rows of cells as lines with aligned columns, measured as a terminal shows them.

use super::wrap::width;

/// The side of its column at which a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A cell: what is printed, and the terminal columns that takes. Escape sequences take none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    text: String,
    width: usize,
}

impl Cell {
    pub fn new(text: impl Into<String>) -> Cell {
        let text = text.into();
        Cell { width: width(&text), text }
    }

    /// A cell with escape sequences, which takes `width` columns.
    pub fn painted(text: String, width: usize) -> Cell {
        Cell { text, width }
    }
}

/// Returns how wide each column of a table must be for its widest cell.
pub fn widths<'a, R: AsRef<[String]> + 'a>(rows: impl IntoIterator<Item = &'a R>) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widen(&mut widths, row.as_ref().iter().map(|cell| width(cell)));
    }
    widths
}

fn widen(widths: &mut Vec<usize>, cells: impl Iterator<Item = usize>) {
    for (column, wide) in cells.enumerate() {
        match widths.get_mut(column) {
            Some(widest) => *widest = wide.max(*widest),
            None => widths.push(wide),
        }
    }
}

/// Lays out rows with `gap` spaces between columns. Columns without an alignment are on the left;
/// no line ends in a space.
pub fn lay_out(rows: &[Vec<Cell>], align: &[Align], gap: usize) -> Vec<String> {
    let mut widths = Vec::new();
    for row in rows {
        widen(&mut widths, row.iter().map(|cell| cell.width));
    }
    rows.iter().map(|row| lay_out_row(row, &widths, align, gap)).collect()
}

fn lay_out_row(row: &[Cell], widths: &[usize], align: &[Align], gap: usize) -> String {
    let mut line = String::new();
    // Spaces are written only before the next text.
    let mut spaces = 0;
    for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
        let padding = width - cell.width.min(*width);
        let is_right = align.get(at) == Some(&Align::Right);
        spaces += if at == 0 { 0 } else { gap } + if is_right { padding } else { 0 };
        if !cell.text.trim_end().is_empty() {
            line.extend(std::iter::repeat_n(' ', spaces));
            line += &cell.text;
            spaces = 0;
        } else {
            spaces += cell.width;
        }
        spaces += if is_right { 0 } else { padding };
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(texts: &[&str]) -> Vec<Cell> {
        texts.iter().copied().map(Cell::new).collect()
    }

    #[test]
    fn columns_line_up_as_a_terminal_shows_them() {
        let rows =
            [cells(&["a", "size"]), cells(&["日本", "1"]), cells(&["x"]), cells(&["", "22"])];
        let lines = lay_out(&rows, &[Align::Left, Align::Right], 2);
        assert_eq!(lines, ["a     size", "日本     1", "x", "        22"]);
        assert_eq!(widths(&[["a".to_string(), "日本".into()]]), [1, 4]);
        assert!(widths(&[] as &[Vec<String>]).is_empty());
    }

    #[test]
    fn paint_takes_no_columns() {
        let red = Cell::painted("\x1b[31mno\x1b[0m".into(), 2);
        let rows = [vec![red, Cell::new("x")], cells(&["long", "y"])];
        assert_eq!(lay_out(&rows, &[], 1), ["\x1b[31mno\x1b[0m   x", "long y"]);
    }
}
