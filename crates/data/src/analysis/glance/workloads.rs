//! The rows that storage benchmarks print: `SEQ1M Q8T1`, `RND4K Q1T1`, each read and written.

use super::board::{Board, BoardCell, BoardColumn, VENDOR};
use super::model::GlanceFigure;
use crate::analysis::answer::{Finding, Point, best_of};
use crate::analysis::groups::group_by_key;
use crate::analysis::{CellResult, brief_words};
use crate::catalog::identity;
use crate::plan::{Job, Op, Pattern};
use crate::session::Session;
use crate::units::column::Unit;
use crate::units::{Rates, short_bytes, show_nanos};

/// A row: one pattern with its block size, queue depth and threads.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// `SEQ1M`.
    pub name: String,
    /// `Q8T1`.
    pub load: String,
    /// Operations per second and latencies matter.
    pub random: bool,
    /// `None` if not measured.
    pub read: Option<WorkloadFigure>,
    pub write: Option<WorkloadFigure>,
}

/// The fastest backend of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadFigure {
    /// An index into the results.
    pub result: usize,
    pub backend: String,
    /// The hue of the backend in every chart.
    pub hue: usize,
    /// Bytes per second.
    pub figure: GlanceFigure,
    pub operations: Option<f64>,
    /// The median latency of an operation, nanoseconds.
    pub p50: Option<f64>,
    /// Why it is easily misread or wrong, in a few words; empty if it is neither.
    pub caveat: String,
    /// Whether the backend is faster than every other one that is not wrong: false where these
    /// trials do not show it, `None` without intervals, or without others.
    pub leads: Option<bool>,
}

/// Block size, queue depth and threads of each known row.
const KNOWN: [(Pattern, u64, u32, u32); 6] = [
    (Pattern::Seq, 1 << 20, 8, 1),
    (Pattern::Seq, 1 << 20, 1, 1),
    (Pattern::Seq, 128 << 10, 32, 1),
    (Pattern::Random, 4 << 10, 32, 16),
    (Pattern::Random, 4 << 10, 32, 1),
    (Pattern::Random, 4 << 10, 1, 1),
];

type Load = (Pattern, u64, u32, u32);

/// Returns the names of a load: `SEQ1M`, `Q8T1`.
fn name((pattern, block, depth, threads): Load) -> [String; 2] {
    let order = if pattern == Pattern::Random { "RND" } else { "SEQ" };
    let block = short_bytes(block).to_uppercase();
    [format!("{order}{block}"), format!("Q{depth}T{threads}")]
}

fn load(job: &Job) -> Load {
    (job.pattern, job.block, job.depth, job.threads)
}

impl WorkloadFigure {
    /// Returns its operations per second: `84.1 k IOPS`.
    pub fn show_operations(&self) -> Option<String> {
        self.operations.map(|rate| format!("{} IOPS", self.figure.precision().count(rate)))
    }
}

impl Workload {
    /// Returns the unit of the figures of all rows: the requested one, else that of vendors.
    pub fn unit(rates: Rates) -> Unit {
        match rates.units() {
            [one] => *one,
            _ => VENDOR[0],
        }
    }

    /// Returns whether one operation at a time was in flight.
    pub fn is_single(&self) -> bool {
        self.load == "Q1T1"
    }

    /// Returns the name of the row of a job: `SEQ1M Q8T1`.
    pub fn name_of(job: &Job) -> String {
        name(load(job)).join(" ")
    }

    pub fn figures(&self) -> impl Iterator<Item = &WorkloadFigure> {
        self.read.iter().chain(&self.write)
    }

    /// Returns the cell of a figure, with what matters in its row next to the bytes.
    fn cell(&self, figure: &WorkloadFigure) -> BoardCell {
        let operations = figure.show_operations();
        let p50 = figure.p50.map(|p50| format!("p50 {}", show_nanos(p50)));
        // One at a time, the latency says the same as the rate.
        let mut details = [operations, p50];
        if self.is_single() {
            details.reverse();
        }
        let details = details.into_iter().flatten().filter(|_| self.random);
        let details = details.chain([figure.backend.clone()]).collect();
        let (hue, caveat) = (Some(figure.hue), figure.caveat.clone());
        BoardCell { details, hue, caveat, ..BoardCell::new(Some(figure.result), figure.figure) }
    }
}

/// Returns the rows as a table, below the figure of `head` if there is one.
pub(super) fn scoreboard(workloads: &[Workload], head: Option<Board>) -> Board {
    let column = |op: Op, of: fn(&Workload) -> Option<&WorkloadFigure>| {
        let cells = workloads.iter().map(|row| of(row).map(|figure| row.cell(figure)));
        BoardColumn::new(op.name(), VENDOR, cells.collect())
    };
    let columns = vec![
        column(Op::Read, |row| row.read.as_ref()),
        column(Op::Write, |row| row.write.as_ref()),
    ];
    let rows = workloads.iter().map(|row| format!("{:<8}{}", row.name, row.load)).collect();
    Board { rows, columns, large: true, ..head.unwrap_or_default() }
}

/// Returns the rows of a session that measured at least two known ones and nothing else, in the
/// order of its plan; else none.
pub fn workloads(session: &Session, results: &[CellResult]) -> Vec<Workload> {
    let cells = &session.plan.cells;
    let loads = group_by_key(cells, |job| load(job));
    let known = |job: &Job| {
        KNOWN.contains(&load(job))
            && matches!(job.op, Op::Read | Op::Write)
            && (job.mix.is_none(), job.target, &job.variant) == (true, None, &None)
            && job.cache == cells[0].cache
    };
    if loads.len() < 2 || !cells.iter().all(known) || results.is_empty() {
        return Vec::new();
    }
    let row = |load: Load| {
        let [name, shown] = name(load);
        Workload {
            name,
            load: shown,
            random: load.0 == Pattern::Random,
            read: fastest(session, results, load, Op::Read),
            write: fastest(session, results, load, Op::Write),
        }
    };
    loads.into_iter().map(|(load, _)| row(load)).collect()
}

fn fastest(
    session: &Session,
    results: &[CellResult],
    wanted: Load,
    op: Op,
) -> Option<WorkloadFigure> {
    let all: Vec<(usize, Point)> = results
        .iter()
        .enumerate()
        .filter(|(_, result)| load(&result.cell) == wanted && result.cell.op == op)
        .filter_map(|(at, result)| Some((at, Point::bytes(result)?)))
        .collect();
    let (best, result, top) = best_of(&all)?;
    let others: Vec<Point> = all
        .into_iter()
        .map(|(_, point)| point)
        .filter(|point| point.result.cell != best.cell && point.result.wrong().is_none())
        .collect();
    let verdicts = others.iter().map(|other| Some(top.compare(other)? == (Finding::Differs, true)));
    // Unknown if one is unknown; then whether all are greater.
    let leads = verdicts.collect::<Option<Vec<bool>>>().map(|all| all.iter().all(|on| *on));
    Some(WorkloadFigure {
        result,
        backend: best.cell.way(),
        hue: identity(&best.cell.backend.id).hue,
        figure: GlanceFigure::of(session, top.result, top.rate),
        operations: best.operations.map(|of| of.summary.median),
        p50: top.result.latency.and_then(|latency| latency.p50),
        caveat: top.result.faults().map(brief_words).next().unwrap_or_default(),
        leads: leads.filter(|_| !others.is_empty()),
    })
}
