//! The result of one cell, as every report shows it: all keys present, unknown is null.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::plan::Job;
use crate::record::{
    BadBlock, BadBlocks, Durability, LevelChange, ReadFrom, Severity, Source, Trial, Warning,
};
use crate::stats::paired::{self, Series};
use crate::stats::{self, Ratio, Summary};
use crate::units::show_trials;

/// Why a cell was not measured, or not any more.
pub const SKIPPED_BY_USER: &str = "skipped by the user";

/// Bytes count as one source's, such as the device, where at least this share came from it. With
/// less, their rate is that of two sources together, and no limit explains it.
pub const MAIN_SHARE: f64 = 0.9;

/// Returns the indexes of the trials that were not cut short, or of all if all were.
pub fn counted_trials(is_short: impl Iterator<Item = bool> + Clone) -> Vec<usize> {
    let full: Vec<usize> =
        is_short.clone().enumerate().filter(|(_, short)| !short).map(|(index, _)| index).collect();
    if full.is_empty() { (0..is_short.count()).collect() } else { full }
}

/// Returns the `counted` trials whose values are outliers; `values` has one for each.
pub fn outliers(counted: &[usize], values: &[f64]) -> Vec<usize> {
    stats::outliers(values).into_iter().filter_map(|at| counted.get(at).copied()).collect()
}

/// A summary with its unit: `B/s` or `1/s`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SummaryOf {
    #[serde(flatten)]
    pub summary: Summary,
    pub unit: &'static str,
}

/// Latency in nanoseconds, as reported in the result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyOf {
    pub mean: f64,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: f64,
    /// One in this many operations was timed.
    pub every: u32,
    pub unit: &'static str,
}

impl LatencyOf {
    /// Returns the percentiles and the maximum by their names; `None` with too few operations.
    pub fn percentiles(&self) -> [(&'static str, Option<f64>); 5] {
        [
            ("p50", self.p50),
            ("p90", self.p90),
            ("p99", self.p99),
            ("p99.9", self.p999),
            ("max", Some(self.max)),
        ]
    }
}

/// The commits of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CommitsOf {
    /// Commits per second over all threads: the median of the trials.
    pub per_second: Option<f64>,
    /// All that were made.
    pub count: u64,
    pub total: LatencyOf,
    /// `None` where write and sync cannot be seen apart.
    pub write: Option<LatencyOf>,
    pub sync: Option<LatencyOf>,
}

/// Result of reading the blocks of a cell back, over all its trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerifiedOf {
    /// Trials of which blocks were read back.
    pub trials: u64,
    /// Blocks and bytes that were compared: each once in each trial, however often it was written.
    pub blocks: u64,
    pub bytes: u64,
    /// Whether all that each trial wrote was compared.
    pub complete: bool,
    /// Where the data came from: of the trial of which that is least certain.
    pub read_from: ReadFrom,
    /// The page cache below that it came through; empty and omitted from JSON if none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub through: String,
    /// Blocks that do not hold what was written last.
    pub bad: BadBlocks,
    /// `None` if none is bad.
    pub first: Option<FirstBad>,
    /// Median time of a trial's read-back, nanoseconds.
    pub nanos: f64,
    /// About which share of the running time of the threads the stamps took.
    pub stamp_share: f64,
}

/// The first bad block in the first trial that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FirstBad {
    pub round: u32,
    #[serde(flatten)]
    pub block: BadBlock,
}

/// One cell with its trials and their summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellResult {
    pub cell: Job,
    pub trials: Vec<Arc<Trial>>,
    /// `None` if nothing was measured, or no bytes are moved.
    pub throughput: Option<SummaryOf>,
    pub operations: Option<SummaryOf>,
    pub syscalls: Option<SummaryOf>,
    /// Under a rate, from the intended starts.
    pub latency: Option<LatencyOf>,
    /// Under a rate, from the real starts; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<LatencyOf>,
    /// Absent where nothing is committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits: Option<CommitsOf>,
    /// Absent where nothing was read back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<VerifiedOf>,
    /// Absent where one process measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RanksOf>,
    /// The durability of its commits; absent without commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// `None` if the speed stayed at one level, as far as the trials show.
    pub level_change: Option<LevelChange>,
    /// `None` if nothing was written.
    pub written: Option<WriteTimes>,
    pub source: Option<Source>,
    /// Empty if unknown: null in JSON.
    #[serde(serialize_with = "null_when_empty")]
    pub source_reason: String,
    pub amplification: Option<f64>,
    pub warnings: Vec<Warning>,
    pub error: Option<String>,
    /// The user took it out of the rest of the run.
    pub skipped: bool,
}

fn null_when_empty<S: Serializer>(text: &str, out: S) -> Result<S::Ok, S::Error> {
    if text.is_empty() { out.serialize_none() } else { out.serialize_str(text) }
}

/// The work of one trial of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialWork {
    /// Operations as `-n` would request them: the requested count, or the calibrated one.
    pub count: u64,
    /// Repeats of these operations in a trial: several passes over a small file.
    pub repeats: u64,
    /// Medians over the trials that were not cut short, bytes and nanoseconds.
    pub bytes: f64,
    pub nanos: f64,
}

impl TrialWork {
    /// Operations of a complete trial.
    pub fn operations(&self) -> u64 {
        self.count.saturating_mul(self.repeats)
    }

    /// Returns the operations of one pass.
    pub fn of_a_pass(self) -> TrialWork {
        let repeats = self.repeats as f64;
        TrialWork { repeats: 1, bytes: self.bytes / repeats, nanos: self.nanos / repeats, ..self }
    }
}

impl CellResult {
    /// Returns the commits per second; `None` where nothing is committed.
    pub fn commit_rate(&self) -> Option<Summary> {
        self.commits?;
        // Each operation is a write.
        Some(self.operations?.summary.scaled(self.cell.commits_in(1.0)))
    }

    /// Describes what happened around its long trials, and when: at most some lines.
    pub fn around(&self) -> Vec<String> {
        const MAX_LINES: usize = 8;
        let single = self.trials.len() == 1;
        let of_trial = |trial: &Arc<Trial>| {
            let lines = trial.evidence.surroundings.as_ref().map_or(Vec::new(), |of| of.lines());
            let name = match single {
                true => String::new(),
                false => format!("trial {}, ", trial.round),
            };
            lines.into_iter().map(move |line| name.clone() + &line)
        };
        let mut lines: Vec<String> = self.trials.iter().flat_map(of_trial).collect();
        let more = lines.len().saturating_sub(MAX_LINES);
        lines.truncate(MAX_LINES);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        lines
    }

    /// Returns the work of its trials; `None` if none was completed.
    pub fn work(&self) -> Option<TrialWork> {
        let whole: Vec<&Trial> = self
            .trials
            .iter()
            .map(|trial| &**trial)
            .filter(|trial| !trial.short && trial.ops > 0)
            .collect();
        let (first, of) = (whole.first()?, |get: fn(&Trial) -> u64| -> Vec<f64> {
            whole.iter().map(|trial| get(trial) as f64).collect()
        });
        let repeats = first.passes.max(1);
        let (bytes, nanos) =
            (stats::median(&of(|trial| trial.bytes))?, stats::median(&of(|trial| trial.nanos))?);
        Some(TrialWork { count: first.ops / repeats, repeats, bytes, nanos })
    }

    /// Indexes of the trials that the summaries are computed from: all that count, or all if none
    /// counts.
    pub fn counted_trials(&self) -> Vec<usize> {
        counted_trials(self.trials.iter().map(|trial| !trial.counts()))
    }

    /// Returns the trials that the summaries are computed from.
    pub fn counted(&self) -> Vec<&Trial> {
        self.counted_trials().into_iter().map(|index| &*self.trials[index]).collect()
    }

    /// Indexes of the counted trials whose speed is an outlier. They stay in every summary.
    pub fn outliers(&self) -> Vec<usize> {
        outliers(&self.counted_trials(), &self.speeds())
    }

    /// Bytes per second of each counted trial; operations per second if no bytes are moved.
    pub fn speeds(&self) -> Vec<f64> {
        let speed = if self.throughput.is_some() { Trial::throughput } else { Trial::operations };
        self.counted().into_iter().map(speed).collect()
    }

    /// Returns the speed of each counted trial, with its round.
    pub fn series(&self) -> Series {
        self.counted().into_iter().map(|trial| trial.round).zip(self.speeds()).collect()
    }

    /// Returns the speeds in the rounds that both have a counted trial of, this one's last.
    pub fn pairs_with(&self, base: &CellResult) -> Vec<(f64, f64)> {
        paired::pairs_of_rounds(base.series(), self.series())
    }

    /// Returns its speed as a multiple of the speed of `base` by [`paired::ratio`].
    pub fn ratio_to(&self, base: &CellResult) -> Option<Ratio> {
        paired::ratio(&self.series(), &base.series())
    }

    /// Returns the CPU time per byte over its trials, nanoseconds; `None` if no bytes are moved.
    pub fn cpu_per_byte(&self) -> Option<Summary> {
        let counted = self.counted();
        let moving = counted.iter().filter(|trial| trial.bytes > 0);
        let times =
            moving.map(|trial| (trial.user_nanos + trial.system_nanos) as f64 / trial.bytes as f64);
        Summary::from_values(&times.collect::<Vec<f64>>())
    }

    /// Returns the XOR of its data, `213d4629`, or `differs`; `None` if none was computed.
    pub fn xor(&self) -> Option<String> {
        let mut found = self.trials.iter().filter_map(|trial| trial.xor);
        let first = found.next()?;
        Some(if found.all(|other| other == first) { first.to_string() } else { "differs".into() })
    }

    /// Returns that the user ended it early, with the number of its trials; `None` if nobody did.
    pub fn describe_skip(&self) -> Option<String> {
        let trials = show_trials(self.trials.len());
        self.skipped.then(|| format!("{SKIPPED_BY_USER} after {trials}"))
    }

    /// Returns the first warning that the figure is not what it claims to be.
    pub fn wrong(&self) -> Option<&Warning> {
        self.warnings.iter().find(|w| w.severity == Severity::Wrong)
    }

    /// Returns whether it has not failed and is not marked wrong.
    pub fn is_sound(&self) -> bool {
        self.error.is_none() && self.wrong().is_none()
    }

    /// Returns whether nearly all of its bytes came from the device.
    pub fn is_from_device(&self) -> bool {
        self.source.is_some_and(|source| source.device >= MAIN_SHARE)
    }

    /// Returns whether nearly all of its bytes came from memory.
    pub fn is_from_memory(&self) -> bool {
        self.source.is_some_and(|source| source.page_cache + source.hole >= MAIN_SHARE)
    }
}

/// Returns the sources of amounts together, each with its share of the sum.
pub fn mean_source(parts: &[(Source, f64)]) -> Source {
    let all: f64 = parts.iter().map(|(_, amount)| amount).sum();
    let mean = |share: fn(&Source) -> f64| {
        parts.iter().map(|(of, amount)| share(of) * amount).sum::<f64>() / all
    };
    Source {
        device: mean(|of| of.device),
        page_cache: mean(|of| of.page_cache),
        hole: mean(|of| of.hole),
        unknown: mean(|of| of.unknown),
        below: mean(|of| of.below),
    }
}

/// Times of a cell that writes, in nanoseconds from the first start, over all threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WriteTimes {
    /// Until the last write returned, so that the page cache had everything; `None` with direct
    /// I/O, which bypasses it, and for older sessions that do not record it.
    pub page_cache: Option<SummaryOf>,
    /// Until the device confirmed everything; `None` if nothing waited for it.
    pub device: Option<SummaryOf>,
    /// The rates of the bytes until then, bytes per second: medians of the rates of the trials, as
    /// every rate is.
    #[serde(skip)]
    pub page_cache_rate: Option<f64>,
    #[serde(skip)]
    pub device_rate: Option<f64>,
    /// Median over the trials of the bytes still to be written when the clock stopped; `None` =
    /// unknown.
    pub left: Option<f64>,
}

/// The ranks of a cell, medians over its complete trials; rates in bytes per second, or in
/// operations where no bytes move.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RanksOf {
    pub ranks: usize,
    /// Trials ended for all ranks when their time was over, if any had more to do; else each rank
    /// did its amount.
    pub by_time: bool,
    /// The clocks of other machines are known to this, nanoseconds; 0 on one machine.
    pub clock_error: u64,
    /// The rate while all ranks were active; `None` if they never were.
    pub active: Option<f64>,
    /// The sum of the ranks' own rates, each from its own start to its own end.
    pub own: f64,
    /// Nanoseconds from the first start until the first rank was done, and until the last was.
    pub first_done: f64,
    pub last_done: f64,
    /// The share of the trial, from the first start to the last end, in which not all were active.
    pub tail: f64,
    /// The slowest rank.
    pub slowest: u32,
    /// Its own rate, by that of the median rank.
    pub slowness: f64,
    pub each: Vec<RankOf>,
    pub nodes: Vec<NodeOf>,
}

/// One rank of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankOf {
    pub rank: u32,
    /// The name of its machine.
    pub node: String,
    /// Its own rate, from its own start to its own end.
    pub rate: f64,
    /// Nanoseconds from the first start to its end.
    pub done: f64,
    pub source: Option<Source>,
    /// The trials in which its machine had part of its data cached that was not to be.
    pub cached_trials: u32,
}

/// One machine with its ranks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeOf {
    pub node: String,
    pub ranks: usize,
    /// The sum of the rates of its ranks.
    pub rate: f64,
    /// The bytes of all its ranks.
    pub source: Option<Source>,
    /// The most trials of one of its ranks.
    pub cached_trials: u32,
}
