//! The table of writes: when the page cache had the bytes, and when the device did.

use super::extra::{Extra, distinguishing_columns, figures, numbers};
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
    fn median(of: Option<SummaryOf>) -> Option<f64> {
        of.map(|of| of.summary.median)
    }
    let left = |of: &WriteTimes| of.left.map_or("-".into(), |left| show_bytes(left as u64));
    let mut columns = distinguishing_columns(&writing, &["cache"], false);
    columns.extend([
        figures("page cache", TIME, &times, |of| median(of.page_cache)),
        figures("rate", rates.units(), &times, |of| of.page_cache_rate),
        figures("device", TIME, &times, |of| median(of.device)),
        figures("rate", rates.units(), &times, |of| of.device_rate),
        numbers("still dirty", 0, &times, left),
    ]);
    let text = "time until the page cache had all data (the last write returned), and until the device reported that it had all \
                (fdatasync, O_DSYNC or direct I/O); - where nothing waited for the device, or the page cache was bypassed. Still \
                dirty: what was not yet written back when the clock stopped. Medians of the trials";
    Some(Extra { id: "writes", title: "Writes", columns, rows: writing.len(), text: text.into() })
}
