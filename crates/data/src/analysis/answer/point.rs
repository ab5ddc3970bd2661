//! A result with the rate by which the answer compares it.

use super::ratio::Finding;
use crate::analysis::CellResult;
use crate::stats::{Ratio, Summary, median};

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

    /// Returns how many times as fast as `base` it is, as [`CellResult::ratio_to`], in the unit of
    /// both rates.
    pub fn ratio(&self, base: &Point) -> Option<Ratio> {
        // Commits may be of different numbers of writes.
        let unit = |point: &Point| Some(point.rate.median / median(&point.result.speeds())?);
        let ratio = self.result.ratio_to(base.result)?;
        Some(ratio.scaled(unit(self)? / unit(base)?))
    }

    /// Returns what their trials show, and whether this one is then the faster; `None` where they
    /// are too few for an interval.
    pub fn compare(&self, base: &Point) -> Option<(Finding, bool)> {
        let ratio = self.ratio(base)?;
        ratio.interval().map(|_| (Finding::of(&ratio), ratio.ratio > 1.0))
    }
}
