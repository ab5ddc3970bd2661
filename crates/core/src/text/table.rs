//! Rows of cells as lines with aligned columns, measured as a terminal shows them.

use super::wrap::width;

/// The alignment of a cell in its column.
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

    /// Returns a cell with escape sequences, which takes `width` columns.
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
    for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
        let gap = if column == 0 { 0 } else { gap };
        let padding = width.saturating_sub(cell.width);
        let is_right = align.get(column) == Some(&Align::Right);
        let (before, after) = if is_right { (padding, 0) } else { (0, padding) };
        line.extend(std::iter::repeat_n(' ', gap + before));
        line += &cell.text;
        line.extend(std::iter::repeat_n(' ', after));
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
    fn columns_line_up_by_width() {
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
