//! The columns of the table: what varies, what was measured, where the bytes came from, and whether
//! it can be trusted.

use super::extra::{distinguishing_columns, words};
use super::findings::Findings;
use super::grid::{Cell, Column, Style};
use super::origin;
use crate::analysis::{CellResult, SummaryOf};
use crate::record::{LevelChange, Trial};
use crate::report::Look;
use crate::stats;
use crate::units::column::{self, PER_SECOND, TIME, align};
use crate::units::show_percent;

/// Returns all columns of `rows`; the most useful have the lowest rank.
pub fn columns(rows: &[&CellResult], findings: &Findings, look: &Look, tight: bool) -> Vec<Column> {
    let of = |get: fn(&CellResult) -> Option<f64>| rows.iter().map(|r| get(r)).collect::<Vec<_>>();
    let mut columns = distinguishing_columns(rows, &[], tight);
    columns.push(throughput(rows, look));
    columns.extend(trial_time(rows));
    // A row that moves no bytes has no other figure.
    let is_only = |r: &&CellResult| throughput_median(r).is_none() && operations(r).is_some();
    let rank = if rows.iter().any(is_only) { 0 } else { 3 };
    columns.push(Column::figures("ops", rank, &of(operations), PER_SECOND));
    if rows.iter().any(|r| calls_differ(r)) {
        columns.push(Column::figures("calls", 7, &of(|r| median(&r.syscalls)), PER_SECOND));
    }
    columns.extend(latencies(rows));
    columns.extend(cpu_share(rows));
    columns.extend(checksum(rows));
    columns.push(words("from", 1, rows, |r| origin::main_source(r)));
    if rows.iter().any(|r| !origin::other_sources(r).is_empty()) {
        let others = words("and", 6, rows, |r| origin::other_sources(r));
        columns.push(Column { needs: "from", ..others });
    }
    let marks = rows.iter().map(|r| findings.mark(r, look.ascii));
    columns.push(Column::styled("", marks.collect()));
    columns.iter_mut().for_each(|column| column.make_safe(look));
    columns
}

pub fn median(summary: &Option<SummaryOf>) -> Option<f64> {
    summary.map(|s| s.summary.median)
}

/// Returns bytes per second; `None` if no bytes are moved, as in a seek.
pub fn throughput_median(result: &CellResult) -> Option<f64> {
    median(&result.throughput).filter(|_| result.trials.iter().any(|t| t.bytes > 0))
}

fn operations(result: &CellResult) -> Option<f64> {
    median(&result.operations)
}

fn calls_differ(result: &CellResult) -> bool {
    match (median(&result.syscalls), median(&result.operations)) {
        (Some(calls), Some(ops)) => (calls - ops).abs() > 0.01 * ops,
        _ => false,
    }
}

/// Returns the median and half of its interval's width in percent.
fn throughput(rows: &[&CellResult], look: &Look) -> Column {
    let sign = if look.ascii { "+-" } else { "±" };
    let values: Vec<Option<f64>> = rows.iter().map(|r| throughput_median(r)).collect();
    let (factor, unit) = column::unit(values.iter().flatten().copied(), look.unit.units());
    fn half(row: &&CellResult) -> Option<f64> {
        throughput_median(row).and(row.throughput).and_then(|s| s.summary.half_width())
    }
    let halves: Vec<String> = rows
        .iter()
        .map(|r| half(r).map_or(String::new(), |h| format!(" {sign}{}", show_percent(h * 100.0))))
        .collect();
    let wide = halves.iter().map(|h| h.chars().count()).max().unwrap_or(0);
    let cell = |((row, number), half): ((&&CellResult, String), String)| -> Cell {
        match (&row.error, &row.level_change) {
            (Some(_), _) => vec![(Style::Red, "failed".into())],
            // The median of two levels describes neither.
            (None, Some(change)) if change.is_large() && change.unit == "B/s" => {
                vec![(Style::Bold, show_levels(change, factor, look.ascii))]
            }
            (None, _) => vec![(Style::Bold, number), (Style::Dim, format!("{half:>wide$}"))],
        }
    };
    let cells = rows.iter().zip(align(&values, factor)).zip(halves).map(cell).collect();
    let unit = if wide == 0 { unit.into() } else { format!("{unit}{:>wide$}", format!("{sign}%")) };
    Column { unit, right: true, ..Column::styled("throughput", cells) }
}

/// Returns `478→30.0`; for more than two levels, the first and the last.
fn show_levels(change: &LevelChange, factor: f64, ascii: bool) -> String {
    let (first, last) = change.first_and_last();
    let [first, last] = [first, last].map(|level| column::figure(level.summary.median / factor));
    format!("{first}{}{last}", if ascii { "->" } else { "→" })
}

/// Returns the duration of a trial, or of a pass where one was requested. Users who set the number
/// of operations, or request the XOR of what was read, want exactly that time.
fn trial_time(rows: &[&CellResult]) -> Option<Column> {
    rows.iter().any(|r| r.cell.count.is_some() || r.cell.xor).then(|| {
        let nanos = |result: &&CellResult| {
            let one_pass = result.cell.count == Some(0);
            let passes = |trial: &Trial| if one_pass { trial.passes.max(1) } else { 1 };
            trial_median(result, |trial| trial.nanos as f64 / passes(trial) as f64)
        };
        let values: Vec<Option<f64>> = rows.iter().map(nanos).collect();
        let (factor, unit) = column::unit(values.iter().flatten().copied(), TIME);
        Column::numbers("time", unit, 0, column::align_with(&values, factor, column::four_digits))
    })
}

fn trial_median(result: &CellResult, value: impl Fn(&Trial) -> f64) -> Option<f64> {
    let values: Vec<f64> = result.trials.iter().map(|t| value(t)).collect();
    stats::median(&values)
}

/// Percentiles in one unit, so that they can be compared along the row.
fn latencies(rows: &[&CellResult]) -> Vec<Column> {
    let of = |get: fn(&crate::analysis::LatencyOf) -> Option<f64>| -> Vec<Option<f64>> {
        rows.iter().map(|r| r.latency.as_ref().and_then(get)).collect()
    };
    let all = [
        ("p50", 4, of(|l| l.p50)),
        ("p99", 5, of(|l| l.p99)),
        ("p99.9", 9, of(|l| l.p999)),
        ("max", 10, of(|l| Some(l.max))),
    ];
    // The extremes do not determine the unit: one slow operation would hide the others' digits.
    let usual = all[..2].iter().flat_map(|(.., values)| values.iter().flatten().copied());
    let (factor, unit) = column::unit(usual, TIME);
    let known = all.into_iter().filter(|(_, _, values)| values.iter().any(Option::is_some));
    // A percentile alone would be mistaken for the usual latency.
    let column = |(title, rank, values): (&'static str, u8, Vec<Option<f64>>)| Column {
        needs: if title == "p50" { "" } else { "p50" },
        ..Column::numbers(title, unit, rank, align(&values, factor))
    };
    known.map(column).collect()
}

/// Returns the share of one processor that the workers used, user and kernel.
fn cpu_share(rows: &[&CellResult]) -> Option<Column> {
    fn share(t: &Trial) -> f64 {
        if t.nanos == 0 {
            0.0
        } else {
            100.0 * (t.user_nanos as f64 + t.system_nanos as f64) / t.nanos as f64
        }
    }
    // Older sessions of peers counted the CPU time of their start, too.
    let most = |row: &CellResult| match row.cell.backend.peer {
        true => 100.0 * f64::from(row.cell.threads),
        false => f64::INFINITY,
    };
    let of = |row: &&CellResult| Some(trial_median(row, share)?.min(most(row)));
    let values: Vec<Option<f64>> = rows.iter().map(of).collect();
    fn text(v: &Option<f64>) -> String {
        v.map_or("-".into(), |v| format!("{v:.0}"))
    }
    values
        .iter()
        .any(|v| v.is_some_and(|v| v > 0.0))
        .then(|| Column::numbers("CPU", "%", 8, values.iter().map(text).collect()))
}

/// Returns the XOR of the data, if it was computed: only on request.
fn checksum(rows: &[&CellResult]) -> Option<Column> {
    rows.iter().any(|r| r.trials.iter().any(|t| t.xor.is_some())).then(|| {
        fn text(row: &&CellResult) -> String {
            let mut values = row.trials.iter().filter_map(|t| t.xor);
            match values.next() {
                None => "-".into(),
                Some(first) if values.all(|v| v == first) => first.to_string(),
                Some(_) => "differs".into(),
            }
        }
        words("XOR", 0, rows, text)
    })
}
