//! The warnings of all cells, each once and numbered, and the marks that refer to them from the
//! rows.

use super::grid::{Cell, Style};
use crate::analysis::{CellResult, describe_range, differ_in_figures_only};
use crate::record::{Severity, Warning};

/// One kind of warning and the cells that have it.
pub struct GroupedWarning<'a> {
    /// The warning of the first cell that has it at its highest severity.
    pub warning: &'a Warning,
    /// The cells that have it at that severity.
    pub cells: Vec<&'a CellResult>,
    /// The number of cells that have it at a lower one.
    lesser: usize,
    /// Its message, with the ranges of its figures over these cells.
    pub message: String,
}

impl GroupedWarning<'_> {
    /// Returns `; 4 more cells are less affected`: it devalues their figures less.
    pub fn describe_lesser(&self) -> String {
        match self.lesser {
            0 => String::new(),
            1 => "; 1 more cell is less affected".into(),
            lesser => format!("; {lesser} more cells are less affected"),
        }
    }
}

/// Most severe first, then in order of appearance; the number of a finding is its place, from 1;
/// notes come last and have no number.
pub struct GroupedWarnings<'a>(pub Vec<GroupedWarning<'a>>);

/// Returns the mark of a severity, in a row and before its warning.
pub fn sign(severity: Severity, ascii: bool) -> (&'static str, Style) {
    match (severity, ascii) {
        (Severity::Note, _) => ("note: ", Style::Dim),
        (Severity::Misleading, _) => ("! ", Style::Yellow),
        (Severity::Wrong, false) => ("× ", Style::Red),
        (Severity::Wrong, true) => ("X ", Style::Red),
    }
}

impl<'a> GroupedWarnings<'a> {
    pub fn from_rows(rows: &[&'a CellResult]) -> GroupedWarnings<'a> {
        let mut findings: Vec<GroupedWarning> = Vec::new();
        for row in rows {
            for warning in &row.warnings {
                let of_kind = |f: &&mut GroupedWarning| is_same_kind(f.warning, warning);
                match findings.iter_mut().find(of_kind) {
                    Some(found) if found.warning.severity > warning.severity => found.lesser += 1,
                    Some(found) if found.warning.severity < warning.severity => {
                        found.lesser += found.cells.len();
                        (found.warning, found.cells) = (warning, vec![*row]);
                    }
                    Some(found)
                        if found.cells.last().is_some_and(|last| std::ptr::eq(*last, *row)) => {}
                    Some(found) => found.cells.push(row),
                    None => findings.push(GroupedWarning {
                        warning,
                        cells: vec![row],
                        lesser: 0,
                        message: String::new(),
                    }),
                }
            }
        }
        for finding in &mut findings {
            finding.message = describe_message(finding);
        }
        findings.sort_by_key(|f| std::cmp::Reverse(f.warning.severity));
        GroupedWarnings(findings)
    }

    /// Returns `ok`, or the worst severity with the numbers of its warnings: `! 1,3`. A note does
    /// not affect the figures of a row, and many rows may have it: it is shown once, below.
    pub fn mark(&self, row: &CellResult, ascii: bool) -> Cell {
        if row.error.is_some() {
            let (failed, red) = sign(Severity::Wrong, ascii);
            return vec![(red, failed.trim_end().into())];
        }
        let severe = || row.warnings.iter().filter(|w| w.severity > Severity::Note);
        let Some(worst) = severe().map(|w| w.severity).max() else {
            return vec![(Style::Plain, "ok".into())];
        };
        let numbered =
            self.0.iter().enumerate().filter(|(_, f)| severe().any(|w| is_same_kind(f.warning, w)));
        let mut numbers: Vec<String> = numbered.map(|(i, _)| (i + 1).to_string()).collect();
        if numbers.len() > MAX_MARK_NUMBERS {
            numbers.truncate(MAX_MARK_NUMBERS - 1);
            numbers.push("..".into());
        }
        let (mark, style) = sign(worst, ascii);
        vec![(style, format!("{mark}{}", numbers.join(",")))]
    }
}

/// Numbers in one mark; more would widen the column for a single row.
const MAX_MARK_NUMBERS: usize = 4;

/// Returns the message of a finding for all of its cells.
fn describe_message(finding: &GroupedWarning) -> String {
    let warnings = finding.cells.iter().flat_map(|cell| &cell.warnings);
    let own = warnings.filter(|warning| {
        warning.severity == finding.warning.severity && is_same_kind(finding.warning, warning)
    });
    describe_range(&own.map(|warning| &*warning.message).collect::<Vec<&str>>())
}

/// Returns whether one sentence serves both warnings.
fn is_same_kind(a: &Warning, b: &Warning) -> bool {
    a.id == b.id && differ_in_figures_only(&a.message, &b.message)
}
