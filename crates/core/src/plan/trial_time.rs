//! The duration of a trial.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long one trial should take: calibration doubles the count until it takes at least `low`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialTime {
    #[serde(with = "super::nanos")]
    pub low: Duration,
    #[serde(with = "super::nanos")]
    pub high: Duration,
}

impl Default for TrialTime {
    fn default() -> Self {
        TrialTime::from_duration(Duration::from_millis(300))
    }
}

impl TrialTime {
    /// Returns a range of one time.
    pub fn from_duration(time: Duration) -> TrialTime {
        TrialTime { low: time, high: time }
    }
}
