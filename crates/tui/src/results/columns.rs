//! The table columns, built once for all rows: cell parameters, measurements, verdicts.

use super::column::{Column, Look};
use super::measured;
use crate::analysis::{Axis, CellResult, SKIPPED_BY_USER, brief_words};
use crate::experiment::MEASURE;
use crate::plan::{Job, Skipped};
use crate::report::table::{axes, grid};
use crate::session_view::SessionView;
use crate::units::Rates;

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

/// Groups skipped cells by their reason, in their order.
fn group(skipped: &[Skipped]) -> Vec<(&str, Vec<&Job>)> {
    let mut groups: Vec<(&str, Vec<&Job>)> = Vec::new();
    for Skipped { cell, reason } in skipped {
        match groups.iter_mut().find(|(known, _)| known == reason) {
            Some((_, cells)) => cells.push(cell),
            None => groups.push((reason, vec![cell])),
        }
    }
    groups
}

impl Sheet {
    pub fn new(shown: &SessionView, unit: Rates) -> Sheet {
        let (results, skipped) = (shown.results.as_slice(), shown.skipped.as_slice());
        let rows: Vec<&CellResult> = results.iter().collect();
        let groups = group(skipped);
        let all = results.iter().map(|r| &r.cell).chain(skipped.iter().map(|s| &s.cell));
        let firsts = groups.iter().filter_map(|(_, cells)| cells.first().copied());
        let jobs: Vec<&Job> = results.iter().map(|r| &r.cell).chain(firsts).collect();
        let mut columns: Vec<Column> = Axis::columns()
            .into_iter()
            .filter(|axis| axis.is_always_shown() || axis.differs(all.clone()))
            .map(|axis| axis_column(axis, &jobs))
            .collect();
        let name_columns = columns.len();
        // Several cells of one reason have no name in common.
        let several = (results.len()..).zip(&groups).filter(|(_, (_, cells))| cells.len() > 1);
        for (row, _) in several {
            for column in &mut columns {
                column.texts[row].clear();
                if let Some(value) = column.values.get_mut(row) {
                    *value = None;
                }
            }
        }
        columns.extend(measured::result_columns(&rows, unit));
        columns.extend(measured::work_columns(&rows, shown.session.plan.experiment == MEASURE));
        columns.extend(measured::trial_columns(&rows, shown.session.plan.trials, unit));
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
                let labels: Vec<String> = cells.iter().map(|cell| cell.label()).collect();
                format!("{} skipped {reason}", labels.join(" "))
            }),
        };
        let text = |row: usize| {
            let words =
                columns.iter().filter(|column| !matches!(column.look, Look::Main | Look::Number));
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
            && self.columns.get(column).is_some_and(|column| column.look != Look::Word)
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
    let look = if axis == Axis::Backend { Look::Backend } else { Look::Word };
    Column::new(grid::Column::of_axis(axis, jobs.iter().copied()), look)
}

/// Builds the columns of the verdict.
fn trust_columns(rows: &[&CellResult]) -> Vec<Column> {
    fn severity(row: &&CellResult) -> f64 {
        let worst = row.shown_severity().map_or(0, |worst| 1 + worst as u8);
        f64::from(worst) + if row.is_unfinished() { 0.5 } else { 0.0 }
    }
    // The sign is drawn by severity; the width is that of a sign, or of `ok`.
    let badge = grid::Column {
        values: rows.iter().map(|row| Some(severity(row))).collect(),
        ..grid::Column::text_column("", 0, vec!["ok".into(); rows.len()])
    };
    let mut columns = vec![Column::new(badge, Look::Badge)];
    let ids: Vec<String> = rows.iter().map(|row| describe_warnings(row)).collect();
    if ids.iter().any(|text| !text.is_empty()) {
        columns.push(Column::plain(grid::Column::text_column("warnings", 6, ids)));
    }
    columns
}

/// Returns a result's warnings in a few words; notes only if there is nothing worse.
fn describe_warnings(row: &CellResult) -> String {
    let skipped = row.skipped.then(|| SKIPPED_BY_USER.to_string());
    // Beside a fault it would look like one.
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
