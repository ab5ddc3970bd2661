//! A small table below the large one, which only some sessions have.

use super::axes;
use super::grid::Column;
use crate::analysis::{Axis, CellResult};
use crate::units::column::{Unit, align, unit};

/// A small table with the text below it.
#[derive(Debug)]
pub struct Extra {
    /// Its id on a page: `writes`.
    pub id: &'static str,
    pub title: &'static str,
    pub columns: Vec<Column>,
    pub rows: usize,
    pub text: String,
}

/// Returns the columns that distinguish these rows, except for those `without`; `tight`: only
/// these, else also those that always help.
pub fn distinguishing_columns(rows: &[&CellResult], without: &[&str], tight: bool) -> Vec<Column> {
    let column = |axis: Axis| Column {
        right: axis.is_number(),
        ..Column::text_column(
            axis.column(),
            0,
            rows.iter().map(|row| axis.value(&row.cell)).collect(),
        )
    };
    axes::column_axes(rows, tight)
        .into_iter()
        .filter(|axis| !without.contains(&axis.column()))
        .map(column)
        .collect()
}

/// Returns a column of figures in a suitable unit.
pub fn number_column(title: &str, units: &[Unit], values: &[Option<f64>]) -> Column {
    let (factor, name) = unit(values.iter().flatten().copied(), units);
    let name = if values.iter().any(Option::is_some) { name } else { "" };
    Column::numbers(title, name, 0, align(values, factor))
}
