//! The latency of a cell: the part of a histogram that the session saves.

use serde::{Deserialize, Serialize};

use crate::stats::{Histogram, tail_limits};

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
        let recorded: u64 = self.buckets.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n));
        let (few, many) = tail_limits(recorded, 1.0 - quantile);
        // The first bucket from above with more than `beyond` values in it and above.
        let reach = |beyond: u64| {
            let mut above = 0u64;
            self.buckets.iter().rev().find_map(|(nanos, count)| {
                above = above.saturating_add(*count);
                (above > beyond).then_some(*nanos as f64)
            })
        };
        let low = reach(many.saturating_sub(1)).map(|low| low * (1.0 - HALF_BUCKET));
        let high = few.and_then(reach).map(|high| (high * (1.0 + HALF_BUCKET)).min(self.max));
        (low, high)
    }

    /// Summarizes a histogram; one operation in `every` was timed. `None` where none was.
    pub fn from_histogram(h: &Histogram, every: u32) -> Option<Latency> {
        let at = |q| h.quantile(q).map(|nanos| nanos as f64);
        (h.count() > 0).then(|| Latency {
            count: h.count(),
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
