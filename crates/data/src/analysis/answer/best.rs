//! The fastest cell, and cells that do not differ from it.

use serde::Serialize;

use super::ratio::{Finding, Point};
use crate::analysis::SummaryOf;
use crate::analysis::groups::group_by_key;
use crate::plan::Job;
use crate::stats::Ratio;
use crate::units::Precision;

/// The fastest cell of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    pub cell: Job,
    /// `None` for a call that moves no bytes.
    pub throughput: Option<SummaryOf>,
    pub operations: Option<SummaryOf>,
    /// Trials behind the figure.
    pub trials: usize,
    /// Cells of which these trials do not show that they are slower, the fastest first.
    pub no_difference: Vec<Job>,
    /// Rivals with a ratio within 5 %, interval included; the others are
    /// inconclusive.
    pub alike: Vec<Job>,
    /// It has too few trials, because all cells have or because it is ahead of cells with enough:
    /// it is the highest so far, not the fastest.
    #[serde(skip)]
    pub provisional: bool,
    /// The message of its warning, if every cell of the group is marked wrong.
    pub wrong: Option<String>,
}

impl Best {
    /// Returns the digits that its trials allow.
    pub fn precision(&self) -> Precision {
        let summary = self.throughput.or(self.operations).map(|of| of.summary);
        match self.provisional {
            true => Precision::Two,
            false => Precision::of(summary.and_then(|summary| summary.half_width())),
        }
    }
}

/// Brings to the front what is surely faster than the first: medians of cells that drift alike may
/// be in another order than their trials are, round by round.
fn lead_by_pairs(pool: &mut [Point]) {
    for _ in 1..pool.len() {
        let Some((top, others)) = pool.split_first() else { return };
        let beats = |other: &Point| other.compare(top) == Some((Finding::Differs, true));
        let Some(faster) = others.iter().position(beats) else { return };
        pool[..=faster + 1].rotate_right(1);
    }
}

/// Minimum number of trials for a cell with too few to lead, if it is ahead in each of these.
const MIN_TRIALS_AHEAD: usize = 3;

/// Returns whether a cell of too few trials is faster in each of them than the best of the others
/// may be.
fn is_ahead(point: &Point, best: &Point) -> bool {
    point.result.counted_trials().len() >= MIN_TRIALS_AHEAD
        && point.rate.min > best.rate.high.unwrap_or(best.rate.max)
}

/// Sorts by median, the highest first. If its interval begins 5 % or more below it, the narrowest
/// of the surer cells within 5 % of it comes to the front: next to a wide interval, no other cell
/// would count as slower.
pub fn rank(pool: &mut [Point]) {
    // Stable: of equal cells, the first of the plan wins.
    pool.sort_by(|a, b| b.rate.median.total_cmp(&a.rate.median));
    let Some(top) = pool.first().copied().filter(|top| !is_sure(top)) else { return };
    let width = |at: &usize| pool[*at].rate.half_width().unwrap_or(f64::INFINITY);
    let close = |at: &usize| {
        is_sure(&pool[*at]) && pool[*at].rate.median >= top.rate.median * (1.0 - Ratio::TOLERANCE)
    };
    let sure = (0..pool.len()).filter(close).min_by(|a, b| width(a).total_cmp(&width(b)));
    pool[..=sure.unwrap_or(0)].rotate_right(1);
}

fn is_sure(point: &Point) -> bool {
    point.rate.low.is_some_and(|low| low >= point.rate.median * (1.0 - Ratio::TOLERANCE))
}

/// Returns the cell with the highest median, or a sure one within 5 % of it. Cells that are marked
/// wrong or failed count only if there are no others; a cell with too few trials also if each of
/// them beats the best finished cell.
pub fn find_best(group: &[Point]) -> Option<Best> {
    let pool = prefer(group.to_vec(), |point| point.result.wrong().is_none());
    let pool = prefer(pool, |point| point.result.error.is_none());
    let ranked: Vec<Point> =
        pool.iter().filter(|point| !point.result.is_unfinished()).copied().collect();
    let best = ranked.iter().copied().max_by(|a, b| a.rate.median.total_cmp(&b.rate.median));
    let leads = |point: &&Point| {
        !point.result.is_unfinished() || best.is_none_or(|best| is_ahead(point, &best))
    };
    let pool: Vec<Point> = pool.iter().filter(leads).copied().collect();
    let mut pool = keep_longest(&pool);
    rank(&mut pool);
    lead_by_pairs(&mut pool);
    let (top, others) = pool.split_first()?;
    let findings: Vec<(&Point, Finding)> =
        others.iter().filter_map(|other| Some((other, other.compare(top)?.0))).collect();
    let cells = |is_one: fn(Finding) -> bool| {
        let found = findings.iter().filter(|(_, finding)| is_one(*finding));
        found.map(|(other, _)| other.result.cell.clone()).collect()
    };
    Some(Best {
        cell: top.result.cell.clone(),
        throughput: top.result.throughput,
        operations: top.result.operations,
        trials: top.result.counted_trials().len(),
        no_difference: cells(|finding| finding != Finding::Differs),
        alike: cells(|finding| finding == Finding::Alike),
        provisional: top.result.is_unfinished(),
        wrong: top.result.wrong().map(|warning| warning.message.clone()),
    })
}

/// Keeps the matching points, or all if none matches.
fn prefer<'a>(pool: Vec<Point<'a>>, asked: impl Fn(&Point) -> bool) -> Vec<Point<'a>> {
    let found: Vec<Point> = pool.iter().filter(|point| asked(point)).copied().collect();
    if found.is_empty() { pool } else { found }
}

/// Returns the best of these like [`find_best`], with its number and its point.
pub fn best_of<'a>(group: &[(usize, Point<'a>)]) -> Option<(Best, usize, Point<'a>)> {
    let points: Vec<Point> = group.iter().map(|(_, point)| *point).collect();
    let best = find_best(&points)?;
    let (number, point) = *group.iter().find(|(_, point)| point.result.cell == best.cell)?;
    Some((best, number, point))
}

/// Keeps, of cells that differ only in their count, the one with the longest trials: a thousand
/// calls measure the start as much as the calls, and chance would decide which is the fastest.
fn keep_longest<'a>(group: &[Point<'a>]) -> Vec<Point<'a>> {
    let operations = |point: &Point| point.result.trials.iter().map(|trial| trial.ops).max();
    let groups = group_by_key(group.iter().copied(), |point| Job {
        count: None,
        ..point.result.cell.clone()
    });
    // The first of equals.
    let longest = |(_, all): (Job, Vec<Point<'a>>)| all.into_iter().rev().max_by_key(operations);
    groups.into_iter().filter_map(longest).collect()
}
