//! Whether commits reached stable storage: what the kernel counted while they were made, and what
//! it says of the devices below.
//!
//! Never more than that. A device that confirms a flush it did not make looks like one that made
//! it, so where a host or a server stands between this kernel and the medium, nothing is certain.

mod counts;
mod judge;
mod reach;

use serde::{Deserialize, Serialize};

use self::counts::Counts;
use self::judge::Judge;
pub use self::reach::Reach;
use super::CellEvidence;
use crate::text::clean_text;

/// How far the commits of a cell got, and by which figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Durability {
    pub reach: Reach,
    pub reason: String,
    /// Flushes of the disk per commit, by all programs; `None` where they are not counted.
    pub flushes: Option<f64>,
    /// How long one of them took on average, nanoseconds.
    pub flush_nanos: Option<f64>,
    /// Bytes that the disk wrote per byte committed, for all programs: journal and metadata
    /// make it exceed 1.
    pub amplification: Option<f64>,
}

impl Durability {
    /// Returns verdict and reason as one sentence.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.reach.title(), self.reason)
    }
}

/// Judges the commits of a cell; `None` where it makes none, or the session does not record what
/// this rests on.
pub fn durability(evidence: &CellEvidence) -> Option<Durability> {
    let commits = evidence.commits.filter(|_| evidence.job.commits())?;
    let path = evidence.target.commit_path.as_ref()?;
    let counts = Counts::of(evidence, commits, path);
    let (reach, reason) = Judge { evidence, commits, path, counts: &counts }.judge();
    Some(Durability {
        reach,
        reason: clean_text(&reason),
        flushes: counts.flushes,
        flush_nanos: counts.flush_nanos,
        amplification: counts.amplification,
    })
}

#[cfg(test)]
mod tests;
