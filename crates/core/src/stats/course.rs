//! Whether values in time order stay at one level, step from one to another, or drift.
//!
//! A median and its interval assume that trials are exchangeable: the median of a rate that was
//! throttled half-way is neither of its two levels. Both tests use ranks, so they assume no shape
//! of the noise, and their limits are exact for small sets: the largest standardized rank sum over
//! all splits (Pettitt 1979, weighted; the limit accounts for choosing the split) for steps, and
//! Mann-Kendall for drifts. Together they raise a false alarm in under 2 % of sets. A level that
//! drops and recovers within one set is not detected here but as two modes.

use serde::Serialize;

use super::median;

/// How the level changed, with the stretches that show it, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    pub kind: Kind,
    /// At least two. Step: the stretches between steps. Drift: the first and the last third.
    pub stretches: Vec<Stretch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Step,
    Drift,
}

/// Consecutive values, from index `first` to `last`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    pub first: usize,
    pub last: usize,
    pub median: f64,
}

impl Stretch {
    pub(super) fn new(values: &[f64], first: usize, last: usize) -> Self {
        Self { first, last, median: median(&values[first..=last]).unwrap_or(f64::NAN) }
    }
}

/// A change below this share of the higher level is not reported.
const WORTH_NOTING: f64 = 0.05;
/// False-alarm probability of each test.
const ALPHA: f64 = 0.0085;
/// Five values in perfect order occur by chance in 2 of 120 cases; no other order of five can be
/// significant.
const ALPHA_OF_FIVE: f64 = 0.017;
/// Minimum number of values in a stretch: one stray value is not a level.
const MIN_STRETCH: usize = 2;

/// A longer series is reduced to at most this many group medians, because the time of the tests
/// grows with the square of the number.
const MAX_GROUPS: usize = 200;

/// Returns how the level of `values` changed over time; `None` if it did not change by more than
/// chance and more than 5 %.
///
/// Also returns `None` if any value is not above 0.
pub fn course(values: &[f64]) -> Option<Course> {
    if values.len() < 5 || values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
        return None;
    }
    if values.len() <= MAX_GROUPS {
        return change(values);
    }
    let size = values.len().div_ceil(MAX_GROUPS);
    let groups: Vec<f64> = values.chunks(size).filter_map(median).collect();
    let mut found = change(&groups)?;
    for stretch in &mut found.stretches {
        *stretch = Stretch::new(
            values,
            stretch.first * size,
            ((stretch.last + 1) * size).min(values.len()) - 1,
        );
    }
    Some(found)
}

fn change(values: &[f64]) -> Option<Course> {
    if !steps(values) && !drifts(values) {
        return None;
    }
    // On a logarithmic scale ratios become differences, and an exponential decay a line.
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let (at, step) = best_split(&logs)?;
    let mut bounds = vec![0];
    split(&values[..at], 0, &mut bounds);
    bounds.push(at);
    split(&values[at..], at, &mut bounds);
    bounds.push(values.len());
    let line = line_misfit(&logs);
    // Many levels fit any curve better than a line does, so they must fit much better.
    let levels = bounds.windows(2).map(|pair| misfit(&logs[pair[0]..pair[1]])).sum::<f64>();
    let course = if line < step && (bounds.len() == 3 || line < 2.0 * levels) {
        let third = (values.len() / 3).max(MIN_STRETCH);
        let ends = vec![
            Stretch::new(values, 0, third - 1),
            Stretch::new(values, values.len() - third, values.len() - 1),
        ];
        Course { kind: Kind::Drift, stretches: ends }
    } else {
        Course {
            kind: Kind::Step,
            stretches: bounds
                .windows(2)
                .map(|pair| Stretch::new(values, pair[0], pair[1] - 1))
                .collect(),
        }
    };
    fn changed(pair: &[Stretch]) -> bool {
        differ(pair[0].median, pair[1].median)
    }
    course.stretches.windows(2).any(changed).then_some(course)
}

fn differ(one: f64, other: f64) -> bool {
    (one - other).abs() > WORTH_NOTING * one.max(other)
}

/// Adds the steps within the stretch that begins at index `from`.
fn split(values: &[f64], from: usize, bounds: &mut Vec<usize>) {
    if !steps(values) {
        return;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let Some((at, _)) = best_split(&logs) else { return };
    fn level(part: &[f64]) -> f64 {
        median(part).unwrap_or(f64::NAN)
    }
    if differ(level(&values[..at]), level(&values[at..])) {
        split(&values[..at], from, bounds);
        bounds.push(from + at);
        split(&values[at..], from + at, bounds);
    }
}

/// Limits of the largest standardized rank sum, by the number of values: exceeded by chance in
/// [`ALPHA`] of 2 million simulated orders (fewer from 40 values on). Below 10 values no order is
/// that rare. Between two entries the later one applies.
const LIMITS: &[(usize, f64)] = &[
    (10, 2.6111),
    (11, 2.7385),
    (12, 2.7385),
    (13, 2.8570),
    (14, 2.8667),
    (15, 2.8932),
    (16, 2.9109),
    (17, 2.9515),
    (18, 2.9736),
    (20, 3.0114),
    (22, 3.0534),
    (24, 3.0921),
    (26, 3.1096),
    (28, 3.1492),
    (30, 3.1627),
    (40, 3.2465),
    (50, 3.3138),
    (70, 3.3637),
    (100, 3.4473),
    (MAX_GROUPS, 3.5632),
];

fn steps(values: &[f64]) -> bool {
    by_rank(values) || by_gap(values)
}

fn by_rank(values: &[f64]) -> bool {
    let n = values.len();
    if n < LIMITS[0].0 {
        return false;
    }
    let limit =
        LIMITS.iter().find(|(most, _)| n <= *most).map_or(f64::INFINITY, |(_, limit)| *limit);
    largest_rank_sum(&ranks(values)) >= limit
}

/// Returns ranks from 1; ties share their mean rank, which makes the test stricter.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = before as f64 + (tied.len() as f64 + 1.0) / 2.0;
        tied.iter().for_each(|at| ranks[*at] = rank);
        before += tied.len();
    }
    ranks
}

fn largest_rank_sum(ranks: &[f64]) -> f64 {
    let n = ranks.len();
    let (mut sum, mut largest) = (0.0, 0.0f64);
    for (before, rank) in ranks.iter().enumerate() {
        sum += rank - (n as f64 + 1.0) / 2.0;
        let split = before + 1;
        if split >= MIN_STRETCH && n - split >= MIN_STRETCH {
            let spread = (split * (n - split)) as f64 * (n as f64 + 1.0) / 12.0;
            largest = largest.max(sum.abs() / spread.sqrt());
        }
    }
    largest
}

/// Tests for a step by ranks and distances together, which can show one from 8 values on where
/// ranks alone cannot: all values before it are on one side of all values after it, and the gap is
/// wide compared with the scatter on both sides.
///
/// Two modes that alternate by chance are ordered like that too, in 2 of 2^n cases for each allowed
/// split: the number of allowed splits keeps that below 1 %.
fn by_gap(values: &[f64]) -> bool {
    let n = values.len();
    let allowed = match n {
        0..8 => return false,
        8 => 4..=4,
        9 => 4..=5,
        10 => 4..=6,
        _ => 4..=n - 4,
    };
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    fn extremes(part: &[f64]) -> (f64, f64) {
        part.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)))
    }
    allowed.into_iter().any(|at| {
        let ((low, high), (later_low, later_high)) = (extremes(&logs[..at]), extremes(&logs[at..]));
        let gap = (later_low - high).max(low - later_high);
        let scatter = ((squares(&logs[..at]) + squares(&logs[at..])) / (n - 2) as f64).sqrt();
        gap > 0.15 && gap > GAP * scatter
    })
}

/// Ratio of gap to scatter above which a gap counts as a step. A single mode is ordered like that
/// with such a gap in far less than 1 % of sets.
const GAP: f64 = 3.0;

/// Returns the sum of squared deviations from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Tests for a drift (Mann-Kendall): more pairs in one order than chance explains.
fn drifts(values: &[f64]) -> bool {
    let n = values.len();
    let mut balance = 0i64;
    for (at, value) in values.iter().enumerate() {
        for later in &values[at + 1..] {
            balance += i64::from(later > value) - i64::from(later < value);
        }
    }
    let alpha = if n == 5 { ALPHA_OF_FIVE } else { ALPHA };
    chance_of_order(n, balance.unsigned_abs()) <= alpha
}

/// Returns the probability that at least `balance` more pairs of `n` values are in one order than
/// in the other, in either direction: exact up to 40 values.
fn chance_of_order(n: usize, balance: u64) -> f64 {
    let pairs = n * (n - 1) / 2;
    if n > 40 {
        // Normal approximation with a continuity correction for steps of 2: 0.0085 is at 2.63.
        let n = n as f64;
        let spread = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
        return if (balance as f64 - 1.0) / spread >= 2.64 { ALPHA } else { 1.0 };
    }
    // up_to[i]: the probability that the first k values have fewer than i pairs in the wrong order.
    // The k-th value adds 0 to k - 1 of them with equal probability: a moving average, computed in
    // one step from differences of sums.
    let mut up_to = vec![0.0, 1.0];
    for k in 2..=n {
        let before = up_to.len() - 1;
        let mut next = Vec::with_capacity(up_to.len() + k);
        let mut sum = 0.0;
        next.push(sum);
        for at in 0..before + k - 1 {
            sum += (up_to[(at + 1).min(before)] - up_to[(at + 1).saturating_sub(k)]) / k as f64;
            next.push(sum);
        }
        up_to = next;
    }
    let most = (pairs - (balance as usize).min(pairs)) / 2;
    if balance == 0 { 1.0 } else { (2.0 * up_to[most + 1]).min(1.0) }
}

/// Returns the misfit of a single level: the sum of the distances from it.
pub(super) fn misfit(part: &[f64]) -> f64 {
    let level = median(part).unwrap_or(0.0);
    part.iter().map(|value| (value - level).abs()).sum()
}

/// Returns the split where two levels fit best, and their misfit as a sum of distances.
fn best_split(logs: &[f64]) -> Option<(usize, f64)> {
    let splits = MIN_STRETCH..=logs.len().checked_sub(MIN_STRETCH)?;
    splits
        .map(|at| (at, misfit(&logs[..at]) + misfit(&logs[at..])))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns the misfit of a line whose slope is the median of all slopes (Theil 1950, Sen 1968).
fn line_misfit(logs: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> =
        logs.iter().enumerate().map(|(at, value)| (at as f64, *value)).collect();
    let pairs = points
        .iter()
        .enumerate()
        .flat_map(|(i, a)| points[i + 1..].iter().map(move |b| (b.1 - a.1) / (b.0 - a.0)));
    let slope = median(&pairs.collect::<Vec<f64>>()).unwrap_or(0.0);
    let rest: Vec<f64> =
        logs.iter().enumerate().map(|(at, value)| value - slope * at as f64).collect();
    let level = median(&rest).unwrap_or(0.0);
    rest.iter().map(|value| (value - level).abs()).sum()
}

#[cfg(test)]
mod tests;
