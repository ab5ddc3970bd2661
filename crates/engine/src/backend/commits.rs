//! The times of the commits of a trial.

use serde::{Deserialize, Serialize};

use crate::stats::Histogram;

/// The times of the commits of a trial, nanoseconds: each from the start of its first write.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Commits {
    pub total: Histogram,
    /// Until the last write returned; empty where a linked sync follows unseen.
    pub write: Histogram,
    /// From then on; as many as `write`.
    pub sync: Histogram,
}

impl Commits {
    /// Adds those of another lane or part.
    pub fn merge(&mut self, other: &Commits) {
        self.total.merge(&other.total);
        self.write.merge(&other.write);
        self.sync.merge(&other.sync);
    }
}
