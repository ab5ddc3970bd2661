//! The table of writes: when the page cache had the bytes, and when the device had them.

use super::extra::{Extra, figures, told_apart};
use crate::analysis::{CellResult, SummaryOf, WriteTimes};
use crate::session::Session;
use crate::units::column::TIME;
use crate::units::{Rates, show_bytes};

/// The table of a session that writes; `None` of others.
pub fn written(_: &Session, rows: &[&CellResult], rates: Rates) -> Option<Extra> {
    let (kept, times): (Vec<&CellResult>, Vec<WriteTimes>) =
        rows.iter().filter_map(|row| Some((*row, row.written?))).unzip();
    if kept.is_empty() {
        return None;
    }
    let nanos = |of: fn(&WriteTimes) -> Option<SummaryOf>| -> Vec<Option<f64>> {
        times.iter().map(|written| of(written).map(|of| of.summary.median)).collect()
    };
    let (cached, device) = (nanos(|w| w.page_cache), nanos(|w| w.device));
    let rate = |nanos: &[Option<f64>]| -> Vec<Option<f64>> {
        let bytes = kept.iter().map(|row| middle(row));
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
    let mut columns = told_apart(&kept, "cache", false);
    columns.extend([
        figures("page cache", TIME, &cached),
        figures("rate", rates.units(), &cached_rate),
        figures("device", TIME, &device),
        figures("rate", rates.units(), &device_rate),
        super::grid::Column::numbers("still dirty", "", 0, left),
    ]);
    let text = "until the page cache had all (the last write returned), and until the device said that it has all (fdatasync, O_DSYNC or \
                direct I/O); - where nothing waited for it, or it was gone around. Still dirty is what was yet to be written when the \
                clock stopped. Medians of the trials";
    Some(Extra { id: "writes", title: "Writes", columns, rows: kept.len(), text: text.into() })
}

/// Bytes of the trial in the middle.
fn middle(row: &CellResult) -> Option<f64> {
    let bytes: Vec<f64> =
        row.counted().into_iter().map(|index| row.trials[index].bytes as f64).collect();
    crate::stats::median(&bytes)
}
