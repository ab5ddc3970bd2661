//! One short interval of a running trial, for the plots over time.

use serde::{Deserialize, Serialize};

/// The work of an interval that ended `at` nanoseconds after the first thread of the trial started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sample {
    pub at: u64,
    pub nanos: u64,
    pub bytes: u64,
    pub ops: u64,
    pub syscalls: u64,
}

/// The part of one lane in a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaneSample {
    pub bytes: u64,
    pub ops: u64,
    pub syscalls: u64,
}

impl Sample {
    /// Most samples that a trial keeps; neighbours are merged beyond that.
    pub const MAX_PER_TRIAL: usize = 120;

    /// Merges this interval with the one after it.
    pub fn merge(&self, next: &Sample) -> Sample {
        Sample {
            at: next.at,
            nanos: self.nanos.saturating_add(next.nanos),
            bytes: self.bytes.saturating_add(next.bytes),
            ops: self.ops.saturating_add(next.ops),
            syscalls: self.syscalls.saturating_add(next.syscalls),
        }
    }
}
