//! The columns of results: what varies, what was measured, where the bytes came from, and whether
//! it can be trusted.
//!
//! The screen shows the columns of reports and some more, so that a figure has one name, one unit
//! and one rank.

use super::column_parts::{distinguishing_columns, words};
use super::findings::GroupedWarnings;
use super::grid::{Cell, Column, Style};
use super::origin;
use crate::analysis::{CellResult, SummaryOf};
use crate::record::{LevelChange, Trial};
use crate::report::Look;
use crate::stats;
use crate::units::column::{self, PER_SECOND, TIME, Unit, align, align_with, four_digits};
use crate::units::show_percent;

/// Where a column is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ColumnPlace {
    Everywhere,
    Report,
    /// The screen can drop columns, and has room for more.
    Screen,
}

/// The unit of a column of figures, and its digits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    PerSecond,
    /// Nanoseconds of a trial, with a digit more than others.
    TrialTime,
    /// Nanoseconds, in one unit for all such columns, so that they compare along the row.
    Latency,
    Percent,
    /// Half of an interval's width in percent.
    HalfWidth,
    /// Nanoseconds per byte.
    PerByte,
}

/// When a column is shown.
#[derive(Clone, Copy)]
enum ShownWhen {
    Always,
    /// Some cell has a value above 0.
    Known,
    If(fn(&[&CellResult]) -> bool),
}

/// A column of figures.
struct ResultColumn {
    title: &'static str,
    /// Rank 0 is always shown; of the others, the lowest takes precedence.
    rank: u8,
    /// The title of the column that this one requires; empty: none.
    needs: &'static str,
    place: ColumnPlace,
    when: ShownWhen,
    kind: ColumnKind,
    value: fn(&CellResult) -> Option<f64>,
}

/// Returns a column that is shown everywhere.
const fn figures(
    title: &'static str,
    rank: u8,
    when: ShownWhen,
    kind: ColumnKind,
    value: fn(&CellResult) -> Option<f64>,
) -> ResultColumn {
    ResultColumn { title, rank, needs: "", place: ColumnPlace::Everywhere, when, kind, value }
}

/// Returns a latency, which without p50 would be mistaken for the usual one.
const fn latency(
    title: &'static str,
    rank: u8,
    value: fn(&CellResult) -> Option<f64>,
) -> ResultColumn {
    ResultColumn {
        needs: "p50",
        ..figures(title, rank, ShownWhen::Known, ColumnKind::Latency, value)
    }
}

/// The columns of figures between the throughput and the source of the bytes.
const FIGURES: &[ResultColumn] = &[
    ResultColumn {
        place: ColumnPlace::Screen,
        ..figures("±", 2, ShownWhen::Always, ColumnKind::HalfWidth, half_width)
    },
    ResultColumn {
        place: ColumnPlace::Report,
        ..figures("time", 0, ShownWhen::If(wants_time), ColumnKind::TrialTime, trial_time)
    },
    figures("ops", 3, ShownWhen::Always, ColumnKind::PerSecond, operations),
    figures("calls", 7, ShownWhen::If(calls_differ), ColumnKind::PerSecond, calls),
    figures("p50", 4, ShownWhen::Known, ColumnKind::Latency, |row| row.latency?.p50),
    latency("p99", 5, |row| row.latency?.p99),
    latency("p99.9", 9, |row| row.latency?.p999),
    latency("max", 10, |row| Some(row.latency?.max)),
    figures("CPU", 8, ShownWhen::Known, ColumnKind::Percent, cpu_share),
    ResultColumn {
        place: ColumnPlace::Screen,
        ..figures("CPU", 11, ShownWhen::Known, ColumnKind::PerByte, |row| {
            Some(row.cpu_per_byte()?.median)
        })
    },
];

/// Returns all columns of a report; the most useful have the lowest rank.
pub fn columns(
    rows: &[&CellResult],
    findings: &GroupedWarnings,
    look: &Look,
    tight: bool,
) -> Vec<Column> {
    let mut columns = distinguishing_columns(rows, &[], tight);
    columns.push(throughput(rows, look));
    columns.extend(measured_columns(rows, ColumnPlace::Report));
    let marks = rows.iter().map(|r| findings.mark(r, look.ascii));
    columns.push(Column::styled("", marks.collect()));
    columns.iter_mut().for_each(|column| column.make_safe(look));
    columns
}

/// Returns the columns of what was measured but the throughput, and of the source of the bytes, in
/// one of the two places.
pub fn measured_columns(rows: &[&CellResult], place: ColumnPlace) -> Vec<Column> {
    let shown = |column: &&ResultColumn| [ColumnPlace::Everywhere, place].contains(&column.place);
    let mut columns: Vec<Column> =
        FIGURES.iter().filter(shown).filter_map(|column| column.build(rows)).collect();
    if rows.iter().any(|row| row.xor().is_some()) {
        columns.push(words("XOR", 0, rows, |row| row.xor().unwrap_or_else(|| "-".into())));
    }
    columns.push(words("from", 1, rows, |row| origin::main_source(row)));
    if rows.iter().any(|row| !origin::other_sources(row).is_empty()) {
        let others = words("and", 6, rows, |row| origin::other_sources(row));
        columns.push(Column { needs: "from", ..others });
    }
    columns
}

impl ResultColumn {
    /// Builds the column for these cells; `None` if it is not shown.
    fn build(&self, rows: &[&CellResult]) -> Option<Column> {
        let values: Vec<Option<f64>> = rows.iter().map(|row| (self.value)(row)).collect();
        let is_shown = match self.when {
            ShownWhen::Always => true,
            ShownWhen::Known => values.iter().flatten().any(|value| *value > 0.0),
            ShownWhen::If(holds) => holds(rows),
        };
        if !is_shown {
            return None;
        }
        // A row that moves no bytes has no other figure.
        let has_only =
            |row: &&CellResult| throughput_median(row).is_none() && operations(row).is_some();
        let is_main = self.title == "ops" && rows.iter().any(has_only);
        let rank = if is_main { 0 } else { self.rank };
        let known = values.iter().flatten().copied();
        let unit: Unit = match self.kind {
            ColumnKind::PerSecond => column::unit(known, PER_SECOND),
            ColumnKind::TrialTime => column::unit(known, TIME),
            // The extremes do not determine the unit: one slow operation would hide the others'
            // digits.
            ColumnKind::Latency => {
                let latencies = rows.iter().filter_map(|row| row.latency);
                column::unit(latencies.flat_map(|of| [of.p50, of.p99]).flatten(), TIME)
            }
            ColumnKind::Percent | ColumnKind::HalfWidth => (1.0, "%"),
            ColumnKind::PerByte => (1.0, "ns/B"),
        };
        let whole =
            |show: fn(f64) -> String| Column::exact(self.title, unit.1, rank, &values, show);
        let column = match self.kind {
            ColumnKind::Percent => whole(|share| format!("{share:.0}")),
            ColumnKind::HalfWidth => whole(show_percent),
            ColumnKind::TrialTime => {
                let texts = align_with(&values, unit.0, four_digits);
                let column = Column::numbers(self.title, unit.1, rank, texts);
                Column { values, ..column }
            }
            _ => Column::in_unit(self.title, rank, &values, unit),
        };
        Some(Column { needs: self.needs, ..column })
    }
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

fn calls(result: &CellResult) -> Option<f64> {
    median(&result.syscalls)
}

/// Returns whether some cell makes more or fewer system calls than operations.
fn calls_differ(rows: &[&CellResult]) -> bool {
    let both = |row: &&CellResult| calls(row).zip(operations(row));
    rows.iter().filter_map(both).any(|(calls, ops)| (calls - ops).abs() > 0.01 * ops)
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
    Column { unit, right: true, values, ..Column::styled("throughput", cells) }
}

/// Returns `478→30.0`; for more than two levels, the first and the last.
fn show_levels(change: &LevelChange, factor: f64, ascii: bool) -> String {
    let (first, last) = change.first_and_last();
    let [first, last] = [first, last].map(|level| column::figure(level.summary.median / factor));
    format!("{first}{}{last}", if ascii { "->" } else { "→" })
}

/// Returns half of the width of the interval of its rate, in percent.
pub fn half_width(row: &CellResult) -> Option<f64> {
    Some(100.0 * row.throughput.or(row.operations)?.summary.half_width()?)
}

/// Returns whether users set the number of operations, or requested the XOR of what was read: they
/// want exactly that time.
fn wants_time(rows: &[&CellResult]) -> bool {
    rows.iter().any(|row| row.cell.count.is_some() || row.cell.xor)
}

/// Returns the duration of a trial, or of a pass where one was requested.
fn trial_time(row: &CellResult) -> Option<f64> {
    let one_pass = row.cell.count == Some(0);
    let passes = |trial: &Trial| if one_pass { trial.passes.max(1) } else { 1 };
    trial_median(row, |trial| trial.nanos as f64 / passes(trial) as f64)
}

fn trial_median(row: &CellResult, value: impl Fn(&Trial) -> f64) -> Option<f64> {
    stats::median(&row.trials.iter().map(|trial| value(trial)).collect::<Vec<f64>>())
}

/// Returns the share of one processor that the workers used, user and kernel, in percent.
fn cpu_share(row: &CellResult) -> Option<f64> {
    let share = trial_median(row, |trial| match trial.nanos {
        0 => 0.0,
        nanos => 100.0 * (trial.user_nanos as f64 + trial.system_nanos as f64) / nanos as f64,
    })?;
    // Older sessions of peers counted the CPU time of their start, too.
    let is_peer = row.cell.backend.peer;
    Some(if is_peer { share.min(100.0 * f64::from(row.cell.threads)) } else { share })
}
