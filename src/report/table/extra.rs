//! Small tables below the large one, each of what only some sessions have.

use super::columns::safe_column;
use super::grid::Column;
use super::{axes, levels, measured, runs, written};
use crate::analysis::{Axis, CellResult};
use crate::report::Look;
use crate::session::Session;
use crate::units::Rates;
use crate::units::column::{Unit, aligned, unit};

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

type Make = fn(&Session, &[&CellResult], Rates) -> Option<Extra>;

/// In the order of reports.
const ALL: &[Make] =
    &[measured::measured, runs::runs, runs::runs_of_calls, written::written, levels::levels];

/// Those that this session has.
pub fn extras(session: &Session, rows: &[&CellResult], look: &Look) -> Vec<Extra> {
    let made = ALL.iter().filter_map(|make| make(session, rows, look.unit));
    let safe = |mut extra: Extra| {
        extra.columns.iter_mut().for_each(|column| safe_column(column, look));
        extra
    };
    made.map(safe).collect()
}

/// The columns that tell these rows apart, but for the axis `without`; `tight`: only these, else
/// what always helps too.
pub fn told_apart(rows: &[&CellResult], without: &str, tight: bool) -> Vec<Column> {
    let word = |axis: Axis| Column {
        right: axis.is_number(),
        ..Column::words(axis.column(), 0, rows.iter().map(|row| axis.value(&row.cell)).collect())
    };
    axes::shown(rows, tight).into_iter().filter(|axis| axis.column() != without).map(word).collect()
}

/// A column of figures in the unit that fits them.
pub fn figures(title: &str, units: &[Unit], values: &[Option<f64>]) -> Column {
    let (factor, name) = unit(values.iter().flatten().copied(), units);
    let name = if values.iter().any(Option::is_some) { name } else { "" };
    Column::numbers(title, name, 0, aligned(values, factor))
}
