//! The picture of rates: the highest that is kept, or at which a condition holds, and how long
//! operations take at each.

use super::board::{Board, BoardCell, BoardColumn};
use super::model::GlanceFigure;
use crate::analysis::answer::{
    FoundTarget, RateCurve, describe_missed, describe_waits, names_without_rates, waking_nanos,
};
use crate::analysis::{CellNames, CellResult, LatencyOf, brief_words};
use crate::plan::{Axis, Job};
use crate::session::Session;
use crate::stats::Summary;
use crate::units::column;

/// A result with its index among all.
type Row<'a> = (usize, &'a CellResult);

/// Returns the board of cells that are all under a rate.
pub fn paced(session: &Session, results: &[CellResult]) -> Option<Board> {
    // A search leaves most rates out.
    let is_search = session.plan.latency_target.is_some();
    let all = results.iter().enumerate();
    let mut shown: Vec<Row> = all.filter(|(_, of)| !is_search || !of.trials.is_empty()).collect();
    shown.sort_by_cached_key(|(_, of)| match is_search {
        true => Axis::Rate.value_of(&of.cell),
        false => 0,
    });
    let curves = RateCurve::all(results);
    let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
    let without_rates = names_without_rates(results);
    let head = match is_search {
        true => target_head(session, results, &without_rates),
        false => kept_head(&curves, &without_rates),
    };
    let (board, lead) = head?;
    let name = |(_, of): &Row| match curves.len() {
        1 => Axis::Rate.value(&of.cell),
        _ => names.own(&of.cell),
    };
    Some(Board {
        axis: if curves.len() == 1 { Axis::Rate.column() } else { Axis::Backend.column() },
        rows: shown.iter().map(name).collect(),
        lead: lead.and_then(|lead| shown.iter().position(|(_, of)| of.cell == lead)),
        columns: columns(session, &shown),
        ..board
    })
}

/// Sets a rate as the large figure.
fn with_rate(board: Board, shown: &str) -> Board {
    let digits = shown.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0);
    let (number, unit) = shown.split_at(digits.unwrap_or(shown.len()));
    Board { number: number.into(), unit: unit.into(), ..board }
}

/// Names the curve that keeps the highest rate, and its cell.
fn kept_head(curves: &[RateCurve], names: &CellNames) -> Option<(Board, Option<Job>)> {
    let rank = |curve: &&RateCurve| curve.highest_kept().map(|of| Axis::Rate.value_of(&of.cell));
    let first = curves.iter().rev().max_by_key(rank)?;
    let (kept, missed) = (first.highest_kept(), first.lowest_missed());
    let mut beside = kept.map_or(Vec::new(), describe_waits);
    beside.extend(missed.map(|of| describe_missed(of, false)));
    if missed.is_none() && first.results.len() > 1 && kept.is_some() {
        beside.push("the highest rate tried".into());
    }
    let others = curves.iter().filter(|curve| curve.job != first.job);
    let others = others.filter_map(|curve| curve.describe(&names.full(&curve.job)));
    let facts = first.describe_idling().into_iter().chain(others).collect();
    let title = format!("{} keeps", names.full(&first.job));
    let shown = match kept {
        Some(of) => Axis::Rate.value(&of.cell),
        None => missed.map_or(String::new(), |_| "none".into()),
    };
    let board = with_rate(Board { title, beside, facts, ..Board::default() }, &shown);
    Some((board, kept.or(missed).map(|of| of.cell.clone())))
}

/// Names the curve on which the condition of the search holds at the highest rate, and its cell.
fn target_head(
    session: &Session,
    results: &[CellResult],
    names: &CellNames,
) -> Option<(Board, Option<Job>)> {
    let condition = session.plan.latency_target.as_ref()?;
    let found = FoundTarget::all(session, results);
    let rank = |found: &&FoundTarget| found.holds.as_ref().map(|job| Axis::Rate.value_of(job));
    let Some(first) = found.iter().rev().max_by_key(rank) else {
        let name = results.first().map(|of| names.full(&Axis::Rate.without(&of.cell)))?;
        let title = format!("{name} keeps {condition} up to");
        return Some((Board { title, ..Board::default() }, None));
    };
    let others = found.iter().filter(|found| found.job != first.job);
    let title = format!("{} keeps {condition} up to", names.full(&first.job));
    let shown = first.holds.as_ref().map_or("no rate".into(), |job| Axis::Rate.value(job));
    let beside = first.describe_there().into_iter().chain([first.describe_end()]).collect();
    let facts = others.map(|found| found.describe(names).trim_end_matches('.').into()).collect();
    let board = with_rate(Board { title, beside, facts, ..Board::default() }, &shown);
    Some((board, first.holds.clone().or(first.fails.clone())))
}

/// Returns the reached rates, and the times from the intended starts.
fn columns(session: &Session, rows: &[Row]) -> Vec<BoardColumn> {
    let cell = |(at, result): &Row, summary: Option<Summary>| {
        let figure = GlanceFigure::of(session, result, summary?);
        let caveat = result.faults().map(brief_words).next().unwrap_or_default();
        Some(BoardCell { caveat, ..BoardCell::new(Some(*at), figure) })
    };
    let of = |summary: &dyn Fn(&CellResult) -> Option<Summary>| -> Vec<_> {
        rows.iter().map(|row| cell(row, summary(row.1))).collect()
    };
    let time = |title: &str, value: &dyn Fn(&CellResult) -> Option<f64>| {
        let cells = of(&|result| Summary::from_values(&[value(result)?]));
        BoardColumn { intervals: false, ..BoardColumn::new(title, column::TIME, cells) }
    };
    let reached = of(&|result| Some(result.operations?.summary));
    let latency = |result: &CellResult, of: fn(&LatencyOf) -> Option<f64>| of(&result.latency?);
    let mut columns = vec![
        BoardColumn::new("reached", column::PER_SECOND, reached),
        time("p50", &|result| latency(result, |of| of.p50)),
        time("p99", &|result| latency(result, |of| of.p99)),
        time("p99.9", &|result| latency(result, |of| of.p999)),
    ];
    if rows.iter().any(|(_, result)| result.service.is_some()) {
        columns.push(time("service p99", &|result| result.service?.p99));
        columns.push(time("waking", &waking_nanos));
    }
    columns
}
