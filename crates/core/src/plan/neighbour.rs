//! A neighbour: a second job that runs while a cell is measured (`--neighbour`).

use serde::{Deserialize, Serialize};

use super::{Job, TargetSpec};

/// A job that runs on a file of its own while cells are measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// As they were given.
    pub options: String,
    pub job: Job,
    /// Its scratch file.
    pub target: TargetSpec,
    /// The percentage of what it does at full speed; absent from JSON if the job has a rate, or
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<u8>,
    /// How far its data compresses and repeats, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compressible: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<u8>,
}

impl Neighbour {
    /// Describes its job: `pwrite 1 MiB write at 25 % of its full speed`.
    pub fn describe(&self) -> String {
        let at = self.share.map(|share| format!(" at {share} % of its full speed"));
        self.job.label() + &at.unwrap_or_default()
    }
}
