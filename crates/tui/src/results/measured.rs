//! The columns of measured values, for all rows at once.

use super::column::{Column, Look};
use crate::analysis::{CellResult, TrialWork};
use crate::catalog::moves_data;
use crate::record::Trial;
use crate::report::table::columns::{ColumnPlace, measured_columns, throughput_median};
use crate::report::table::grid;
use crate::report::table::runs;
use crate::units::column::{self, PER_SECOND, TIME};
use crate::units::{self, Rates};

/// Builds the columns of throughput, operations, system calls, latencies and CPU time, as measured,
/// and of the source of the bytes.
pub fn result_columns(rows: &[&CellResult], shown: Rates) -> Vec<Column> {
    let rates: Vec<Option<f64>> = rows.iter().map(|row| throughput_median(row)).collect();
    let mut columns = Vec::new();
    if rates.iter().any(Option::is_some) {
        let rates = grid::Column::figures("throughput", 0, &rates, shown.units());
        columns.push(Column::new(rates, Look::Main));
    }
    let has_rate = !columns.is_empty();
    columns.extend(measured_columns(rows, ColumnPlace::Screen).into_iter().map(|column| {
        let is_main = column.title == "ops" && !has_rate;
        if is_main { Column::new(column, Look::Main) } else { Column::plain(column) }
    }));
    columns
}

/// Builds a column per trial and one of their mean if few trials were requested: the first columns
/// dropped for lack of room.
pub fn trial_columns(rows: &[&CellResult], trial_count: Option<u32>, shown: Rates) -> Vec<Column> {
    let Some(trial_count) = trial_count.filter(|trials| (2..=runs::MAX_RUNS).contains(trials))
    else {
        return Vec::new();
    };
    let (of, units): (fn(&Trial) -> f64, _) = match rows.iter().any(|row| moves_data(&row.cell)) {
        true => {
            (|trial| if trial.bytes > 0 { trial.throughput() } else { f64::NAN }, shown.units())
        }
        false => (Trial::operations, PER_SECOND),
    };
    let mut all = runs::figures(trial_count, rows, of);
    // A cell that only makes calls has no rate among cells that move bytes.
    all.iter_mut()
        .flat_map(|(_, values)| values)
        .for_each(|value| *value = value.filter(|rate| rate.is_finite()));
    let unit = column::unit(all.iter().flat_map(|(_, values)| values).flatten().copied(), units);
    all.iter()
        .filter(|(_, values)| values.iter().any(Option::is_some))
        .map(|(title, values)| Column::plain(grid::Column::in_unit(title, 15, values, unit)))
        .collect()
}

/// Builds the columns of count, size and time of a trial, always shown if the count was requested
/// or is the goal.
pub fn work_columns(rows: &[&CellResult], measure: bool) -> Vec<Column> {
    let has_count = rows.iter().any(|row| row.cell.count.is_some());
    // A count that was set for each row has a column already.
    let has_count_column = rows.iter().all(|row| row.cell.count.is_some_and(|count| count > 0));
    let works: Vec<Option<TrialWork>> = rows.iter().map(|row| trial_work(row, measure)).collect();
    let of = |value: fn(&TrialWork) -> f64| -> Vec<Option<f64>> {
        works.iter().map(|work| work.as_ref().map(value)).collect()
    };
    let (counts, bytes, times) =
        (of(|work| work.operations() as f64), of(|work| work.bytes), of(|work| work.nanos));
    let first = |rank: u8, is_asked: bool| if is_asked { 0 } else { rank };
    let mut columns = Vec::new();
    if !has_count_column && works.iter().any(Option::is_some) {
        let rank = first(14, measure);
        columns
            .push(grid::Column::exact("count", "", rank, &counts, |count| format!("{count:.0}")));
    }
    if bytes.iter().flatten().any(|bytes| *bytes > 0.0) {
        let rank = first(13, measure);
        columns.push(grid::Column::exact("size", "", rank, &bytes, |bytes| {
            units::show_bytes(bytes as u64)
        }));
    }
    if times.iter().any(Option::is_some) {
        let rank = first(12, measure || has_count);
        columns.push(grid::Column::figures("time", rank, &times, TIME));
    }
    columns.into_iter().map(Column::plain).collect()
}

/// Returns the work of a trial of a cell; with `pass`, of one pass over the data.
pub fn trial_work(row: &CellResult, pass: bool) -> Option<TrialWork> {
    let work = row.work()?;
    Some(if pass { work.of_a_pass() } else { work })
}
