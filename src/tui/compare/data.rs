//! A loaded comparison: sessions, figures and table columns, built off the drawing thread.

use crate::analysis::{Comparison, Pair, SavedRuns, Versus, compare_with};
use crate::plan::Job;
use crate::report::table::axes;
use crate::report::table::grid::Column;
use crate::report::{Look, comparison_columns};
use crate::session::Session;
use crate::tui::session_name;
use crate::tui::session_view::SessionView;

/// Columns from which a line has room for wide bars.
pub const WIDE_COLUMNS: usize = 110;

/// Sessions compared with the first of them.
#[derive(Debug)]
pub struct LoadedComparison {
    /// The requested ids, the baseline first.
    pub requested: Vec<String>,
    /// The sessions that could be loaded, in that order; their ids are in `ids`.
    pub views: Vec<SessionView>,
    pub ids: Vec<String>,
    /// Name and error of each session that could not be loaded.
    pub failures: Vec<(String, String)>,
    /// `None` if no session could be loaded.
    pub comparison: Option<Comparison>,
    /// One for each session other than the baseline.
    pub sheets: Vec<Sheet>,
}

/// The cells of one session next to those of the baseline.
#[derive(Debug)]
pub struct Sheet {
    /// With narrow bars and with wide bars; each column with its width.
    columns: [Vec<(Column, usize)>; 2],
    /// The rows as listed, with gaps between groups.
    pub rows: Vec<Row>,
    /// The parameters that all cells share: `op read, pattern seq`.
    pub common: String,
}

/// Pairs a column with its width, so that it is computed once.
fn with_width(column: Column) -> (Column, usize) {
    let width = column.width();
    (column, width)
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    Gap,
    /// Index of the row, and index into the cells of the comparison.
    Cell {
        row: usize,
        cell: usize,
    },
}

impl LoadedComparison {
    /// Compares the sessions that could be loaded; formatted for `look`.
    /// `saved`: earlier runs, which show the variation of the machine itself.
    pub fn new(
        loaded: Vec<(String, Result<SessionView, String>)>,
        saved: &SavedRuns,
        look: &Look,
    ) -> LoadedComparison {
        let requested = loaded.iter().map(|(id, _)| id.clone()).collect();
        let (mut views, mut ids, mut failures) = (Vec::new(), Vec::new(), Vec::new());
        for (id, result) in loaded {
            match result {
                Ok(shown) => {
                    views.push(shown);
                    ids.push(id);
                }
                Err(why) => failures.push((id, why)),
            }
        }
        let sessions: Vec<&Session> = views.iter().map(|shown| &shown.session).collect();
        let comparison = compare_with(&sessions, saved);
        let sheets = comparison
            .iter()
            .flat_map(|comparison| &comparison.others)
            .map(|versus| Sheet::new(versus, look))
            .collect();
        LoadedComparison { requested, views, ids, failures, comparison, sheets }
    }

    /// Returns the name of a loaded session by its index.
    pub fn name(&self, at: usize) -> &str {
        self.views.get(at).map_or("", |shown| session_name::of_session(&shown.session))
    }

    /// Returns the letter of a loaded session by its index.
    pub fn letter(&self, at: usize) -> &str {
        let Some(comparison) = &self.comparison else { return "" };
        std::iter::once(&comparison.base)
            .chain(comparison.others.iter().map(|other| &other.side))
            .nth(at)
            .map_or("", |side| &side.letter)
    }

    pub fn versus(&self, other: usize) -> Option<(&Versus, &Sheet)> {
        self.comparison.as_ref()?.others.get(other).zip(self.sheets.get(other))
    }

    /// Returns the number of sessions other than the baseline.
    pub fn count_others(&self) -> usize {
        self.sheets.len()
    }
}

impl Sheet {
    fn new(versus: &Versus, look: &Look) -> Sheet {
        let jobs: Vec<&Job> = versus.cells.iter().map(|pair| &pair.cell).collect();
        let (order, breaks) = axes::sort_order_of(&jobs);
        let pairs: Vec<&Pair> = order.iter().map(|at| &versus.cells[*at]).collect();
        let columns = |width| {
            // Without cells, the table has no titles either.
            let look = Look { width, ..*look };
            let columns = if pairs.is_empty() {
                Vec::new()
            } else {
                comparison_columns(&pairs, &versus.side.letter, &look)
            };
            columns.into_iter().map(with_width).collect()
        };
        let cells = order.iter().enumerate().map(|(row, cell)| Row::Cell { row, cell: *cell });
        let rows = breaks
            .iter()
            .zip(cells)
            .flat_map(|(apart, cell)| apart.then_some(Row::Gap).into_iter().chain([cell]))
            .collect();
        let common = axes::constants_of(&jobs, true);
        Sheet { columns: [columns(WIDE_COLUMNS - 1), columns(WIDE_COLUMNS)], rows, common }
    }

    /// Returns the columns that fit `width`, each with its own width, and the gap between them.
    pub fn fit(&self, width: usize) -> (Vec<&(Column, usize)>, usize) {
        fn total(columns: &[&(Column, usize)], gap: usize) -> usize {
            columns.iter().map(|(_, width)| width + gap).sum::<usize>().saturating_sub(gap)
        }
        let mut columns: Vec<&(Column, usize)> =
            self.columns[usize::from(width >= WIDE_COLUMNS)].iter().collect();
        loop {
            if let Some(gap) = [2, 1].into_iter().find(|gap| total(&columns, *gap) <= width) {
                return (columns, gap);
            }
            match columns.iter().map(|(column, _)| column.rank).max() {
                Some(highest) if highest > 0 => columns.retain(|(column, _)| column.rank < highest),
                _ => return (columns, 1),
            }
        }
    }
}
