//! The small tables below the large one, which only some sessions have, and what their columns are
//! made of.

use super::axes;
use super::grid::Column;
use super::{counts, levels, ranks, runs, tried, writes};
use crate::analysis::CellResult;
use crate::report::Look;
use crate::report::content::Table;
use crate::session::Session;
use crate::units::Rates;
use crate::units::column::Unit;

type BuildTable = fn(&Session, &[&CellResult], Rates) -> Option<Table>;

/// The small tables in the order of reports.
const BUILDERS: &[BuildTable] = &[
    counts::build_counts,
    runs::build_runs,
    runs::build_call_runs,
    writes::build_commits,
    writes::build_writes,
    writes::build_verified,
    levels::build_levels,
    ranks::build_ranks,
    tried::build_tried,
];

/// Returns the small tables of this session.
pub fn extras(session: &Session, rows: &[&CellResult], look: &Look) -> Vec<Table> {
    let mut built: Vec<Table> =
        BUILDERS.iter().filter_map(|build| build(session, rows, look.unit)).collect();
    for column in built.iter_mut().flat_map(|table| &mut table.columns) {
        column.make_safe(look);
    }
    built
}

/// Returns the columns that distinguish these rows, except for those `without`; `tight`: only
/// these, else also those that always help.
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

/// Returns a column of figures in a suitable unit, which is not named where there are none.
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
