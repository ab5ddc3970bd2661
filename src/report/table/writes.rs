//! The table of writes: when the page cache had the bytes, and when the device did.

use super::extra::{Extra, distinguishing_columns, number_column};
use crate::analysis::{CellResult, SummaryOf, WriteTimes};
use crate::session::Session;
use crate::units::column::TIME;
use crate::units::{Rates, show_bytes};

/// Returns the table of a session that writes; `None` for others.
pub fn build_writes(_: &Session, rows: &[&CellResult], rates: Rates) -> Option<Extra> {
    let (writing, times): (Vec<&CellResult>, Vec<WriteTimes>) =
        rows.iter().filter_map(|row| Some((*row, row.written?))).unzip();
    if writing.is_empty() {
        return None;
    }
    let nanos = |of: fn(&WriteTimes) -> Option<SummaryOf>| -> Vec<Option<f64>> {
        times.iter().map(|written| of(written).map(|of| of.summary.median)).collect()
    };
    let (cached, device) = (nanos(|w| w.page_cache), nanos(|w| w.device));
    let rate = |nanos: &[Option<f64>]| -> Vec<Option<f64>> {
        let bytes = writing.iter().map(|row| median_bytes(row));
        bytes
            .zip(nanos)
            .map(|(bytes, nanos)| Some(bytes? * 1e9 / (*nanos)?).filter(|rate| rate.is_finite()))
            .collect()
    };
    let (cached_rate, device_rate) = (rate(&cached), rate(&device));
    let left = times
        .iter()
        .map(|written| written.left.map_or("-".into(), |left| show_bytes(left as u64)))
        .collect();
    let mut columns = distinguishing_columns(&writing, &["cache"], false);
    columns.extend([
        number_column("page cache", TIME, &cached),
        number_column("rate", rates.units(), &cached_rate),
        number_column("device", TIME, &device),
        number_column("rate", rates.units(), &device_rate),
        super::grid::Column::numbers("still dirty", "", 0, left),
    ]);
    let text = "time until the page cache had all data (the last write returned), and until the device reported that it had all \
                (fdatasync, O_DSYNC or direct I/O); - where nothing waited for the device, or the page cache was bypassed. Still \
                dirty: what was not yet written back when the clock stopped. Medians of the trials";
    Some(Extra { id: "writes", title: "Writes", columns, rows: writing.len(), text: text.into() })
}

/// Returns the median of the trials' bytes.
fn median_bytes(row: &CellResult) -> Option<f64> {
    let bytes: Vec<f64> =
        row.counted_trials().into_iter().map(|index| row.trials[index].bytes as f64).collect();
    crate::stats::median(&bytes)
}
