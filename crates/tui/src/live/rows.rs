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
    Rows(Vec<CellRow>, RowFigures),
}

/// The figures of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFigures {
    /// With the names and the unit of storage benchmarks.
    Workloads,
    Commits,
    Rates,
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
        let figures = match plan.cells.iter().all(Job::commits) {
            _ if !workloads(session, results).is_empty() => RowFigures::Workloads,
            true => RowFigures::Commits,
            false => RowFigures::Rates,
        };
        let names = CellNames::from_jobs(plan.cells.iter());
        let several = Axis::Backend.differs(plan.cells.iter());
        let name = |job: &Job| match figures {
            RowFigures::Workloads if several => {
                format!("{} {} {}", job.op, Workload::name_of(job), job.backend)
            }
            RowFigures::Workloads => format!("{} {}", job.op, Workload::name_of(job)),
            // The plan has what all cells share.
            _ if plan.cells.len() > 1 => names.own(job),
            _ => names.full(job),
        };
        let row = |(cell, result): (usize, &CellResult)| {
            let rate = match figures {
                // Their own figures come with the verdict, after the run.
                RowFigures::Commits => {
                    result.operations.map(|of| of.summary.scaled(result.cell.commits_in(1.0)))
                }
                _ => result.throughput.or(result.operations).map(|of| of.summary),
            };
            let figure = rate.map(|rate| GlanceFigure::of(session, result, rate));
            CellRow {
                cell: cell as u32,
                name: name(&result.cell),
                figure,
                ticks: last_speeds(result),
            }
        };
        let mut rows: Vec<CellRow> = results.iter().enumerate().map(row).collect();
        if figures == RowFigures::Workloads {
            // Reads before writes, as in the picture after the run.
            rows.sort_by_key(|row| results[row.cell as usize].cell.op == Op::Write);
        }
        Picture::Rows(rows, figures)
    }
}

/// Returns the speeds of the last trials: of a hundred thousand, only these are looked at.
fn last_speeds(result: &CellResult) -> Vec<f64> {
    let speed = if result.throughput.is_some() { Trial::throughput } else { Trial::operations };
    let last = &result.trials[result.trials.len().saturating_sub(TICKS)..];
    last.iter().map(|trial| speed(trial)).collect()
}

/// Returns the unit of the figures of rows.
pub fn unit(rows: &[CellRow], of: RowFigures, metric: Metric, rates: Rates) -> Unit {
    let medians = rows.iter().filter_map(|row| Some(row.figure?.summary.median));
    match (of, metric) {
        (RowFigures::Workloads, _) => Workload::unit(rates),
        (RowFigures::Rates, Metric::Throughput) => column::unit(medians, rates.units()),
        _ => column::unit(medians, column::PER_SECOND),
    }
}

/// Returns whether most cells are points of curves that are long enough to be drawn.
fn has_curves(plan: &Plan, axis: Axis) -> bool {
    let mut cells: Vec<(String, u64)> =
        plan.cells.iter().map(|job| (axis.without(job).label(), axis.value_of(job))).collect();
    cells.sort_unstable();
    cells.dedup();
    let curves = cells.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len);
    2 * curves.filter(|points| *points >= MIN_POINTS).sum::<usize>() > cells.len()
}
