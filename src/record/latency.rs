//! The latency of a cell as plain data: what the session keeps of a histogram.

use serde::{Deserialize, Serialize};

/// Latencies of the timed operations of all trials of a cell, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Operations that were timed.
    pub count: u64,
    /// One operation in so many was timed; 1 = every one.
    pub every: u32,
    pub mean: f64,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: f64,
    /// (nanoseconds, operations), ascending, empty buckets left out; 1 % wide.
    pub buckets: Vec<(u64, u64)>,
}
