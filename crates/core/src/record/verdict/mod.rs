//! The verdict on a cell: where the bytes came from and what limits the value of the result. A pure
//! function of the evidence.

use std::cmp::Reverse;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalog::info;
use crate::plan::Job;
use crate::record::{CommitTimes, Latency, Trial, Warning};
use crate::stats::{Summary, outliers, two_modes};

mod below;
mod durability;
mod evidence;
mod facts;
mod ranks;
mod reason;
mod rules;
mod source;
#[cfg(test)]
mod testing;

pub use self::durability::{Durability, Reach};
pub use self::evidence::{
    Backing, CellEvidence, CommitDevice, CommitPath, Grounds, MachineEvidence, Source, Spread,
    TargetEvidence,
};
pub use self::ranks::{RankVerdict, judge_ranks};
pub use self::rules::{RULES, Rule};

/// Where the bytes came from, and the warnings about the result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Verdict {
    pub source: Option<Source>,
    pub source_reason: String,
    /// Device bytes per byte of stored data; readahead and metadata make it exceed 1.
    pub amplification: Option<f64>,
    pub warnings: Vec<Warning>,
    /// From the start of an operation to its end; at a rate, from its intended start.
    pub latency: Option<Latency>,
    /// At a rate, from the real start to the end; omitted from JSON without a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Latency>,
    /// Omitted from JSON where nothing was committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<CommitTimes>,
    /// How far these got; omitted from JSON where nothing was committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
}

/// Judges one cell; the most severe warnings come first.
pub fn judge(evidence: &CellEvidence) -> Verdict {
    let origin = source::origin(evidence);
    let found = RULES.iter().filter_map(|rule| Some((rule.check)(evidence)?.into_warning(rule.id)));
    let mut warnings: Vec<Warning> = found.collect();
    warnings.sort_by_key(|warning| Reverse(warning.severity));
    Verdict {
        source: origin.source,
        source_reason: origin.reason,
        amplification: origin.amplification,
        warnings,
        latency: evidence.latency.cloned(),
        service: evidence.service.cloned(),
        commits: evidence.commits.cloned(),
        durability: durability::durability(evidence),
    }
}

#[cfg(test)]
mod tests;

/// Returns the trials that count.
pub fn complete(trials: &[Arc<Trial>]) -> impl Iterator<Item = &Arc<Trial>> {
    trials.iter().filter(|trial| trial.counts())
}

/// Returns the rates of the trials that count: bytes per second, or operations per second where no
/// data moves. Under a rate, which never varies, it is the operations per second of response time.
pub fn rates(trials: &[Arc<Trial>]) -> Vec<f64> {
    let moves = trials.iter().any(|t| t.bytes > 0);
    let rate = |trial: &Trial| match trial.evidence.paced.as_deref() {
        Some(paced) if paced.response_nanos > 0 => {
            trial.ops as f64 * 1e9 / paced.response_nanos as f64
        }
        _ if moves => trial.throughput(),
        _ => trial.operations(),
    };
    complete(trials).map(|trial| rate(trial)).collect()
}

/// The measurements of one job.
pub struct Measured<'a> {
    pub trials: &'a [Arc<Trial>],
    pub latency: Option<&'a Latency>,
    /// As in [`Verdict`].
    pub service: Option<&'a Latency>,
    pub commits: Option<&'a CommitTimes>,
    /// One trial is what was requested.
    pub once: bool,
}

/// Judges what was measured of one job; empty for a backend that this version does not know.
pub fn judge_job(job: &Job, measured: &Measured, grounds: &Grounds) -> Verdict {
    with_evidence(job, measured, grounds, judge).unwrap_or_default()
}

/// Judges each of the ranks that measured a job; nothing where one process did.
pub fn judge_ranks_of_job(job: &Job, trials: &[Arc<Trial>], grounds: &Grounds) -> Vec<RankVerdict> {
    if !trials.iter().any(|trial| trial.ranks.len() > 1) {
        return Vec::new();
    }
    let measured = Measured { trials, latency: None, service: None, commits: None, once: false };
    with_evidence(job, &measured, grounds, judge_ranks).unwrap_or_default()
}

/// Returns the result of `judge` for all evidence of a job; `None` for an unknown backend.
fn with_evidence<T>(
    job: &Job,
    measured: &Measured,
    grounds: &Grounds,
    judge: fn(&CellEvidence) -> T,
) -> Option<T> {
    let &Measured { trials, latency, service, commits, once } = measured;
    let info = info(&job.backend)?;
    let rates = rates(trials);
    let together = trials.iter().any(|trial| !trial.ranks.is_empty()).then(|| job.of_all_ranks());
    Some(judge(&CellEvidence {
        job: together.as_ref().unwrap_or(job),
        info,
        target: grounds.target_of(job),
        machine: &grounds.machine,
        // A peer has its own loop.
        harness_nanos: if info.is_peer() { 0.0 } else { grounds.harness_nanos },
        trials,
        spread: Spread {
            half_width: Summary::from_values(&rates).and_then(|s| s.half_width()),
            two_modes: two_modes(&rates),
            outliers: outliers(&rates).len(),
        },
        latency,
        service,
        commits,
        once,
        ranks: &grounds.ranks,
    }))
}
