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
    let rate = |of: fn(&WriteTimes) -> Option<f64>| times.iter().map(of).collect::<Vec<_>>();
    let (cached_rate, device_rate) = (rate(|w| w.page_cache_rate), rate(|w| w.device_rate));
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
