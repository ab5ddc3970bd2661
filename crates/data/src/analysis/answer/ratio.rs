//! Results and the ratios of their speeds, as numbers and in words.

use std::cmp::Ordering;

use crate::analysis::CellResult;
use crate::stats::{Ratio, Summary, median};
use crate::units::Precision;

/// A result with the summary by which it is compared.
#[derive(Clone, Copy)]
pub struct Point<'a> {
    pub result: &'a CellResult,
    pub rate: Summary,
}

impl<'a> Point<'a> {
    pub fn bytes(result: &'a CellResult) -> Option<Point<'a>> {
        Some(Point { result, rate: result.throughput?.summary })
    }

    pub fn calls(result: &'a CellResult) -> Option<Point<'a>> {
        Some(Point { result, rate: result.operations?.summary })
    }

    /// Returns a result by its commits per second.
    pub fn commits(result: &'a CellResult) -> Option<Point<'a>> {
        Some(Point { result, rate: result.commit_rate()? })
    }

    /// Returns the 95 % interval; `None` under 5 trials.
    pub fn interval(&self) -> Option<(f64, f64)> {
        Some((self.rate.low?, self.rate.high?))
    }

    /// Returns the ratio to `base` by [`CellResult::ratio_to`], in the unit of both rates.
    pub fn ratio(&self, base: &Point) -> Option<Ratio> {
        // Commits may be of different numbers of writes.
        let unit = |point: &Point| Some(point.rate.median / median(&point.result.speeds())?);
        let ratio = self.result.ratio_to(base.result)?;
        Some(ratio.scaled(unit(self)? / unit(base)?))
    }

    /// Returns the conclusion from their trials, and whether this one is faster; `None` if they
    /// are too few for an interval.
    pub fn compare(&self, base: &Point) -> Option<(Finding, bool)> {
        let ratio = self.ratio(base)?;
        ratio.interval().map(|_| (Finding::of(&ratio), ratio.ratio > 1.0))
    }
}

/// Conclusion from a ratio of speeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// It lies within 5 %, interval included.
    Alike,
    /// Its interval contains 1.
    Open,
    Differs,
}

impl Finding {
    pub fn of(ratio: &Ratio) -> Finding {
        if ratio.is_alike() {
            Finding::Alike
        } else if ratio.verdict() == Some(Ordering::Equal) {
            Finding::Open
        } else {
            Finding::Differs
        }
    }
}

/// Returns `9.8x`, `12x`, `1.04x`, with the digits that its interval allows.
pub fn times(ratio: &Ratio) -> String {
    Precision::of(ratio.half_width()).times(ratio.ratio)
}

/// Returns the same of a factor that has no interval, or is the end of one.
pub fn times_exactly(factor: f64) -> String {
    Precision::Full.times(factor)
}

/// A smaller ratio without an interval has no direction.
const NEAR: f64 = 1.05;

/// Returns `other is 2.1x [1.9-2.3] as fast as base`, with the verb in the present and the past, or
/// that there is no difference; the interval only if `exact`.
pub fn times_as_fast(
    (other, base): (&str, &str),
    ratio: &Ratio,
    [now, then]: [&str; 2],
    exact: bool,
) -> String {
    match Finding::of(ratio) {
        Finding::Alike => return format!("{other} and {base} are equally fast"),
        Finding::Open => return format!("no difference shows between {other} and {base}"),
        Finding::Differs => {}
    }
    let (fast, slow, ratio) =
        if ratio.ratio < 1.0 { (base, other, ratio.inverse()) } else { (other, base, *ratio) };
    let by = if exact { times_with_interval(&ratio) } else { times(&ratio) };
    match ratio.interval() {
        Some(_) => format!("{fast} {now} {by} as fast as {slow}"),
        None if ratio.ratio < NEAR => {
            format!("too few trials to tell whether {other} or {base} is faster")
        }
        None => format!("in these few trials {fast} {then} {by} as fast as {slow}"),
    }
}

/// Returns `9.8x [9.1-10]`; without an interval only the factor.
pub fn times_with_interval(ratio: &Ratio) -> String {
    let end = |value: f64| times_exactly(value).trim_end_matches('x').to_string();
    let ends = ratio.interval().map(|(low, high)| format!(" [{}-{}]", end(low), end(high)));
    times(ratio) + &ends.unwrap_or_default()
}
