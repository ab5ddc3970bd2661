//! The latency of a cell: the part of a histogram that the session saves.

use serde::{Deserialize, Serialize};

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
