//! The answer: the results in a few plain sentences, and the facts behind them.
//!
//! Only what the data supports is claimed. A difference needs an interval of the ratio beyond 1,
//! and equality one within 5 % of it ([`Finding`]). A result that is warned to be wrong is never
//! compared with others, and without intervals the text says so.

mod best;
mod cold;
mod commits;
mod counts;
mod effect;
mod paced;
mod ratio;
mod series;
mod target;
mod targets;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
mod text;
mod ways;
mod writes;

pub(super) use best::{best_of, find_best};
pub(super) use commits::{commit_sentences, is_durable};
pub(super) use paced::{
    RateCurve, at_full_speed, describe_missed, describe_waits, keeps_rate, names_without_rates,
    waking_nanos,
};
pub(super) use ratio::{Finding, Point, times, times_as_fast, times_exactly, times_with_interval};
pub(super) use target::FoundTarget;
pub(super) use writes::describe_read_back;

pub use best::Best;
pub use cold::ColdCost;
pub use counts::{FileNeeded, file_needed};
pub use effect::{Effect, describe_effects};
pub use series::Knee;
pub use target::target_outcome;
pub use text::{Answer, capitalize, end_sentence};
pub(super) use text::{describe_tied, show_rate};

use crate::analysis::over_time::describe_lasting;
use crate::analysis::verified::describe_verified;
use crate::analysis::watched::describe_watched;
use crate::analysis::why::Devices;
use crate::analysis::{CellNames, CellResult, Network};
use crate::catalog::{moves_data, only_loops};
use crate::experiment::{CALLS, COMMIT, MEASURE};
use crate::plan::{Axis, Job, Op, Skipped};
use crate::session::Session;

/// Returns the answer that these results support.
pub fn answer(results: &[CellResult]) -> Answer {
    answer_beside(results, &[])
}

/// Returns the same, knowing which cells were not measured: a curve does not end where they begin.
pub fn answer_beside(results: &[CellResult], skipped: &[Skipped]) -> Answer {
    let full_speed = at_full_speed(results);
    if full_speed.len() < results.len() {
        let paced = paced::describe_rates(results);
        let answer = match full_speed.is_empty() {
            true => Answer::default(),
            false => answer_beside(&full_speed, skipped),
        };
        let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
        let paced = [
            paced,
            text::describe_wrong(results, &answer, &names),
            text::describe_failures(results, &names),
        ];
        let own = Some(answer.text).filter(|text| !text.is_empty());
        let said: Vec<String> = own.into_iter().chain(paced.into_iter().flatten()).collect();
        let text = match said.is_empty() {
            true => text::text(results, &Answer::default()),
            false => said.join(" "),
        };
        return Answer { text, ..answer };
    }
    let (reads, writes, calls) =
        (points_of(results, Op::Read), points_of(results, Op::Write), call_points(results));
    let mut bests =
        [&reads, &writes, &calls].into_iter().filter_map(|group| best::find_best(group));
    let (best, also) = (bests.next(), bests.collect());
    let trusted: Vec<Point> = reads
        .iter()
        .chain(&writes)
        .filter(|point| point.result.wrong().is_none())
        .copied()
        .collect();
    let axis = series::axis(&trusted);
    let failed = results.iter().filter(|r| r.throughput.is_none() && r.error.is_some());
    let missing: Vec<&Job> =
        skipped.iter().map(|skipped| &skipped.cell).chain(failed.map(|r| &r.cell)).collect();
    // A mix with more reads is another load, and a part of a file does not replace the whole:
    // on neither axis does more cost more.
    let axis = axis.filter(|axis| !matches!(axis, Axis::Mix | Axis::Size));
    let knees = axis.map_or_else(Vec::new, |axis| series::knees(&trusted, axis, &missing));
    let devices = Devices::from_results(results);
    let cold_cost = cold::cost(&trusted, &knees, &devices);
    let mut answer = Answer {
        text: String::new(),
        best,
        also,
        knees,
        cold_cost,
        effects: effect::effects(results, &devices),
        picked: Vec::new(),
        targets: targets::compare_targets(results),
        network: Network::default(),
        courses: Vec::new(),
    };
    answer.text = text::text(results, &answer);
    answer
}

/// Returns the answer to the question of the session's experiment; `None` where that question is
/// which method is the fastest.
pub fn answer_experiment(
    session: &Session,
    results: &[CellResult],
    general: &Answer,
) -> Option<String> {
    let with_failures = |own: String| {
        let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
        let failed = text::describe_failures(results, &names);
        Some([Some(own), failed].into_iter().flatten().collect::<Vec<_>>().join(" "))
    };
    let found = target::describe_found_targets(session, results)
        .or_else(|| describe_lasting(session, results))
        .or_else(|| describe_watched(session, results));
    if let Some(found) = found {
        return with_failures(found);
    }
    let results = &*at_full_speed(results);
    if results.is_empty() {
        return None;
    }
    let own = match session.plan.experiment.as_str() {
        MEASURE => counts::describe_counts(&session.plan, results)?,
        CALLS => ways::compare_calls(results)?,
        COMMIT => commits::describe_commits(results)?,
        _ => {
            let effects = describe_effects(&general.effects);
            let effects = effects.iter().map(|(_, clause)| capitalize(clause) + ".");
            let effects: Vec<String> = effects.collect();
            let said: Vec<String> = [
                describe_ways(results),
                Some(effects.join(" ")),
                commits::describe_commits(results),
                writes::compare_writes(results),
                writes::describe_read_back(results),
                describe_verified(results),
            ]
            .into_iter()
            .flatten()
            .filter(|said| !said.is_empty())
            .collect();
            return (!said.is_empty()).then(|| format!("{} {}", general.text, said.join(" ")));
        }
    };
    with_failures(own)
}

/// Returns the ratios of the speeds of calls, of other programs, or else of the ways to read.
pub fn describe_ways(results: &[CellResult]) -> Option<String> {
    ways::compare_calls(results)
        .or_else(|| ways::compare_peers(results))
        .or_else(|| ways::compare_ways(results))
}

/// Returns the cells of an operation that move bytes.
fn points_of(results: &[CellResult], op: Op) -> Vec<Point<'_>> {
    results.iter().filter(|r| r.cell.op == op).filter_map(Point::bytes).collect()
}

/// Returns the cells that move no bytes, which are compared by operations per second. The bare loop
/// makes no call and is included only if nothing else was measured.
fn call_points(results: &[CellResult]) -> Vec<Point<'_>> {
    let nothing_else = results.iter().all(|r| only_loops(&r.cell));
    let calls =
        results.iter().filter(|r| !moves_data(&r.cell) && (nothing_else || !only_loops(&r.cell)));
    calls.filter_map(Point::calls).collect()
}
