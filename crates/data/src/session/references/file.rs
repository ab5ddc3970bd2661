//! The tables of a report, as a file holds them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::plan::{Cache, Op, Param, Writes};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub about: String,
    pub machine: String,
    pub source: String,
    /// RFC 3339; empty if the report has no date.
    #[serde(default)]
    pub created: String,
    #[serde(default)]
    pub notes: Vec<String>,
    pub host: Machine,
    #[serde(default)]
    pub file: Option<Target>,
    #[serde(default)]
    pub jobs: Vec<Jobs>,
    #[serde(default)]
    pub probes: Vec<Probes>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    #[serde(default)]
    pub os: String,
    #[serde(default)]
    pub kernel: String,
    pub cpu: String,
    #[serde(default)]
    pub cores: u32,
    #[serde(default)]
    pub cpus: u32,
    /// A size: `16 GiB`.
    pub memory: String,
    pub container: Option<String>,
    pub nanos_per_cycle: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub path: String,
    #[serde(default)]
    pub size: u64,
}

/// A table of reads, writes or seeks: one row per cell. Keys hold what all rows share, columns what
/// differs; every column of figures is one trial.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jobs {
    pub backend: String,
    #[serde(default = "read")]
    pub op: Op,
    #[serde(default = "as_is")]
    pub cache: Cache,
    #[serde(default)]
    pub xor: bool,
    #[serde(default)]
    pub writes: Writes,
    pub block: Option<u64>,
    pub bytes: Option<u64>,
    /// The duration of each row, if the table does not have one per row.
    pub seconds: Option<f64>,
    /// Why the figures are not exact.
    pub approximate: Option<String>,
    /// Why the figures cannot be right.
    pub wrong: Option<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<f64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Column {
    #[serde(rename = "block")]
    Block,
    #[serde(rename = "count")]
    Count,
    #[serde(rename = "threads")]
    Threads,
    #[serde(rename = "bytes")]
    Bytes,
    /// Figures: 2^20 bytes per second.
    #[serde(rename = "MiB/s")]
    Rate,
    #[serde(rename = "calls/s")]
    Calls,
    #[serde(rename = "s")]
    Seconds,
}

/// A table of one probe: a row per cell, the parameter of the axis first, then one figure per
/// trial.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probes {
    pub probe: String,
    #[serde(default)]
    pub params: BTreeMap<String, Param>,
    pub axis: Option<String>,
    pub unit: Unit,
    pub estimate: Option<Estimate>,
    pub approximate: Option<String>,
    /// The difference from the probe of this name.
    pub other: Option<String>,
    pub rows: Vec<Vec<f64>>,
}

/// In the unit of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    pub low: f64,
    pub high: f64,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Unit {
    #[serde(rename = "cycles")]
    Cycles,
    #[serde(rename = "us")]
    Micros,
    #[serde(rename = "ms")]
    Millis,
    #[serde(rename = "MB/s")]
    Megabytes,
    #[serde(rename = "ms/MB")]
    MillisPerMegabyte,
    #[serde(rename = "GB")]
    Gigabytes,
}

fn read() -> Op {
    Op::Read
}

fn as_is() -> Cache {
    Cache::AsIs
}
