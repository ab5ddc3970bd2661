//! A small table below the large one, of what only some sessions have.

use super::axes;
use super::grid::Column;
use crate::analysis::{Axis, CellResult};
use crate::units::column::{Unit, align, unit};

/// A small table with the text below it.
#[derive(Debug)]
pub struct Extra {
    /// For a page: `writes`.
    pub id: &'static str,
    pub title: &'static str,
    pub columns: Vec<Column>,
    pub rows: usize,
    pub text: String,
}

/// The columns that tell these rows apart, but for the axis `without`; `tight`: only these, else
/// what always helps too.
pub fn distinguishing_columns(rows: &[&CellResult], without: &str, tight: bool) -> Vec<Column> {
    let column = |axis: Axis| Column {
        right: axis.is_number(),
        ..Column::words(axis.column(), 0, rows.iter().map(|row| axis.value(&row.cell)).collect())
    };
    axes::column_axes(rows, tight)
        .into_iter()
        .filter(|axis| axis.column() != without)
        .map(column)
        .collect()
}

/// A column of figures in the unit that fits them.
pub fn number_column(title: &str, units: &[Unit], values: &[Option<f64>]) -> Column {
    let (factor, name) = unit(values.iter().flatten().copied(), units);
    let name = if values.iter().any(Option::is_some) { name } else { "" };
    Column::numbers(title, name, 0, align(values, factor))
}
