//! The result of a cell as every report shows it (design §3.6): every key always present, unknown is null.

use serde::Serialize;

use crate::plan::Job;
use crate::record::{Source, Trial, Warning};
use crate::stats::Summary;

/// A summary with its unit: `B/s` or `1/s`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SummaryOf {
    #[serde(flatten)]
    pub summary: Summary,
    pub unit: &'static str,
}

/// Latency in nanoseconds, as the result shows it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyOf {
    pub mean: f64,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: f64,
    /// One operation in so many was timed.
    pub every: u32,
    pub unit: &'static str,
}

/// One cell with its trials and what they say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellResult {
    pub cell: Job,
    pub trials: Vec<Trial>,
    pub throughput: Option<SummaryOf>,
    pub operations: Option<SummaryOf>,
    pub syscalls: Option<SummaryOf>,
    pub latency: Option<LatencyOf>,
    pub source: Option<Source>,
    pub source_reason: String,
    pub amplification: Option<f64>,
    pub warnings: Vec<Warning>,
    pub error: Option<String>,
}
