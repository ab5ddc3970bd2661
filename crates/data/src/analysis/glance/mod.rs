//! A session at a glance: the headline figures, where the bytes came from, and whether the figures
//! can be trusted. The screen, the copied text and the card show it, so that they agree.

mod access;
mod board;
mod columns;
mod conditions;
mod facts;
mod load;
mod model;
mod neighbours;
mod origin;
mod paced;
mod pictures;
mod settled;
mod sustain;
#[cfg(test)]
mod tests;
mod trust;
mod watched;
mod workloads;

use std::collections::BTreeSet;

pub use access::Access;
pub use board::{Board, BoardCell, BoardColumn};
pub use columns::{GlanceBar, GlanceColumn, GlanceRow};
pub use conditions::Conditions;

pub use model::{GlanceFigure, Grade, Statement, align_figures};
pub use pictures::lab as lab_board;
pub use workloads::{Workload, workloads};

use crate::analysis::answer::describe_effects;
use crate::analysis::{
    Answer, CellResult, Expected, Knee, ProbeResult, capitalize, end_sentence, expected_with,
};
use crate::session::Session;
use crate::units;

/// The headline figures of a session and the sentences on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Glance {
    pub conditions: Conditions,
    /// The largest figures, the device's first; empty if only probes were measured.
    pub columns: Vec<GlanceColumn>,
    /// The rows that the bars of all columns share, in the order of the plan.
    pub rows: Vec<GlanceRow>,
    /// The picture of a question that these columns do not answer, or the rows that storage
    /// benchmarks print. With rows it stands in place of the columns, else above them.
    pub board: Option<Board>,
    /// Label, figure and interval of each probe, if no cell of a file was measured.
    pub probes: Vec<(String, String, String)>,
    /// The largest figures in sentences, for text: screens show them as digits.
    pub headline: Vec<String>,
    /// The answer in short sentences, the most important first.
    pub facts: Vec<String>,
    /// Whether the results are as expected, a sentence for each expectation.
    pub expected: Vec<Statement>,
    pub origin: Statement,
    pub trust: Statement,
    /// Warnings about figures of too few trials; the screen itself names their number and the key
    /// that adds some.
    pub warned: Option<Statement>,
}

impl Glance {
    /// Returns the sentences that a text begins with: the largest figures and what follows from
    /// them, or the whole answer, which has both.
    pub fn sentences(&self, answer: &Answer) -> Vec<String> {
        if self.facts == [answer.text.as_str()] {
            return self.facts.clone();
        }
        let said = self.headline.iter().chain(&self.facts).filter(|said| !said.is_empty());
        said.map(|said| end_sentence(&capitalize(said))).collect()
    }

    /// Returns the board whose table stands in place of the columns.
    pub fn table(&self) -> Option<&Board> {
        self.board.as_ref().filter(|board| !board.rows.is_empty())
    }

    /// Describes the best bar of a column: `mmap, 256 KiB`, `p99 1.2 ms, pwrite fsync, 4 KiB`.
    pub fn caption(&self, column: &GlanceColumn) -> String {
        let Some(bar) = column.best_bar() else { return String::new() };
        let tail = bar.tail.filter(|_| column.access.is_commits());
        let tail = tail.map_or(String::new(), |nanos| format!("p99 {}", units::show_nanos(nanos)));
        let parts = [tail.as_str(), columns::row_name(&self.rows, column.best), &bar.at];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the glance of a session; `results`, `probes` and `answer` belong to it.
pub fn glance(
    session: &Session,
    results: &[CellResult],
    probes: &[ProbeResult],
    answer: &Answer,
) -> Glance {
    let (columns, rows) = columns::columns(session, results);
    let workloads = workloads(session, results);
    let expected = expected_with(session, results);
    let mut board = find_board(session, results, probes, answer, &expected);
    if !workloads.is_empty() {
        let head = board.filter(|board| board.rows.is_empty());
        board = Some(workloads::scoreboard(&workloads, head));
    }
    let table = board.as_ref().filter(|board| !board.rows.is_empty());
    let bars = || columns.iter().flat_map(|column| column.bars.iter().flatten());
    // A table may show several figures of one result.
    let indexes: BTreeSet<usize> = match table {
        Some(table) => table.cells().filter_map(|cell| cell.result).collect(),
        None => bars().map(|bar| bar.result).collect(),
    };
    let others = if table.is_some() { String::new() } else { warn_of_others(results, &indexes) };
    let shown: Vec<&CellResult> =
        indexes.into_iter().filter_map(|index| results.get(index)).collect();
    let shown_figures = facts::Shown { columns: &columns, rows: &rows, workloads: &workloads };
    let (headline, facts) = match table {
        Some(table) if !table.large => {
            let effects = describe_effects(&answer.effects).into_iter().map(|(_, clause)| clause);
            (vec![table.headline()], table.facts.iter().cloned().chain(effects).collect())
        }
        _ if results.is_empty() && !answer.text.is_empty() => {
            (Vec::new(), vec![answer.text.clone()])
        }
        _ => {
            let mut facts = board.as_ref().map_or(Vec::new(), |board| board.facts.clone());
            facts.extend(facts::facts(session, results, &shown_figures, answer));
            // Conditions have sentences of their own.
            let head = board.iter().filter(|_| expected.is_empty()).map(Board::headline);
            let head = head.filter(|said| !said.is_empty());
            (head.chain(facts::headline(results, &shown_figures)).collect(), facts)
        }
    };
    let facts = [facts, answer.courses.clone()].concat();
    let (settled, widest) = (settled::settled(session, results), table.and_then(Board::widest));
    let (mut trust, warned) = trust::trust(session, &shown, probes, settled, widest);
    trust.text += &others;
    Glance {
        conditions: Conditions::of(session),
        headline,
        facts,
        expected: expected.iter().map(Statement::of_expected).collect(),
        origin: origin::origin(session, results, &columns),
        trust,
        warned,
        probes: if results.is_empty() { describe_probes(probes) } else { Vec::new() },
        board,
        columns,
        rows,
    }
}

/// Counts the cells with warnings that only a chart marks; empty without any.
fn warn_of_others(results: &[CellResult], shown: &BTreeSet<usize>) -> String {
    let others = results.iter().enumerate().filter(|(at, _)| !shown.contains(at));
    match others.filter(|(_, result)| result.faults().next().is_some()).count() {
        0 => String::new(),
        1 => "; 1 other cell has warnings".into(),
        count => format!("; {count} other cells have warnings"),
    }
}

/// Returns the board with the rows of all these results, measured or not: during a run, each cell
/// has its row from the start.
pub fn growing_board(session: &Session, results: &[CellResult], knees: &[Knee]) -> Option<Board> {
    let is_paced = !results.is_empty() && results.iter().all(|result| result.cell.rate.is_some());
    match is_paced {
        _ if session.plan.watch => watched::watched(session, results),
        _ if session.plan.steady => sustain::sustain(session, results),
        _ if session.plan.variants.iter().any(|of| of.neighbour.is_some()) => {
            neighbours::neighbours(session, results)
        }
        true => paced::paced(session, results),
        false => board::growing(session, results, knees),
    }
}

/// Returns the board of the question that the session asks; `None` if the usual picture answers it,
/// or if the figure of the question is not known.
fn find_board(
    session: &Session,
    results: &[CellResult],
    probes: &[ProbeResult],
    answer: &Answer,
    expected: &[Expected],
) -> Option<Board> {
    if !expected.is_empty() {
        return board::judge(&session.plan, expected);
    }
    if results.is_empty() {
        return pictures::lab(session, probes).map(|(_, board)| board);
    }
    if results.iter().all(|result| result.wrong().is_some()) {
        return None;
    }
    if !answer.picked.is_empty() {
        return pictures::picked(session, results, &answer.picked);
    }
    let board = load::load(session, results)
        .or_else(|| growing_board(session, results, &answer.knees))
        .or_else(|| pictures::picture(session, results, answer))?;
    Some(board).filter(|board| !board.number.is_empty())
}

/// Returns label, figure and interval of each measured probe.
fn describe_probes(probes: &[ProbeResult]) -> Vec<(String, String, String)> {
    let describe = |probe: &ProbeResult| {
        let summary = probe.value?.summary;
        let trials = probe.counted_trials().len();
        let wrong = probe.wrong().is_some();
        let figure = GlanceFigure { summary, trials, reported: false, wrong, misleading: false };
        let shown = probe.unit?.show_with(summary.median, figure.precision());
        Some((probe.cell.label(), shown, figure.describe_certainty()))
    };
    probes.iter().filter_map(describe).collect()
}
