//! The table's columns, made once for all rows: what tells cells apart, what was measured, whether it can be trusted.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::super::curves::Metric;
use super::super::shown::Shown;
use super::super::view::pane;
use crate::experiment::MEASURE;
use crate::plan::Job;
use crate::record::{Severity, Trial};
use crate::report::table::{axes, origin, runs};
use crate::session::{CellResult, TrialWork, moves_data};
use crate::stats::median;
use crate::units;
use crate::units::column::{self, PER_SECOND, RATE, TIME, Unit, aligned};

/// What a column is sorted by.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    Number(f64),
    Word(String),
}

/// How a column's text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Backend,
    Word,
    /// The figure of the table.
    Main,
    Number,
    Badge,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub title: String,
    pub unit: String,
    /// What goes first where there is no room; 0 stays.
    pub rank: u8,
    pub right: bool,
    pub look: Look,
    pub width: usize,
    pub texts: Vec<String>,
    pub keys: Vec<Key>,
}

/// Rows are results, then what was skipped.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    pub columns: Vec<Column>,
    /// Columns that name the cell; the others are empty where nothing was measured.
    pub named: usize,
    /// Results and skipped cells in their natural order, and before which a group begins.
    pub order: Vec<usize>,
    pub breaks: Vec<bool>,
    pub results: usize,
    /// Each row in lower case, for the filter.
    pub texts: Vec<String>,
}

/// The hue of each result's backend: its place among the backends, as in the curves.
pub fn hues(results: &[CellResult]) -> Vec<usize> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut hue = |result: &CellResult| {
        let next = known.len();
        *known.entry(result.cell.backend.to_string()).or_insert(next)
    };
    results.iter().map(&mut hue).collect()
}

impl Sheet {
    pub fn of(shown: &Shown) -> Sheet {
        let (results, skipped) = (shown.results.as_slice(), shown.skipped.as_slice());
        let rows: Vec<&CellResult> = results.iter().collect();
        let jobs: Vec<&Job> = results.iter().map(|r| &r.cell).chain(skipped.iter().map(|s| &s.cell)).collect();
        let mut columns: Vec<Column> =
            axes::AXES.iter().filter(|axis| axis.always || axis.varies(jobs.iter().copied())).map(|axis| named(axis, &jobs)).collect();
        let names = columns.len();
        columns.extend(measured(&rows));
        columns.extend(moved(&rows, shown.session.plan.experiment == MEASURE));
        columns.extend(each_trial(&rows, shown.session.plan.trials));
        columns.extend(trusted(&rows));
        let (mut order, mut breaks) = axes::order(results);
        order.extend(results.len()..jobs.len());
        breaks.extend((results.len()..jobs.len()).map(|index| index == results.len()));
        let outcome = |row: usize| match results.get(row) {
            Some(CellResult { error: Some(error), .. }) => format!("failed {error}"),
            Some(_) => String::new(),
            None => skipped.get(row - results.len()).map_or(String::new(), |s| format!("skipped {}", s.reason)),
        };
        let text = |row: usize| {
            let words = columns.iter().filter(|column| !matches!(column.look, Look::Main | Look::Number));
            let words = words.filter_map(|column| column.texts.get(row)).map(|text| text.trim().to_lowercase());
            words.chain([outcome(row).to_lowercase()]).collect::<Vec<_>>().join(" ")
        };
        let texts = (0..jobs.len()).map(text).collect();
        Sheet { columns, named: names, order, breaks, results: results.len(), texts }
    }

    /// The columns that fit; the lowest ranks stay.
    pub fn fit(&self, width: usize) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        loop {
            let total: usize = shown.iter().map(|i| self.columns[*i].width + GAP).sum();
            let highest = shown.iter().map(|i| self.columns[*i].rank).max().unwrap_or(0);
            if highest == 0 || total <= width + GAP {
                return shown;
            }
            shown.retain(|i| self.columns[*i].rank < highest);
        }
    }

    /// Whether a column is sorted from the largest down: figures are, what names a cell is not.
    pub fn falls(&self, column: usize) -> bool {
        column >= self.named && self.columns.get(column).is_some_and(|own| own.look != Look::Word)
    }

    /// Rows that have every word of the filter, in the order of a column.
    pub fn rows(&self, filter: &str, sort: Option<(usize, bool)>) -> Vec<usize> {
        let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
        let matches = |row: &usize| self.texts.get(*row).is_some_and(|text| words.iter().all(|word| text.contains(word.as_str())));
        let mut rows: Vec<usize> = self.order.iter().copied().filter(matches).collect();
        if let Some((column, reversed)) = sort
            && let Some(column) = self.columns.get(column)
        {
            rows.sort_by(|a, b| compare(column.keys.get(*a), column.keys.get(*b), reversed));
        }
        rows
    }
}

/// Spaces between columns.
pub const GAP: usize = 2;

/// What has no value comes last in both directions.
fn compare(a: Option<&Key>, b: Option<&Key>, reversed: bool) -> Ordering {
    let known = |key: Option<&Key>| matches!(key, Some(Key::Number(n)) if !n.is_nan()) || matches!(key, Some(Key::Word(_)));
    let ordered = match (a, b) {
        _ if !known(a) || !known(b) => return known(b).cmp(&known(a)),
        (Some(Key::Number(a)), Some(Key::Number(b))) => a.total_cmp(b),
        (Some(Key::Word(a)), Some(Key::Word(b))) => a.cmp(b),
        _ => Ordering::Equal,
    };
    if reversed { ordered.reverse() } else { ordered }
}

fn column(title: &str, rank: u8, look: Look, texts: Vec<String>, keys: Vec<Key>) -> Column {
    let width = texts.iter().map(|text| pane::width(text)).chain([pane::width(title)]).max().unwrap_or(0);
    Column { title: title.into(), unit: String::new(), rank, right: false, look, width, texts, keys }
}

fn named(axis: &axes::Axis, jobs: &[&Job]) -> Column {
    let texts: Vec<String> = jobs.iter().map(|job| (axis.value)(job)).collect();
    let key = |(job, text): (&&Job, &String)| match axis.number {
        true => Key::Number(axis.figure(job).unwrap_or(f64::NAN)),
        false => Key::Word(text.clone()),
    };
    let keys = jobs.iter().zip(&texts).map(key).collect();
    let look = if axis.name == "backend" { Look::Backend } else { Look::Word };
    Column { right: axis.number, ..column(axis.name, 0, look, texts, keys) }
}

fn numbers(title: &str, rank: u8, values: &[Option<f64>], (factor, unit): Unit) -> Column {
    let keys = values.iter().map(|value| Key::Number(value.unwrap_or(f64::NAN))).collect();
    let made = column(title, rank, Look::Number, aligned(values, factor), keys);
    Column { unit: unit.into(), right: true, width: made.width.max(pane::width(unit)), ..made }
}

fn measured(rows: &[&CellResult]) -> Vec<Column> {
    let of = |metric: Metric| -> Vec<Option<f64>> { rows.iter().map(|row| metric.of(row).map(|(median, ..)| median)).collect() };
    let unit = |values: &[Option<f64>], units: &[Unit]| column::unit(values.iter().flatten().copied(), units);
    let (rates, ops, calls) = (of(Metric::Throughput), of(Metric::Operations), of(Metric::SystemCalls));
    let mut columns = Vec::new();
    if rates.iter().any(Option::is_some) {
        columns.push(Column { look: Look::Main, ..numbers("throughput", 0, &rates, unit(&rates, RATE)) });
    }
    let main = if columns.is_empty() { Look::Main } else { Look::Number };
    columns.push(half_widths(rows));
    let rank = if main == Look::Main { 0 } else { 3 };
    columns.push(Column { look: main, ..numbers("ops", rank, &ops, unit(&ops, PER_SECOND)) });
    let differ = |(calls, ops): (&Option<f64>, &Option<f64>)| matches!((calls, ops), (Some(c), Some(o)) if (c - o).abs() > 0.01 * o);
    if calls.iter().zip(&ops).any(differ) {
        columns.push(numbers("calls", 7, &calls, unit(&calls, PER_SECOND)));
    }
    columns.extend(latencies(rows));
    let processor: Vec<Option<f64>> = rows.iter().map(|row| processor(row)).collect();
    if processor.iter().flatten().any(|share| *share > 0.0) {
        columns.push(Column {
            texts: processor.iter().map(|share| share.map_or("-".into(), |share| format!("{share:.0}"))).collect(),
            ..numbers("CPU", 8, &processor, (1.0, "%"))
        });
    }
    let per_byte = of(Metric::Cpu);
    if per_byte.iter().flatten().any(|nanos| *nanos > 0.0) {
        columns.push(numbers("CPU", 9, &per_byte, (1.0, "ns/B")));
    }
    for column in &mut columns {
        let texts = column.texts.iter().map(|text| pane::width(text));
        column.width = texts.chain([pane::width(&column.title), pane::width(&column.unit)]).max().unwrap_or(0);
    }
    columns
}

/// The trials one by one and their mean, where a few were asked for: the first to go where there is no room.
fn each_trial(rows: &[&CellResult], asked: Option<u32>) -> Vec<Column> {
    let Some(asked) = asked.filter(|trials| (2..=runs::MOST).contains(trials)) else { return Vec::new() };
    let (of, units): (fn(&Trial) -> f64, _) = match rows.iter().any(|row| moves_data(&row.cell)) {
        true => (|trial| if trial.bytes > 0 { trial.throughput() } else { f64::NAN }, RATE),
        false => (Trial::operations, PER_SECOND),
    };
    let mut all = runs::figures(asked, rows, of);
    // A cell that only makes calls has no rate among cells that move bytes.
    all.iter_mut().flat_map(|(_, values)| values).for_each(|value| *value = value.filter(|rate| rate.is_finite()));
    let unit = column::unit(all.iter().flat_map(|(_, values)| values).flatten().copied(), units);
    all.iter().filter(|(_, values)| values.iter().any(Option::is_some)).map(|(title, values)| numbers(title, 13, values, unit)).collect()
}

/// What a trial moved and how long it took: never left out where the count was asked for or is what was looked for. And the XOR.
fn moved(rows: &[&CellResult], measure: bool) -> Vec<Column> {
    let asked = rows.iter().any(|row| row.cell.count.is_some());
    // The count has a column already where each row was told its own.
    let told = rows.iter().all(|row| row.cell.count.is_some_and(|count| count > 0));
    let works: Vec<Option<TrialWork>> = rows.iter().map(|row| work(row, measure)).collect();
    let of = |value: fn(&TrialWork) -> f64| -> Vec<Option<f64>> { works.iter().map(|work| work.as_ref().map(value)).collect() };
    let (counts, bytes, times) = (of(|work| work.operations() as f64), of(|work| work.bytes), of(|work| work.nanos));
    let written = |values: &[Option<f64>], text: fn(f64) -> String| values.iter().map(|v| v.map_or("-".into(), text)).collect::<Vec<_>>();
    let exact = |title: &str, rank: u8, values: &[Option<f64>], text: fn(f64) -> String| {
        let texts = written(values, text);
        let width = texts.iter().map(|text| pane::width(text)).chain([pane::width(title)]).max().unwrap_or(0);
        Column { texts, width, ..numbers(title, rank, values, (1.0, "")) }
    };
    let mut columns = Vec::new();
    if !told && works.iter().any(Option::is_some) {
        columns.push(exact("count", if measure { 0 } else { 12 }, &counts, |count| format!("{count:.0}")));
    }
    if bytes.iter().flatten().any(|bytes| *bytes > 0.0) {
        columns.push(exact("size", if measure { 0 } else { 11 }, &bytes, |bytes| units::show_bytes(bytes as u64)));
    }
    if times.iter().any(Option::is_some) {
        let unit = column::unit(times.iter().flatten().copied(), TIME);
        columns.push(numbers("time", if measure || asked { 0 } else { 10 }, &times, unit));
    }
    if rows.iter().any(|row| row.trials.iter().any(|trial| trial.xor.is_some())) {
        let texts: Vec<String> = rows.iter().map(|row| xor(row).unwrap_or_else(|| "-".into())).collect();
        let keys = texts.iter().map(|text| Key::Word(text.clone())).collect();
        columns.push(column("XOR", 0, Look::Word, texts, keys));
    }
    columns
}

/// What a cell's trials do; of a `pass` over what is read, as the count that was looked for is.
pub fn work(row: &CellResult, pass: bool) -> Option<TrialWork> {
    let work = row.work()?;
    Some(if pass { work.of_a_pass() } else { work })
}

/// The XOR of a cell's data: `213d4629`, or that its trials differ; `None` where none was folded.
pub fn xor(row: &CellResult) -> Option<String> {
    let mut found = row.trials.iter().filter_map(|trial| trial.xor);
    let first = found.next()?;
    Some(if found.all(|other| other == first) { first.to_string() } else { "differs".into() })
}

/// Half of the interval's width in percent.
fn half_widths(rows: &[&CellResult]) -> Column {
    let half = |row: &&CellResult| row.throughput.or(row.operations).and_then(|of| of.summary.half_width()).map(|half| half * 100.0);
    let values: Vec<Option<f64>> = rows.iter().map(half).collect();
    let text = |value: &Option<f64>| value.map_or(String::new(), percent);
    Column { texts: values.iter().map(text).collect(), ..numbers("±", 2, &values, (1.0, "%")) }
}

/// `1.5`, `12`.
pub fn percent(value: f64) -> String {
    if value >= 9.95 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// Percentiles in one unit, so that they can be compared along the row.
fn latencies(rows: &[&CellResult]) -> Vec<Column> {
    let of = |get: fn(&crate::session::LatencyOf) -> Option<f64>| -> Vec<Option<f64>> {
        rows.iter().map(|row| row.latency.as_ref().and_then(get)).collect()
    };
    let all = [("p50", 4, of(|l| l.p50)), ("p99", 5, of(|l| l.p99)), ("p99.9", 10, of(|l| l.p999)), ("max", 11, of(|l| Some(l.max)))];
    // The extremes do not choose the unit: one slow operation would hide the others' digits.
    let unit = column::unit(all[..2].iter().flat_map(|(_, _, values)| values.iter().flatten().copied()), TIME);
    let known = all.iter().filter(|(_, _, values)| values.iter().any(Option::is_some));
    known.map(|(title, rank, values)| numbers(title, *rank, values, unit)).collect()
}

/// Share of one processor that the workers used.
fn processor(row: &CellResult) -> Option<f64> {
    let share = |t: &Trial| if t.nanos == 0 { 0.0 } else { 100.0 * (t.user_nanos as f64 + t.system_nanos as f64) / t.nanos as f64 };
    let values: Vec<f64> = row.trials.iter().map(|trial| share(trial)).collect();
    median(&values)
}

/// Where the bytes came from, and the verdict.
fn trusted(rows: &[&CellResult]) -> Vec<Column> {
    let words = |texts: &[String]| texts.iter().map(|text| Key::Word(text.clone())).collect::<Vec<_>>();
    let from: Vec<String> = rows.iter().map(|row| origin::main(row)).collect();
    let mut columns = vec![column("from", 1, Look::Word, from.clone(), words(&from))];
    let rest: Vec<String> = rows.iter().map(|row| origin::rest(row)).collect();
    if rest.iter().any(|text| !text.is_empty()) {
        columns.push(column("and", 6, Look::Word, rest.clone(), words(&rest)));
    }
    let severity = |row: &&CellResult| f64::from(row.warnings.iter().map(|w| w.severity).max().map_or(0, |worst| 1 + worst as u8));
    // The sign is drawn by severity; the width is that of a sign, or of `ok`.
    let badge = column("", 0, Look::Badge, vec!["ok".into(); rows.len()], rows.iter().map(|r| Key::Number(severity(r))).collect());
    columns.push(badge);
    let ids: Vec<String> = rows.iter().map(|row| ids(row)).collect();
    if ids.iter().any(|text| !text.is_empty()) {
        columns.push(column("warnings", 6, Look::Word, ids.clone(), words(&ids)));
    }
    columns
}

/// The names of a result's warnings, the worst first; notes only where there is nothing worse.
pub fn ids(row: &CellResult) -> String {
    let worse: Vec<&str> = row.warnings.iter().filter(|w| w.severity > Severity::Note).map(|w| w.id.as_ref()).collect();
    let all: Vec<&str> = row.warnings.iter().map(|w| w.id.as_ref()).collect();
    let told = if worse.is_empty() { all } else { worse };
    match told.as_slice() {
        [first, second, rest @ ..] if !rest.is_empty() => format!("{first}, {second} +{}", rest.len()),
        told => told.join(", "),
    }
}
