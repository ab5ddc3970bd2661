//! Results so far where nothing forms a curve: the table of the question, or a row for each cell,
//! each in its place from the beginning.

use crate::analysis::{
    Axis, Board, CellNames, CellResult, GlanceFigure, Workload, growing_board, workloads,
};
use crate::curves::Metric;
use crate::plan::{Job, Op, Plan};
use crate::record::Trial;
use crate::session::Session;
use crate::units::Rates;
use crate::units::column::{self, Unit};

/// Fewest points of a curve that is worth drawing.
const MIN_POINTS: usize = 3;
/// Of more cells the table would take too long to build again and again.
const MAX_TABLE: usize = 256;
/// More rows have no room.
const MAX_ROWS: usize = 40;
/// Trials of a row that are kept for its ticks.
pub const TICKS: usize = 12;

/// A cell with its result so far.
#[derive(Debug, Clone, PartialEq)]
pub struct CellRow {
    /// An index into the plan.
    pub cell: u32,
    pub name: String,
    /// `None` before its first trial.
    pub figure: Option<GlanceFigure>,
    /// The rates of its last trials.
    pub ticks: Vec<f64>,
}

/// The picture of the results so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Picture {
    #[default]
    Curves,
    Board(Box<Board>),
    /// `known`: with the names and the unit of storage benchmarks.
    Rows {
        rows: Vec<CellRow>,
        known: bool,
    },
}

impl Picture {
    /// Returns the picture of results of which some may have no trials yet.
    pub fn new(session: &Session, results: &[CellResult], axis: Axis) -> Picture {
        let plan = &session.plan;
        if plan.cells.len() > MAX_TABLE {
            return Picture::Curves;
        }
        let board = growing_board(session, results, &[]);
        if let Some(board) = board.filter(|board| !board.rows.is_empty()) {
            return Picture::Board(board.into());
        }
        if plan.cells.len() > MAX_ROWS || has_curves(plan, axis) {
            return Picture::Curves;
        }
        let known = !workloads(session, results).is_empty();
        let names = CellNames::from_jobs(plan.cells.iter());
        let several = Axis::Backend.differs(plan.cells.iter());
        let name = |job: &Job| match known {
            true if several => format!("{} {} {}", job.op, Workload::name_of(job), job.backend),
            true => format!("{} {}", job.op, Workload::name_of(job)),
            false => names.full(job),
        };
        let row = |(cell, result): (usize, &CellResult)| {
            let rate = result.throughput.or(result.operations);
            let figure = rate.map(|of| GlanceFigure::of(session, result, of.summary));
            CellRow {
                cell: cell as u32,
                name: name(&result.cell),
                figure,
                ticks: last_speeds(result),
            }
        };
        let mut rows: Vec<CellRow> = results.iter().enumerate().map(row).collect();
        if known {
            // Reads before writes, as in the picture after the run.
            rows.sort_by_key(|row| results[row.cell as usize].cell.op == Op::Write);
        }
        Picture::Rows { rows, known }
    }
}

/// Returns the speeds of the last trials: of a hundred thousand, only these are looked at.
fn last_speeds(result: &CellResult) -> Vec<f64> {
    let speed = if result.throughput.is_some() { Trial::throughput } else { Trial::operations };
    let last = &result.trials[result.trials.len().saturating_sub(TICKS)..];
    last.iter().map(|trial| speed(trial)).collect()
}

/// Returns the unit of the figures of rows.
pub fn unit(rows: &[CellRow], known: bool, metric: Metric, rates: Rates) -> Unit {
    if known {
        return Workload::unit(rates);
    }
    let medians = rows.iter().filter_map(|row| Some(row.figure?.summary.median));
    let units = if metric == Metric::Throughput { rates.units() } else { column::PER_SECOND };
    column::unit(medians, units)
}

/// Returns whether some curve has enough points to be drawn.
fn has_curves(plan: &Plan, axis: Axis) -> bool {
    let mut cells: Vec<(String, u64)> =
        plan.cells.iter().map(|job| (axis.without(job).label(), axis.value_of(job))).collect();
    cells.sort_unstable();
    cells.dedup();
    cells.chunk_by(|a, b| a.0 == b.0).any(|curve| curve.len() >= MIN_POINTS)
}
