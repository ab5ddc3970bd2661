//! The verdict on a cell: where the bytes came from and what limits the value of the result. A pure
//! function of the evidence.

mod below;
mod durability;
mod evidence;
mod facts;
mod of_job;
mod ranks;
mod reason;
mod rules;
mod source;
#[cfg(test)]
mod testing;

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

pub use self::durability::{Durability, Reach};
pub use self::evidence::{
    Backing, CellEvidence, CommitDevice, CommitPath, Grounds, MachineEvidence, Source, Spread,
    TargetEvidence,
};
pub use self::of_job::{Measured, complete, judge_job, judge_ranks_of_job, rates};
pub use self::ranks::{RankVerdict, judge_ranks};
pub use self::rules::{RULES, Rule};
use super::{CommitTimes, Latency, Warning};

/// Where the bytes came from, and the warnings about the result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Verdict {
    pub source: Option<Source>,
    pub source_reason: String,
    /// Device bytes per byte of stored data; readahead and metadata make it exceed 1.
    pub amplification: Option<f64>,
    pub warnings: Vec<Warning>,
    pub latency: Option<Latency>,
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
        commits: evidence.commits.cloned(),
        durability: durability::durability(evidence),
    }
}

#[cfg(test)]
mod tests;
