//! The latency of a cell: the part of a histogram that the session saves.

use serde::{Deserialize, Serialize};

use crate::plan::Metric;
use crate::stats::{Histogram, Summary, tail_limits};

/// Half the width of a bucket of latencies, as a share of its value.
const HALF_BUCKET: f64 = 0.005;

/// The times of the commits of a cell: each waits until what was written before it is durable.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CommitTimes {
    /// From the start of the first write to the end of the sync.
    pub total: Latency,
    /// From there to the end of the last write; `None` where the two cannot be seen apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Latency>,
    /// The sync alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Latency>,
}

/// Latencies of the timed operations of all trials of a cell, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Operations that were timed.
    pub count: u64,
    /// Operations that were intended at a rate and not begun: longer than all others, and
    /// unbounded. A percentile among them is `None`. Omitted from JSON if 0.
    #[serde(default, skip_serializing_if = "crate::units::is_zero")]
    pub unstarted: u64,
    /// One in `every` operations was timed; 1 = all of them.
    pub every: u32,
    pub mean: f64,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: f64,
    /// (nanoseconds, operations) in ascending order, without empty buckets; each 1 % wide.
    pub buckets: Vec<(u64, u64)>,
}

impl Latency {
    /// Returns the 95 % interval of a percentile, nanoseconds, from the ranks of the latencies, as
    /// if they were independent; `None` for an end that too few operations were timed for.
    pub fn interval(&self, quantile: f64) -> (Option<f64>, Option<f64>) {
        let recorded =
            self.buckets.iter().fold(self.unstarted, |sum, (_, n)| sum.saturating_add(*n));
        let (few, many) = tail_limits(recorded, 1.0 - quantile);
        // The first bucket from above with more than `beyond` values in it and above.
        let reach = |beyond: u64| {
            let mut above = self.unstarted;
            if above > beyond {
                return None;
            }
            self.buckets.iter().rev().find_map(|(nanos, count)| {
                above = above.saturating_add(*count);
                (above > beyond).then_some(*nanos as f64)
            })
        };
        let low = reach(many.saturating_sub(1)).map(|low| low * (1.0 - HALF_BUCKET));
        let high = few.and_then(reach).map(|high| (high * (1.0 + HALF_BUCKET)).min(self.max));
        (low, high)
    }

    /// Returns a percentile with its interval, nanoseconds; `None` as [`Latency::value_of`].
    pub fn percentile(&self, metric: Metric) -> Option<Summary> {
        let (low, high) = self.interval(metric.quantile()?);
        Some(Summary { low, high, ..Summary::from_values(&[self.value_of(metric)?])? })
    }

    /// Returns the figure of a condition, nanoseconds; `None` with too few operations, with one
    /// that never began in its place, and for other figures than latencies.
    pub fn value_of(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::P50 => self.p50,
            Metric::P90 => self.p90,
            Metric::P99 => self.p99,
            Metric::P999 => self.p999,
            Metric::Max => Some(self.max).filter(|_| self.unstarted == 0),
            Metric::Throughput | Metric::Iops | Metric::Commits => None,
        }
    }

    /// Summarizes a histogram; one operation in `every` was timed. `None` where none was.
    pub fn from_histogram(h: &Histogram, every: u32) -> Option<Latency> {
        Latency::with_unstarted(h, every, 0)
    }

    /// Summarizes a histogram as [`Latency::from_histogram`] does, with operations that were
    /// intended and not begun.
    pub fn with_unstarted(h: &Histogram, every: u32, unstarted: u64) -> Option<Latency> {
        let at = |q| h.quantile_with(q, unstarted).map(|nanos| nanos as f64);
        (h.count() > 0).then(|| Latency {
            count: h.count(),
            unstarted,
            every,
            mean: h.mean(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: h.max() as f64,
            buckets: h.pairs(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unstarted_operations_are_the_longest() {
        let values: Vec<(u64, u64)> = (1..=980).map(|nanos| (nanos * 1000, 1)).collect();
        let times = Histogram::from_pairs(&values);
        let all = Latency::from_histogram(&times, 1).unwrap();
        assert!(all.p50.is_some_and(|p50| (p50 / 490e3 - 1.0).abs() < 0.01), "{all:?}");
        // 20 of 1,000: p99 is one of them, p90 the 900th of the others.
        let some = Latency::with_unstarted(&times, 1, 20).unwrap();
        assert_eq!((some.count, some.unstarted, some.p99), (980, 20, None));
        assert!(some.p50.is_some_and(|p50| (p50 / 500e3 - 1.0).abs() < 0.01), "{some:?}");
        assert!(some.p90.is_some_and(|p90| (p90 / 900e3 - 1.0).abs() < 0.01), "{some:?}");
        assert_eq!(some.interval(0.99), (None, None));
        assert!(some.interval(0.5).1.is_some_and(|high| high > 500e3));
        let json = serde_json::to_string(&some).unwrap();
        assert_eq!(serde_json::from_str::<Latency>(&json).unwrap(), some);
        assert!(!serde_json::to_string(&all).unwrap().contains("unstarted"));
    }
}
