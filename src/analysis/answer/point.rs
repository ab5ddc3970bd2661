//! A result with the rate by which the answer compares it.

use crate::analysis::CellResult;
use crate::stats::Summary;

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

    /// Returns whether both have an interval and the two overlap.
    pub fn overlaps(&self, other: &Point) -> bool {
        match (self.interval(), other.interval()) {
            (Some((low, high)), Some((other_low, other_high))) => {
                low <= other_high && other_low <= high
            }
            _ => false,
        }
    }
}
