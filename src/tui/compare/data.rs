//! What was compared: the sessions, the figures, and the table's columns, made off the screen's
//! thread.

use crate::analysis::{Comparison, Pair, SavedRuns, Versus, compare_with};
use crate::plan::Job;
use crate::report::table::axes;
use crate::report::table::grid::Column;
use crate::report::{Look, comparison_columns};
use crate::session::Session;
use crate::tui::session_name;
use crate::tui::session_view::SessionView;

/// More sessions are too many to be told apart.
pub const MOST: usize = 8;

/// Lines that are at least so long have wider bars.
pub const ROOMY: usize = 110;

/// Sessions against the first of them.
#[derive(Debug)]
pub struct Compared {
    /// The ids that were asked for, the baseline first.
    pub asked: Vec<String>,
    /// Those that could be loaded, in that order, and their ids.
    pub laid: Vec<SessionView>,
    pub ids: Vec<String>,
    /// Those that could not: what they are called, and why.
    pub lost: Vec<(String, String)>,
    /// `None`: none could be loaded.
    pub comparison: Option<Comparison>,
    /// Of each of the others.
    pub sheets: Vec<Sheet>,
}

/// The cells of one session beside those of the baseline.
#[derive(Debug)]
pub struct Sheet {
    /// With short bars, and with long ones; each with its width.
    columns: [Vec<(Column, usize)>; 2],
    /// Places in the cells as they are listed, with a gap before some of them.
    pub rows: Vec<Row>,
    /// What all cells share: `op read, pattern seq`.
    pub common: String,
}

/// A column with its width: it is measured once.
fn sized(column: Column) -> (Column, usize) {
    let width = column.width();
    (column, width)
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    Gap,
    /// A place in the order of the rows, and in the cells of the comparison.
    Cell {
        row: usize,
        cell: usize,
    },
}

impl Compared {
    /// From what was asked for and what became of it; shown as `look` says.
    /// `kept`: what kept runs show of how much the machine differs by itself.
    pub fn of(
        loaded: Vec<(String, Result<SessionView, String>)>,
        kept: &SavedRuns,
        look: &Look,
    ) -> Compared {
        let asked = loaded.iter().map(|(id, _)| id.clone()).collect();
        let (mut laid, mut ids, mut lost) = (Vec::new(), Vec::new(), Vec::new());
        for (id, result) in loaded {
            match result {
                Ok(shown) => {
                    laid.push(shown);
                    ids.push(id);
                }
                Err(why) => lost.push((id, why)),
            }
        }
        let sessions: Vec<&Session> = laid.iter().map(|shown| &shown.session).collect();
        let comparison = compare_with(&sessions, kept);
        let sheets = comparison
            .iter()
            .flat_map(|of| &of.others)
            .map(|versus| Sheet::of(versus, look))
            .collect();
        Compared { asked, laid, ids, lost, comparison, sheets }
    }

    /// What a session is called, by its place among those that could be loaded.
    pub fn name(&self, at: usize) -> &str {
        self.laid.get(at).map_or("", |shown| session_name::of_session(&shown.session))
    }

    /// Its letter.
    pub fn letter(&self, at: usize) -> &str {
        let Some(of) = &self.comparison else { return "" };
        std::iter::once(&of.base)
            .chain(of.others.iter().map(|other| &other.side))
            .nth(at)
            .map_or("", |side| &side.letter)
    }

    pub fn versus(&self, other: usize) -> Option<(&Versus, &Sheet)> {
        self.comparison.as_ref()?.others.get(other).zip(self.sheets.get(other))
    }

    /// How many there are beside the baseline.
    pub fn others(&self) -> usize {
        self.sheets.len()
    }
}

impl Sheet {
    fn of(versus: &Versus, look: &Look) -> Sheet {
        let jobs: Vec<&Job> = versus.cells.iter().map(|pair| &pair.cell).collect();
        let (order, breaks) = axes::sort_order_of(&jobs);
        let pairs: Vec<&Pair> = order.iter().map(|at| &versus.cells[*at]).collect();
        let columns = |width| {
            // Without cells there are no titles either.
            let look = Look { width, ..*look };
            let made = if pairs.is_empty() {
                Vec::new()
            } else {
                comparison_columns(&pairs, &versus.side.letter, &look)
            };
            made.into_iter().map(sized).collect()
        };
        let cells = order.iter().enumerate().map(|(row, cell)| Row::Cell { row, cell: *cell });
        let rows = breaks
            .iter()
            .zip(cells)
            .flat_map(|(apart, cell)| apart.then_some(Row::Gap).into_iter().chain([cell]))
            .collect();
        let common = axes::constants_of(&jobs, true);
        Sheet { columns: [columns(ROOMY - 1), columns(ROOMY)], rows, common }
    }

    /// The columns that a line of this width has room for, each with its width, and the space
    /// between them.
    pub fn fit(&self, width: usize) -> (Vec<&(Column, usize)>, usize) {
        let total = |columns: &[&(Column, usize)], gap: usize| {
            columns.iter().map(|(_, own)| own + gap).sum::<usize>().saturating_sub(gap)
        };
        let mut columns: Vec<&(Column, usize)> =
            self.columns[usize::from(width >= ROOMY)].iter().collect();
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
