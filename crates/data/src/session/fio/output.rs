//! The parts of fio's JSON that describe a run. Everything else is skipped while reading.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Options as fio prints them: a flag may have no value.
pub type Options = BTreeMap<String, Option<String>>;

/// The unit of byte counts before fio 2.21.
const KIB: u64 = 1024;

#[derive(Debug, Deserialize)]
pub struct Output {
    #[serde(rename = "fio version")]
    pub version: String,
    /// Seconds since 1970, at the end of the run.
    #[serde(default)]
    pub timestamp: u64,
    /// Milliseconds; 0 in client mode.
    #[serde(default)]
    pub timestamp_ms: u64,
    /// One entry, or one for each of several servers.
    #[serde(default, rename = "global options", deserialize_with = "globals")]
    pub global: Vec<Options>,
    #[serde(default)]
    pub jobs: Vec<Job>,
    /// Replaces `jobs` if fio ran on other machines.
    #[serde(default)]
    pub client_stats: Vec<Job>,
    /// The sum of all servers.
    #[serde(skip)]
    pub sum: Option<Job>,
    #[serde(default)]
    pub disk_util: Vec<Disk>,
}

/// Reads options, whose values are texts except for the port of a server.
fn options<'de, D: Deserializer<'de>>(from: D) -> Result<Options, D::Error> {
    let values = BTreeMap::<String, Value>::deserialize(from)?;
    let text = |value| match value {
        Value::String(text) => Some(text),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    Ok(values.into_iter().map(|(name, value)| (name, text(value))).collect())
}

fn globals<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Options>, D::Error> {
    #[derive(Deserialize)]
    struct One(#[serde(deserialize_with = "options")] Options);
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        One(One),
        Each(Vec<One>),
    }
    Ok(match Either::deserialize(from)? {
        Either::One(one) => vec![one.0],
        Either::Each(each) => each.into_iter().map(|one| one.0).collect(),
    })
}

#[derive(Debug, Deserialize)]
pub struct Job {
    pub jobname: String,
    #[serde(default)]
    pub groupid: u64,
    #[serde(default)]
    pub error: i32,
    /// Seconds since fio started, rounded up; absent in client mode.
    #[serde(default)]
    pub elapsed: u64,
    /// Name of the server, in client mode.
    #[serde(default)]
    pub hostname: String,
    #[serde(default)]
    pub port: u64,
    #[serde(default, rename = "job options", deserialize_with = "options")]
    pub options: Options,
    #[serde(default)]
    pub read: Direction,
    #[serde(default)]
    pub write: Direction,
    #[serde(default)]
    pub trim: Direction,
    /// Replaces the others with `unified_rw_reporting`.
    #[serde(default)]
    pub mixed: Direction,
    #[serde(default)]
    pub sync: Syncs,
    /// Milliseconds, summed over the jobs that are reported together.
    #[serde(default)]
    pub job_runtime: u64,
    /// Percent of `job_runtime`.
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
    /// KiB per second in every version.
    pub bw: f64,
    pub bw_bytes: u64,
    /// From the submitting call to its return; none for engines that do not queue.
    pub slat_ns: Times,
    /// From the end of the submission to the completion.
    pub clat_ns: Times,
    /// The total. fio prints its percentiles only with `--lat_percentiles=1`.
    pub lat_ns: Times,
    /// The same in microseconds, before fio 3.0.
    slat: Times,
    clat: Times,
    lat: Times,
}

/// The calls that make writes durable, since fio 3.5.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Syncs {
    pub total_ios: u64,
    pub lat_ns: Times,
}

impl Job {
    /// Converts the figures of older versions to bytes, nanoseconds and counts of operations.
    /// `block` is the size of the blocks of reads and writes, where all have the same. Returns
    /// whether bytes were in KiB.
    ///
    /// # Errors
    /// The bytes fit neither the operations nor the rate.
    pub fn modernize(&mut self, block: [Option<u64>; 2]) -> Result<bool, String> {
        let mut old = false;
        self.sync.lat_ns.count_as(self.sync.total_ios);
        let failed = self.error != 0;
        let of = [&mut self.read, &mut self.write, &mut self.trim, &mut self.mixed];
        for (of, block) in of.into_iter().zip([block[0], block[1], None, None]) {
            let times = [&mut of.slat_ns, &mut of.clat_ns, &mut of.lat_ns];
            for (new, old) in times.into_iter().zip([&of.slat, &of.clat, &of.lat]) {
                if new.mean == 0.0 && old.mean > 0.0 {
                    *new = old.to_nanos();
                }
                new.count_as(of.total_ios);
            }
            match of.unit(block) {
                Some(unit) => {
                    old |= unit > 1;
                    of.io_bytes = of.io_bytes.saturating_mul(unit);
                }
                // A failed operation may have moved any number of bytes.
                None if failed => {}
                None => {
                    return Err(format!(
                        "its {} operations cannot have moved {} bytes or KiB",
                        of.total_ios, of.io_bytes
                    ));
                }
            }
        }
        Ok(old)
    }
}

impl Direction {
    /// Returns the bytes of one of `io_bytes`: 1, or 1024 before fio 2.21; `None` if it can be
    /// neither. A last block may be a part of one, and operations that end while fio counts are
    /// missing from one of the two figures.
    fn unit(&self, block: Option<u64>) -> Option<u64> {
        let expected = match block {
            Some(block) => self.total_ios as f64 * block as f64,
            None => self.bw * KIB as f64 * self.runtime as f64 / 1000.0,
        };
        if self.io_bytes == 0 || expected == 0.0 {
            return Some(1);
        }
        let per_byte = expected / self.io_bytes as f64;
        [1, KIB].into_iter().find(|unit| (0.8..=2.2).contains(&(per_byte / *unit as f64)))
    }

    /// Returns the latencies from submission to completion, as iotui defines them, if fio printed
    /// their distribution; else fio's completion latencies.
    pub fn latencies(&self) -> &Times {
        let is_queued = self.slat_ns.count() > 0;
        if is_queued && !self.lacks_submission() { &self.lat_ns } else { &self.clat_ns }
    }

    /// Returns whether [`latencies`](Direction::latencies) leave out the submission.
    pub fn lacks_submission(&self) -> bool {
        self.slat_ns.count() > 0 && self.lat_ns.percentile.is_empty()
    }
}

/// Latencies, nanoseconds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Times {
    /// Since fio 3.18.
    #[serde(rename = "N")]
    count: Option<u64>,
    pub mean: f64,
    pub max: f64,
    /// `99.900000` and so on.
    pub percentile: BTreeMap<String, f64>,
    /// From `json+`: nanoseconds and the number of operations.
    pub bins: BTreeMap<String, u64>,
}

impl Times {
    pub fn count(&self) -> u64 {
        self.count.unwrap_or(0)
    }

    /// Sets the count where this version prints none: then each operation was timed, or none.
    fn count_as(&mut self, ops: u64) {
        if self.count.is_none() && self.mean > 0.0 {
            self.count = Some(ops);
        }
    }

    /// Converts microseconds. The bins of those versions are numbered, and their widths unknown.
    fn to_nanos(&self) -> Times {
        let percentile = self.percentile.iter().map(|(name, of)| (name.clone(), of * 1e3));
        Times {
            mean: self.mean * 1e3,
            max: self.max * 1e3,
            percentile: percentile.collect(),
            bins: BTreeMap::new(),
            ..self.clone()
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Disk {
    pub name: String,
    pub read_ios: u64,
    pub write_ios: u64,
    /// Percent of the time.
    pub util: f64,
}

/// Returns the sum of figures that anyone may have written.
pub fn sum(figures: impl Iterator<Item = u64>) -> u64 {
    figures.fold(0, u64::saturating_add)
}
