//! Columns of small tables: texts, numbers, figures, and the axes that distinguish rows.

use super::axes;
use super::grid::Column;
use crate::analysis::CellResult;
use crate::units::column::Unit;

/// Returns the columns that distinguish these rows, except for the titles in `without`; unless
/// `tight`, also the columns that always help.
pub fn distinguishing_columns(rows: &[&CellResult], without: &[&str], tight: bool) -> Vec<Column> {
    axes::column_axes(rows, tight)
        .into_iter()
        .filter(|axis| !without.contains(&axis.column()))
        .map(|axis| Column::of_axis(axis, rows.iter().map(|row| &row.cell)))
        .collect()
}

/// Returns a column with a text of each row.
pub fn words<T>(title: &str, rank: u8, rows: &[T], text: impl Fn(&T) -> String) -> Column {
    Column::text_column(title, rank, rows.iter().map(text).collect())
}

/// Returns a column with a number of each row, as text.
pub fn numbers<T>(title: &str, rank: u8, rows: &[T], text: impl Fn(&T) -> String) -> Column {
    Column { right: true, ..words(title, rank, rows, text) }
}

/// Returns a column of figures in a suitable unit, which a column without figures does not name.
pub fn figures<T>(
    title: &str,
    units: &[Unit],
    rows: &[T],
    value: impl Fn(&T) -> Option<f64>,
) -> Column {
    let values: Vec<Option<f64>> = rows.iter().map(value).collect();
    let column = Column::figures(title, 0, &values, units);
    let unit = if values.iter().any(Option::is_some) { column.unit } else { String::new() };
    Column { unit, ..column }
}
