//! The table: its columns, built once for all rows, and which of them fit.

use std::cmp::Ordering;

use crate::analysis::{Axis, CellResult, SKIPPED_BY_USER, TrialWork, brief_words, group_by_key};
use crate::catalog::moves_data;
use crate::experiment::MEASURE;
use crate::plan::Job;
use crate::record::Trial;
use crate::report::table::columns::{ColumnPlace, measured_columns, throughput_median};
use crate::report::table::{axes, grid, runs};
use crate::session_view::SessionView;
use crate::units::column::{self, PER_SECOND, TIME};
use crate::units::{self, Rates};

/// The table: rows are results, then skipped cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    pub columns: Vec<Column>,
    /// Number of columns that name the cell; the others are empty for skipped cells.
    pub name_columns: usize,
    /// Results and skipped cells in plan order, and which of them begin a group.
    pub order: Vec<usize>,
    pub breaks: Vec<bool>,
    pub results: usize,
    /// The rows below the results: cells that were skipped for one reason.
    pub skipped: Vec<SkippedRow>,
    /// Each row in lower case, for the filter.
    pub texts: Vec<String>,
}

/// Cells that were skipped for one reason.
#[derive(Debug, Clone, PartialEq)]
pub struct SkippedRow {
    pub reason: String,
    pub cells: usize,
}

impl Sheet {
    pub fn new(shown: &SessionView, unit: Rates) -> Sheet {
        let (results, skipped) = (shown.results.as_slice(), shown.skipped.as_slice());
        let rows: Vec<&CellResult> = results.iter().collect();
        let groups = group_by_key(skipped, |skipped| skipped.reason.as_str());
        let all = results.iter().map(|r| &r.cell).chain(skipped.iter().map(|s| &s.cell));
        let firsts = groups.iter().filter_map(|(_, cells)| Some(&cells.first()?.cell));
        let jobs: Vec<&Job> = results.iter().map(|r| &r.cell).chain(firsts).collect();
        let mut columns: Vec<Column> = Axis::columns()
            .into_iter()
            .filter(|axis| axis.is_always_shown() || axis.differs(all.clone()))
            .map(|axis| axis_column(axis, &jobs))
            .collect();
        let name_columns = columns.len();
        // Cells with the same reason have no name in common.
        let several = (results.len()..).zip(&groups).filter(|(_, (_, cells))| cells.len() > 1);
        for (row, _) in several {
            for column in &mut columns {
                column.texts[row].clear();
                if let Some(value) = column.values.get_mut(row) {
                    *value = None;
                }
            }
        }
        columns.extend(result_columns(&rows, unit));
        columns.extend(work_columns(&rows, shown.session.plan.experiment == MEASURE));
        columns.extend(trial_columns(&rows, shown.session.plan.trials, unit));
        columns.extend(trust_columns(&rows));
        let (mut order, mut breaks) = axes::sort_order(results);
        order.extend(results.len()..jobs.len());
        breaks.extend((results.len()..jobs.len()).map(|index| index == results.len()));
        let outcome = |row: usize| match results.get(row) {
            Some(CellResult { error: Some(error), .. }) => format!("failed {error}"),
            // Ids can be searched for, too.
            Some(result) => {
                result.warnings.iter().map(|w| w.id.as_ref()).collect::<Vec<_>>().join(" ")
            }
            None => groups.get(row - results.len()).map_or(String::new(), |(reason, cells)| {
                let labels: Vec<String> =
                    cells.iter().map(|skipped| skipped.cell.label()).collect();
                format!("{} skipped {reason}", labels.join(" "))
            }),
        };
        let text = |row: usize| {
            let words = columns
                .iter()
                .filter(|column| !matches!(column.look, ColumnLook::Main | ColumnLook::Number));
            let words = words
                .filter_map(|column| column.texts.get(row))
                .map(|text| text.trim().to_lowercase());
            words.chain([outcome(row).to_lowercase()]).collect::<Vec<_>>().join(" ")
        };
        let texts = (0..jobs.len()).map(text).collect();
        let skipped = groups
            .into_iter()
            .map(|(reason, cells)| SkippedRow { reason: reason.into(), cells: cells.len() })
            .collect();
        Sheet { columns, name_columns, order, breaks, results: results.len(), skipped, texts }
    }

    /// Returns the number of cells of a row.
    pub fn cells(&self, row: usize) -> usize {
        let skipped = row.checked_sub(self.results).and_then(|row| self.skipped.get(row));
        skipped.map_or(1, |skipped| skipped.cells)
    }

    /// Returns the columns that fit; the lowest ranks stay.
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

    /// Returns whether a column sorts from the largest down, as figures do.
    pub fn sorts_descending(&self, column: usize) -> bool {
        column >= self.name_columns
            && self.columns.get(column).is_some_and(|column| column.look != ColumnLook::Word)
    }

    /// Returns the rows that contain every word of the filter, sorted by a column.
    pub fn rows(&self, filter: &str, sort: Option<(usize, bool)>) -> Vec<usize> {
        let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
        let matches = |row: &usize| {
            self.texts
                .get(*row)
                .is_some_and(|text| words.iter().all(|word| text.contains(word.as_str())))
        };
        let mut rows: Vec<usize> = self.order.iter().copied().filter(matches).collect();
        if let Some((column, reversed)) = sort
            && let Some(column) = self.columns.get(column)
        {
            rows.sort_by(|a, b| column.compare(*a, *b, reversed));
        }
        rows
    }
}

/// Spaces between columns.
pub const GAP: usize = 2;

fn axis_column(axis: Axis, jobs: &[&Job]) -> Column {
    let look = if axis == Axis::Backend { ColumnLook::Backend } else { ColumnLook::Word };
    Column::new(grid::Column::of_axis(axis, jobs.iter().copied()), look)
}

/// Builds the columns of the verdict.
fn trust_columns(rows: &[&CellResult]) -> Vec<Column> {
    fn severity(row: &&CellResult) -> f64 {
        let worst = row.shown_severity().map_or(0, |worst| 1 + worst as u8);
        f64::from(worst) + if row.is_unfinished() { 0.5 } else { 0.0 }
    }
    // The severity decides which sign is drawn; `ok` is as wide as any sign.
    let badge = grid::Column {
        values: rows.iter().map(|row| Some(severity(row))).collect(),
        ..grid::Column::text_column("", 0, vec!["ok".into(); rows.len()])
    };
    let mut columns = vec![Column::new(badge, ColumnLook::Badge)];
    let ids: Vec<String> = rows.iter().map(|row| describe_warnings(row)).collect();
    if ids.iter().any(|text| !text.is_empty()) {
        columns.push(Column::plain(grid::Column::text_column("warnings", 6, ids)));
    }
    columns
}

/// Returns a result's warnings in a few words; notes only if there is nothing worse.
fn describe_warnings(row: &CellResult) -> String {
    let skipped = row.skipped.then(|| SKIPPED_BY_USER.to_string());
    // Next to a fault, progress would look like one.
    let progress = row.is_unfinished() && row.faults().next().is_none();
    let progress = progress.then(|| row.describe_progress());
    let progress = skipped.into_iter().chain(progress);
    let faults: Vec<String> = progress.chain(row.faults().map(brief_words)).collect();
    if faults.is_empty() {
        row.warnings.iter().map(brief_words).collect::<Vec<_>>().join(", ")
    } else {
        faults.join(", ")
    }
}

/// The style of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnLook {
    Backend,
    Word,
    /// The main figure of the table.
    Main,
    Number,
    Badge,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub title: String,
    pub unit: String,
    /// Without room, the highest rank is dropped first; rank 0 stays.
    pub rank: u8,
    pub right: bool,
    pub look: ColumnLook,
    pub width: usize,
    pub texts: Vec<String>,
    /// The figures to sort by; empty if it sorts by its texts.
    pub values: Vec<Option<f64>>,
}

impl Column {
    /// Returns a column of reports in this style.
    pub fn new(column: grid::Column, look: ColumnLook) -> Column {
        let (width, texts) = (column.width(), column.texts());
        let grid::Column { title, unit, rank, right, values, .. } = column;
        Column { title, unit, rank, right, look, width, texts, values }
    }

    /// Returns a column of reports: figures, or words.
    pub fn plain(column: grid::Column) -> Column {
        let look = if column.values.is_empty() { ColumnLook::Word } else { ColumnLook::Number };
        Column::new(column, look)
    }

    /// Compares two rows; missing values come last in both directions.
    pub fn compare(&self, a: usize, b: usize, reversed: bool) -> Ordering {
        let (known_a, known_b) = (self.has_value(a), self.has_value(b));
        if !known_a || !known_b {
            return known_b.cmp(&known_a);
        }
        let figure = |row: usize| self.values.get(row).copied().flatten().unwrap_or(f64::NAN);
        let ordered = if self.values.is_empty() {
            self.texts[a].cmp(&self.texts[b])
        } else {
            figure(a).total_cmp(&figure(b))
        };
        if reversed { ordered.reverse() } else { ordered }
    }

    fn has_value(&self, row: usize) -> bool {
        if self.values.is_empty() {
            self.texts.get(row).is_some_and(|text| !text.is_empty())
        } else {
            self.values.get(row).is_some_and(|value| value.is_some_and(|value| !value.is_nan()))
        }
    }
}

/// Builds the columns of throughput, operations, system calls, latencies and CPU time, as measured,
/// and of the source of the bytes.
fn result_columns(rows: &[&CellResult], shown: Rates) -> Vec<Column> {
    let rates: Vec<Option<f64>> = rows.iter().map(|row| throughput_median(row)).collect();
    let mut columns = Vec::new();
    if rates.iter().any(Option::is_some) {
        let rates = grid::Column::figures("throughput", 0, &rates, shown.units());
        columns.push(Column::new(rates, ColumnLook::Main));
    }
    let has_rate = !columns.is_empty();
    columns.extend(measured_columns(rows, ColumnPlace::Screen).into_iter().map(|column| {
        let is_main = column.title == "ops" && !has_rate;
        if is_main { Column::new(column, ColumnLook::Main) } else { Column::plain(column) }
    }));
    columns
}

/// Builds a column per trial and one of their mean if few trials were requested: the first columns
/// dropped for lack of room.
fn trial_columns(rows: &[&CellResult], trial_count: Option<u32>, shown: Rates) -> Vec<Column> {
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
    let unit = column::unit(all.iter().flat_map(|(_, values)| values).flatten().copied(), units);
    all.iter()
        .filter(|(_, values)| values.iter().any(Option::is_some))
        .map(|(title, values)| Column::plain(grid::Column::in_unit(title, 15, values, unit)))
        .collect()
}

/// Builds the columns of count, size and time of a trial, always shown if the count was requested
/// or is the goal.
fn work_columns(rows: &[&CellResult], measure: bool) -> Vec<Column> {
    let has_count = rows.iter().any(|row| row.cell.count.is_some());
    // A count that is set for each row is already a column.
    let has_count_column = rows.iter().all(|row| row.cell.count.is_some_and(|count| count > 0));
    let works: Vec<Option<TrialWork>> = rows.iter().map(|row| trial_work(row, measure)).collect();
    let of = |value: fn(&TrialWork) -> f64| -> Vec<Option<f64>> {
        works.iter().map(|work| work.as_ref().map(value)).collect()
    };
    let (counts, bytes, times) =
        (of(|work| work.operations() as f64), of(|work| work.bytes), of(|work| work.nanos));
    let first = |rank: u8, is_asked: bool| if is_asked { 0 } else { rank };
    let mut columns = Vec::new();
    if !has_count_column && works.iter().any(Option::is_some) {
        let rank = first(14, measure);
        columns
            .push(grid::Column::exact("count", "", rank, &counts, |count| format!("{count:.0}")));
    }
    if bytes.iter().flatten().any(|bytes| *bytes > 0.0) {
        let rank = first(13, measure);
        columns.push(grid::Column::exact("size", "", rank, &bytes, |bytes| {
            units::show_bytes(bytes as u64)
        }));
    }
    if times.iter().any(Option::is_some) {
        let rank = first(12, measure || has_count);
        columns.push(grid::Column::figures("time", rank, &times, TIME));
    }
    columns.into_iter().map(Column::plain).collect()
}

/// Returns the work of a trial of a cell; with `pass`, of one pass over the data.
pub fn trial_work(row: &CellResult, pass: bool) -> Option<TrialWork> {
    let work = row.work()?;
    Some(if pass { work.of_a_pass() } else { work })
}
