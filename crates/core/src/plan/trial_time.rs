//! The length of a trial.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long one trial should take: calibration doubles the count until it takes at least `low`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialTime {
    #[serde(with = "nanos")]
    pub low: Duration,
    #[serde(with = "nanos")]
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

/// A `Duration` in JSON: whole nanoseconds.
pub(super) mod nanos {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Duration, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_u64(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_nanos)
    }
}
