//! The table of `measure`: the number of operations that take the trial time, for every block size,
//! and how to use them.

use super::extras::{distinguishing_columns, numbers};
use super::grid::Column;
use crate::analysis::CellResult;
use crate::experiment::MEASURE;
use crate::report::content::Table;
use crate::session::Session;
use crate::units::column::{TIME, align_with, four_digits, unit};
use crate::units::{Rates, short_bytes, short_time, show_bytes};

/// The result of calibration for a cell.
struct Calibration<'a> {
    row: &'a CellResult,
    /// Operations of one pass over the data.
    count: u64,
    bytes: u64,
    nanos: f64,
}

/// Returns the table of a session of that experiment; `None` for others, and if nothing was
/// measured.
pub fn build_counts(session: &Session, rows: &[&CellResult], _: Rates) -> Option<Table> {
    let calibrations: Vec<Calibration> = rows
        .iter()
        .filter(|_| session.plan.experiment == MEASURE)
        .filter_map(|row| calibration_of(row))
        .collect();
    let last = calibrations.iter().max_by_key(|found| found.count)?;
    let counted_rows: Vec<&CellResult> = calibrations.iter().map(|found| found.row).collect();
    let mut columns = distinguishing_columns(&counted_rows, &["block"], true);
    columns.push(numbers("block", 0, &calibrations, |found| show_bytes(found.row.cell.block)));
    columns.push(numbers("count", 0, &calibrations, |found| found.count.to_string()));
    columns.push(numbers("size", 0, &calibrations, |found| show_bytes(found.bytes)));
    let times: Vec<Option<f64>> = calibrations.iter().map(|found| Some(found.nanos)).collect();
    let (factor, name) = unit(times.iter().flatten().copied(), TIME);
    columns.push(Column::numbers("time", name, 0, align_with(&times, factor, four_digits)));
    let low = session.plan.trial_time.low;
    let mut text = format!(
        "each row is one trial; to repeat one, use its block size and count, as in -s {} -n {}: it takes the time in its row",
        short_bytes(last.row.cell.block),
        last.count
    );
    let larger = |found: &Calibration| {
        (found.bytes as f64 * low.as_nanos() as f64 / found.nanos.max(1.0)) as u64
    };
    // A slightly shorter time is within chance.
    let ended: Vec<&Calibration> = calibrations
        .iter()
        .filter(|found| {
            found.nanos < 0.9 * low.as_nanos() as f64 && found.bytes >= found.row.cell.span
        })
        .collect();
    if let Some(need) = ended.iter().map(|found| larger(found)).max() {
        let size = show_bytes(session.plan.target.size());
        let whose = if ended.len() == calibrations.len() {
            "every row".into()
        } else {
            format!("{} of {} rows", ended.len(), calibrations.len())
        };
        text += &format!(
            ". In {whose} the file ended first: its {size} take less than {}; a file of {} would last that long",
            short_time(low),
            show_bytes(need)
        );
    }
    Some(Table { id: "counts", title: "Counts", columns, text, ..Table::default() })
}

fn calibration_of(row: &CellResult) -> Option<Calibration<'_>> {
    let work = row.work()?.of_a_pass();
    Some(Calibration { row, count: work.count, bytes: work.bytes as u64, nanos: work.nanos })
}
