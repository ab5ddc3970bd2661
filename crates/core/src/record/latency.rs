//! The latency of a cell: the part of a histogram that the session saves.

use serde::{Deserialize, Serialize};

use crate::stats::Histogram;

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
