//! The columns of measured values, for all rows at once.

use super::column::{Column, Key, Look, number_column, text_column};
use crate::analysis::{CellResult, TrialWork};
use crate::catalog::moves_data;
use crate::record::Trial;
use crate::report::table::runs;
use crate::stats::median;
use crate::tui::curves::Metric;
use crate::tui::view::pane;
use crate::units::column::{self as unit_of, PER_SECOND, TIME, Unit};
use crate::units::{self, Rates};

/// Builds the columns of throughput, operations, system calls, latencies and CPU time, as measured.
pub fn result_columns(rows: &[&CellResult], shown: Rates) -> Vec<Column> {
    let of = |metric: Metric| -> Vec<Option<f64>> {
        rows.iter().map(|row| metric.value_of(row).map(|(median, ..)| median)).collect()
    };
    let unit = |values: &[Option<f64>], units: &[Unit]| {
        unit_of::unit(values.iter().flatten().copied(), units)
    };
    let (rates, ops, calls) =
        (of(Metric::Throughput), of(Metric::Operations), of(Metric::SystemCalls));
    let mut columns = Vec::new();
    if rates.iter().any(Option::is_some) {
        columns.push(Column {
            look: Look::Main,
            ..number_column("throughput", 0, &rates, unit(&rates, shown.units()))
        });
    }
    let main = if columns.is_empty() { Look::Main } else { Look::Number };
    columns.push(interval_column(rows));
    let rank = if main == Look::Main { 0 } else { 3 };
    columns.push(Column { look: main, ..number_column("ops", rank, &ops, unit(&ops, PER_SECOND)) });
    let differs = calls.iter().zip(&ops).any(|(calls, ops)| match (calls, ops) {
        (Some(calls), Some(ops)) => (calls - ops).abs() > 0.01 * ops,
        _ => false,
    });
    if differs {
        columns.push(number_column("calls", 7, &calls, unit(&calls, PER_SECOND)));
    }
    columns.extend(latency_columns(rows));
    let cpu_shares: Vec<Option<f64>> = rows.iter().map(|row| cpu_share(row)).collect();
    if cpu_shares.iter().flatten().any(|share| *share > 0.0) {
        columns.push(Column {
            texts: cpu_shares
                .iter()
                .map(|share| share.map_or("-".into(), |share| format!("{share:.0}")))
                .collect(),
            ..number_column("CPU", 8, &cpu_shares, (1.0, "%"))
        });
    }
    let per_byte = of(Metric::Cpu);
    if per_byte.iter().flatten().any(|nanos| *nanos > 0.0) {
        columns.push(number_column("CPU", 9, &per_byte, (1.0, "ns/B")));
    }
    for column in &mut columns {
        let texts = column.texts.iter().map(|text| pane::width(text));
        column.width =
            texts.chain([pane::width(&column.title), pane::width(&column.unit)]).max().unwrap_or(0);
    }
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
    let unit = unit_of::unit(all.iter().flat_map(|(_, values)| values).flatten().copied(), units);
    all.iter()
        .filter(|(_, values)| values.iter().any(Option::is_some))
        .map(|(title, values)| number_column(title, 13, values, unit))
        .collect()
}

/// Builds the columns of count, size and time of a trial, always shown if the count was requested
/// or is the goal, and the XOR.
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
    fn show_values(values: &[Option<f64>], text: fn(f64) -> String) -> Vec<String> {
        values.iter().map(|v| v.map_or("-".into(), text)).collect::<Vec<_>>()
    }
    let exact = |title: &str, rank: u8, values: &[Option<f64>], text: fn(f64) -> String| {
        let texts = show_values(values, text);
        let width = texts
            .iter()
            .map(|text| pane::width(text))
            .chain([pane::width(title)])
            .max()
            .unwrap_or(0);
        Column { texts, width, ..number_column(title, rank, values, (1.0, "")) }
    };
    let mut columns = Vec::new();
    if !has_count_column && works.iter().any(Option::is_some) {
        columns.push(exact("count", if measure { 0 } else { 12 }, &counts, |count| {
            format!("{count:.0}")
        }));
    }
    if bytes.iter().flatten().any(|bytes| *bytes > 0.0) {
        columns.push(exact("size", if measure { 0 } else { 11 }, &bytes, |bytes| {
            units::show_bytes(bytes as u64)
        }));
    }
    if times.iter().any(Option::is_some) {
        let unit = unit_of::unit(times.iter().flatten().copied(), TIME);
        columns.push(number_column(
            "time",
            if measure || has_count { 0 } else { 10 },
            &times,
            unit,
        ));
    }
    if rows.iter().any(|row| row.trials.iter().any(|trial| trial.xor.is_some())) {
        let texts: Vec<String> =
            rows.iter().map(|row| cell_xor(row).unwrap_or_else(|| "-".into())).collect();
        let keys = texts.iter().map(|text| Key::Word(text.clone())).collect();
        columns.push(text_column("XOR", 0, Look::Word, texts, keys));
    }
    columns
}

/// Returns the work of a trial of a cell; with `pass`, of one pass over the data.
pub fn trial_work(row: &CellResult, pass: bool) -> Option<TrialWork> {
    let work = row.work()?;
    Some(if pass { work.of_a_pass() } else { work })
}

/// Returns the XOR of a cell's data, `213d4629`, or `differs`; `None` if none was computed.
pub fn cell_xor(row: &CellResult) -> Option<String> {
    let mut found = row.trials.iter().filter_map(|trial| trial.xor);
    let first = found.next()?;
    Some(if found.all(|other| other == first) { first.to_string() } else { "differs".into() })
}

/// Builds the column of half the interval's width in percent.
fn interval_column(rows: &[&CellResult]) -> Column {
    fn half(row: &&CellResult) -> Option<f64> {
        row.throughput
            .or(row.operations)
            .and_then(|of| of.summary.half_width())
            .map(|half| half * 100.0)
    }
    let values: Vec<Option<f64>> = rows.iter().map(half).collect();
    fn text(value: &Option<f64>) -> String {
        value.map_or(String::new(), units::show_percent)
    }
    Column {
        texts: values.iter().map(text).collect(),
        ..number_column("±", 2, &values, (1.0, "%"))
    }
}

/// Builds the percentile columns in one unit, so that they compare along the row.
fn latency_columns(rows: &[&CellResult]) -> Vec<Column> {
    let of = |get: fn(&crate::analysis::LatencyOf) -> Option<f64>| -> Vec<Option<f64>> {
        rows.iter().map(|row| row.latency.as_ref().and_then(get)).collect()
    };
    let all = [
        ("p50", 4, of(|l| l.p50)),
        ("p99", 5, of(|l| l.p99)),
        ("p99.9", 10, of(|l| l.p999)),
        ("max", 11, of(|l| Some(l.max))),
    ];
    // The extremes do not choose the unit: one slow operation would hide the others' digits.
    let unit = unit_of::unit(
        all[..2].iter().flat_map(|(_, _, values)| values.iter().flatten().copied()),
        TIME,
    );
    let known = all.iter().filter(|(_, _, values)| values.iter().any(Option::is_some));
    known.map(|(title, rank, values)| number_column(title, *rank, values, unit)).collect()
}

/// Returns the CPU time of the workers in percent of one CPU.
fn cpu_share(row: &CellResult) -> Option<f64> {
    fn share(t: &Trial) -> f64 {
        if t.nanos == 0 {
            0.0
        } else {
            100.0 * (t.user_nanos as f64 + t.system_nanos as f64) / t.nanos as f64
        }
    }
    let values: Vec<f64> = row.trials.iter().map(|trial| share(trial)).collect();
    median(&values)
}
