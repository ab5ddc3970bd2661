//! A loaded comparison: sessions, figures and table columns, built off the drawing thread.

use std::collections::HashSet;
use std::ops::Range;

use crate::analysis::{Comparison, Pair, SavedRuns, Versus, compare_with};
use crate::plan::Job;
use crate::report::table::axes;
use crate::report::table::grid::Column;
use crate::report::{Look, comparison_columns};
use crate::session::Session;
use crate::session_view::SessionView;
use crate::spoken::speak;

/// Width for which columns are formatted; bars fill the rest of the screen when drawn.
const COLUMNS: usize = 80;

/// Sessions compared with the first one.
#[derive(Debug)]
pub struct LoadedComparison {
    /// The requested ids, the baseline first.
    pub requested: Vec<String>,
    /// The sessions that could be loaded, in that order; their ids are in `ids`.
    pub views: Vec<SessionView>,
    pub ids: Vec<String>,
    /// Names of the sessions; equal names are followed by the time.
    names: Vec<String>,
    /// Name and error of each session that could not be loaded.
    pub failures: Vec<(String, String)>,
    /// `None` if no session could be loaded.
    pub comparison: Option<Comparison>,
    /// One for each session other than the baseline.
    pub sheets: Vec<Sheet>,
}

/// The cells of one session next to the cells of the baseline.
#[derive(Debug)]
pub struct Sheet {
    /// Each column with its width, that of the bars with the narrowest ones.
    columns: Vec<(Column, usize)>,
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
        let mut comparison = compare_with(&sessions, saved);
        let others = comparison.iter_mut().flat_map(|comparison| &mut comparison.others);
        for one in others.flat_map(|versus| &mut versus.differences) {
            for text in [&mut one.what, &mut one.base, &mut one.other] {
                *text = speak(text);
            }
        }
        let sheets = comparison
            .iter()
            .flat_map(|comparison| &comparison.others)
            .map(|versus| Sheet::new(versus, look))
            .collect();
        let names = distinct_names(&views);
        LoadedComparison { requested, views, ids, names, failures, comparison, sheets }
    }

    /// Returns the name of a loaded session by its index.
    pub fn name(&self, at: usize) -> &str {
        self.names.get(at).map_or("", String::as_str)
    }

    /// Returns the letter of a loaded session by its index.
    pub fn letter(&self, at: usize) -> &str {
        let mut sides = self.comparison.iter().flat_map(Comparison::sides);
        sides.nth(at).map_or("", |side| &side.letter)
    }

    pub fn versus(&self, other: usize) -> Option<(&Versus, &Sheet)> {
        self.comparison.as_ref()?.others.get(other).zip(self.sheets.get(other))
    }

    /// Returns the number of sessions other than the baseline.
    pub fn count_others(&self) -> usize {
        self.sheets.len()
    }
}

/// Returns the names of sessions; to equal ones, the part of their time in which they differ is
/// added, or else their ids.
fn distinct_names(views: &[SessionView]) -> Vec<String> {
    let names: Vec<String> = views.iter().map(SessionView::display_name).collect();
    let name = |(at, view): (usize, &SessionView)| {
        let name = &names[at];
        let alike = || views.iter().zip(&names).filter(|(_, other)| *other == name);
        if alike().count() == 1 {
            return name.clone();
        }
        // The day, the minute, the second.
        let differs = |part: &Range<usize>| {
            let mut seen = HashSet::new();
            alike().all(|(view, _)| {
                view.session.created.get(part.clone()).is_some_and(|text| seen.insert(text))
            })
        };
        let part = [5..10, 11..16, 11..19].into_iter().find(differs);
        let time = part.and_then(|part| view.session.created.get(part));
        format!("{name} {}", time.unwrap_or(&view.session.id))
    };
    views.iter().enumerate().map(name).collect()
}

impl Sheet {
    fn new(versus: &Versus, look: &Look) -> Sheet {
        let jobs: Vec<&Job> = versus.cells.iter().map(|pair| &pair.cell).collect();
        let (order, breaks) = axes::sort_order_of(&jobs);
        let pairs: Vec<&Pair> = order.iter().map(|at| &versus.cells[*at]).collect();
        // Without cells, the table has no titles either.
        let look = Look { width: COLUMNS, ..*look };
        let columns = if pairs.is_empty() {
            Vec::new()
        } else {
            comparison_columns(&pairs, &versus.side.letter, &look)
        };
        let columns = columns.into_iter().map(with_width).collect();
        let cells = order.iter().enumerate().map(|(row, cell)| Row::Cell { row, cell: *cell });
        let rows = breaks
            .iter()
            .zip(cells)
            .flat_map(|(apart, cell)| apart.then_some(Row::Gap).into_iter().chain([cell]))
            .collect();
        let common = axes::constants_of(&jobs, true);
        Sheet { columns, rows, common }
    }

    /// Returns the columns that fit `width`, each with its own width, and the gap between them.
    pub fn fit(&self, width: usize) -> (Vec<&(Column, usize)>, usize) {
        fn total(columns: &[&(Column, usize)], gap: usize) -> usize {
            columns.iter().map(|(_, width)| width + gap).sum::<usize>().saturating_sub(gap)
        }
        let mut columns: Vec<&(Column, usize)> = self.columns.iter().collect();
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
