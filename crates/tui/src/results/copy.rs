//! Text for the clipboard: the result under the cursor on one line, or the whole table.

use super::data::Data;
use super::state::{Results, TabKind};
use crate::analysis::CellResult;
use crate::curves::Metric;
use crate::report::table::{self, origin};
use crate::report::{Look, glance_text};
use crate::text::time::to_minute;
use crate::units::{self, Rates};

/// Returns one result in an opened cell or the chart, else the whole table; the answer if there is
/// no result.
pub fn clipboard_text(results: &Results) -> String {
    let Some(data) = &results.data else { return String::new() };
    let at = match (results.open, results.kind) {
        (Some(open), _) => Some(open.result),
        (None, TabKind::Glance) => {
            let look = Look { unit: results.unit, ..Look::default() };
            return glance_text(&data.view.glance, &look);
        }
        (None, TabKind::Table) => return table_text(data, results.unit),
        (None, TabKind::Chart) => results.under_cursor(),
    };
    match at.and_then(|at| data.results().get(at)) {
        Some(result) => {
            format!("{}; {}", describe_result(result, results.unit), describe_conditions(data))
        }
        None => data.view.answer.text.clone(),
    }
}

/// Returns the table as batch mode prints it, with header and footer.
fn table_text(data: &Data, unit: Rates) -> String {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ =
        (table::FORMAT.write)(&data.view.session, &Look { unit, ..Look::default() }, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Formats a result: `read 64 KiB warm: 12.3 GiB/s (12.1 GiB/s to 12.5 GiB/s, 95 % of 5 trials),
/// 196 k/s, p50 4.9 µs, from cache 100 %`.
fn describe_result(result: &CellResult, unit: Rates) -> String {
    let mut parts = Vec::new();
    let trials = units::show_trials(result.counted_trials().len());
    for metric in [Metric::Throughput, Metric::Operations] {
        let Some((median, low, high, _)) = metric.value_of(result) else { continue };
        let first = parts.is_empty();
        let show = |value| metric.show(value, unit);
        parts.push(match (low.is_nan(), first) {
            (false, true) => {
                format!("{} ({} to {}, 95 % of {trials})", show(median), show(low), show(high))
            }
            (true, true) => format!("{} (median of {trials})", show(median)),
            _ => show(median),
        });
    }
    if let Some(latency) = &result.latency {
        let percentiles = [("p50", latency.p50), ("p99", latency.p99)];
        parts.extend(
            percentiles
                .into_iter()
                .filter_map(|(name, nanos)| Some(format!("{name} {}", units::show_nanos(nanos?)))),
        );
    }
    let from = if origin::is_written(result) { "" } else { "from " };
    parts.extend(origin::describe_source(result).map(|source| format!("{from}{source}")));
    parts.extend(result.error.iter().map(|error| format!("failed: {error}")));
    let warnings = result
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.severity.name(), warning.message));
    let warned: String = warnings.map(|warning| format!(" [{warning}]")).collect();
    format!("{}: {}{warned}", result.cell.label(), parts.join(", "))
}

/// Describes target, machine and time.
fn describe_conditions(data: &Data) -> String {
    let (session, host) = (&data.view.session, &data.view.session.host);
    let size = match session.plan.target.size() {
        0 => String::new(),
        size => format!(" of {}", units::show_bytes(size)),
    };
    let kernel =
        if host.kernel.is_empty() { String::new() } else { format!("Linux {}", host.kernel) };
    let parts = [
        format!("{}{size}", data.view.target()),
        squeeze_spaces(&host.cpu.model),
        kernel,
        format!("{} UTC", to_minute(&session.created)),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Collapses white space to single spaces.
fn squeeze_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
