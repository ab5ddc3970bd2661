//! The answer: what the results say in a few plain sentences, and the facts behind them.
//!
//! Only what the data carry is claimed. A difference needs two intervals that do not overlap, a
//! result that is warned to be wrong is never compared with others, and without intervals the text
//! says so.

mod best;
mod cold;
mod label;
mod model;
mod point;
mod series;
mod text;
mod ways;
mod writes;

#[cfg(test)]
mod tests;

pub(super) use label::Labels;

pub use best::Best;
pub use cold::ColdCost;
pub use model::Answer;
pub use series::Knee;

use point::Point;

use crate::analysis::{CellResult, Network, TrialWork};
use crate::engine::{moves_data, only_loops};
use crate::experiment::{CALLS, MEASURE};
use crate::plan::Op;
use crate::session::Session;
use crate::units;

/// The answer of these results: a pure function of them.
pub fn answer(results: &[CellResult]) -> Answer {
    let (reads, writes, calls) = (of(results, Op::Read), of(results, Op::Write), calls(results));
    let mut bests = [&reads, &writes, &calls].into_iter().filter_map(|group| best::best(group));
    let (best, also) = (bests.next(), bests.collect());
    let trusted: Vec<Point> = reads
        .iter()
        .chain(&writes)
        .filter(|point| point.result.wrong().is_none())
        .copied()
        .collect();
    let axis = series::axis(&trusted);
    let knees = axis.map_or_else(Vec::new, |axis| series::knees(&trusted, axis));
    let cold_cost = cold::cost(&trusted, &knees);
    let mut answer = Answer {
        text: String::new(),
        best,
        also,
        knees,
        cold_cost,
        picked: Vec::new(),
        network: Network::default(),
    };
    answer.text = text::text(results, &answer);
    answer
}

/// What these results say to the question of their experiment; `None` where that is which way is
/// the fastest.
pub fn of_experiment(session: &Session, results: &[CellResult], general: &str) -> Option<String> {
    let (calls, peers) = (ways::calls(results), ways::peers(results));
    let own = match session.plan.experiment.as_str() {
        MEASURE => counts(results)?,
        CALLS => calls?,
        _ => {
            let said: Vec<String> =
                [calls.or(peers), writes::beside(results), writes::read_back(results)]
                    .into_iter()
                    .flatten()
                    .collect();
            return (!said.is_empty()).then(|| format!("{general} {}", said.join(" ")));
        }
    };
    let failed = text::failed(results, &Labels::of(results.iter().map(|result| &result.cell)));
    Some([Some(own), failed].into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// `Reasonable counts range from 16777216 at 1 B (5.91 s) to 64 at 128 MiB (5.20 s).`
fn counts(results: &[CellResult]) -> Option<String> {
    let found: Vec<(&CellResult, TrialWork)> =
        results.iter().filter_map(|result| Some((result, result.work()?.of_a_pass()))).collect();
    let told = |(result, work): &(&CellResult, TrialWork)| {
        format!(
            "{} at {} ({})",
            work.count,
            units::show_bytes(result.cell.block),
            units::show_nanos(work.nanos)
        )
    };
    let (least, most) = (
        found.iter().min_by_key(|(result, _)| result.cell.block)?,
        found.iter().max_by_key(|(result, _)| result.cell.block)?,
    );
    Some(match found.len() {
        1 => format!("A reasonable count is {}.", told(least)),
        all => format!(
            "Reasonable counts range from {} to {}; the table of counts lists all {all}.",
            told(least),
            told(most)
        ),
    })
}

/// The cells of an operation that move bytes.
fn of(results: &[CellResult], op: Op) -> Vec<Point<'_>> {
    results.iter().filter(|r| r.cell.op == op).filter_map(Point::bytes).collect()
}

/// The cells that move none: they are compared by operations per second. The bare loop makes no
/// call: it is named only where nothing else was measured.
fn calls(results: &[CellResult]) -> Vec<Point<'_>> {
    let nothing_else = results.iter().all(|r| only_loops(&r.cell));
    let calls =
        results.iter().filter(|r| !moves_data(&r.cell) && (nothing_else || !only_loops(&r.cell)));
    calls.filter_map(Point::calls).collect()
}
