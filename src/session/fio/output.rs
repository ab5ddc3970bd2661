//! The parts of fio's JSON that describe a run. Everything else is skipped while reading.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Options as fio prints them: a flag may have no value.
pub type Options = BTreeMap<String, Option<String>>;

#[derive(Debug, Deserialize)]
pub struct Output {
    #[serde(rename = "fio version")]
    pub version: String,
    /// Seconds since 1970, at the end of the run.
    #[serde(default)]
    pub timestamp: u64,
    #[serde(default, rename = "global options")]
    pub global: Options,
    #[serde(default)]
    pub jobs: Vec<Job>,
    /// Replaces `jobs` if fio ran on other machines.
    #[serde(default)]
    pub client_stats: Vec<Job>,
    #[serde(default)]
    pub disk_util: Vec<Disk>,
}

#[derive(Debug, Deserialize)]
pub struct Job {
    pub jobname: String,
    #[serde(default)]
    pub groupid: u64,
    #[serde(default)]
    pub error: i32,
    #[serde(default)]
    pub hostname: String,
    #[serde(default, rename = "job options")]
    pub options: Options,
    pub read: Direction,
    pub write: Direction,
    #[serde(default)]
    pub trim: Direction,
    /// Milliseconds, summed over the jobs that are reported together.
    #[serde(default)]
    pub job_runtime: u64,
    /// Percent of it.
    #[serde(default)]
    pub usr_cpu: f64,
    #[serde(default)]
    pub sys_cpu: f64,
    #[serde(default)]
    pub minf: u64,
    #[serde(default)]
    pub majf: u64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Direction {
    pub io_bytes: u64,
    pub total_ios: u64,
    /// Milliseconds.
    pub runtime: u64,
    pub bw_bytes: u64,
    /// From the submitting call to its return; none for engines that do not queue.
    pub slat_ns: Times,
    /// From the end of the submission to the completion.
    pub clat_ns: Times,
    /// The total. fio prints its percentiles only with `--lat_percentiles=1`.
    pub lat_ns: Times,
}

impl Direction {
    /// Returns the latencies from submission to completion, as iotui defines them, if fio printed
    /// their distribution; else fio's completion latencies.
    pub fn latencies(&self) -> &Times {
        if self.slat_ns.count > 0 && !self.lat_ns.percentile.is_empty() {
            &self.lat_ns
        } else {
            &self.clat_ns
        }
    }

    /// Returns whether [`latencies`](Direction::latencies) leave out the submission.
    pub fn lacks_submission(&self) -> bool {
        self.slat_ns.count > 0 && self.lat_ns.percentile.is_empty()
    }
}

/// Latencies, nanoseconds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Times {
    #[serde(rename = "N")]
    pub count: u64,
    pub mean: f64,
    pub max: f64,
    /// `99.900000` and so on.
    pub percentile: BTreeMap<String, f64>,
    /// From `json+`: nanoseconds and the number of operations.
    pub bins: BTreeMap<String, u64>,
}

#[derive(Debug, Deserialize)]
pub struct Disk {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub read_ios: u64,
    #[serde(default)]
    pub write_ios: u64,
    /// Percent of the time.
    #[serde(default)]
    pub util: f64,
}
