//! What a probe measured: single figures, and what is known about them together.

use serde::{Deserialize, Serialize};

use super::{HostSummary, Warning};
use crate::units;

/// The unit of a probe's value; it says what is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds of one operation: less is faster.
    #[serde(rename = "ns")]
    Nanos,
    /// Bytes per second: more is faster.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Operations per second: more is faster.
    #[serde(rename = "1/s")]
    PerSecond,
    /// A size, such as that of a cache: neither is faster.
    #[serde(rename = "B")]
    Bytes,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Nanos => "ns",
            Unit::BytesPerSecond => "B/s",
            Unit::PerSecond => "1/s",
            Unit::Bytes => "B",
        }
    }

    /// A value with its unit, for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Nanos => units::show_nanos(value),
            Unit::BytesPerSecond => units::show_rate(value),
            Unit::PerSecond => format!("{}/s", units::show_count(value)),
            Unit::Bytes => units::show_bytes(value.round() as u64),
        }
    }

    /// Whether more is faster; `None` where the value is no speed.
    pub fn more_is_faster(self) -> Option<bool> {
        match self {
            Unit::Nanos => Some(false),
            Unit::BytesPerSecond | Unit::PerSecond => Some(true),
            Unit::Bytes => None,
        }
    }
}

/// One figure of a probe's cell: one calibrated batch, or one that somebody reported.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProbeTrial {
    /// Index into the plan's probes.
    pub cell: u32,
    /// Round, from 1.
    pub round: u32,
    /// Finite and not below 0.
    pub value: f64,
    pub unit: Unit,
    /// The same in cycles of the clock that counted them, where that is known.
    pub cycles: Option<f64>,
    /// The budget or a signal cut it.
    #[serde(default)]
    pub short: bool,
}

impl ProbeTrial {
    /// Whether the value is one that can be shown and compared.
    pub fn is_sound(&self) -> bool {
        self.value.is_finite()
            && self.value >= 0.0
            && self.cycles.is_none_or(|cycles| cycles.is_finite() && cycles >= 0.0)
    }
}

/// What the value was expected to be, in its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub low: f64,
    pub high: f64,
    /// From which facts: `4-5 cycles at 2.6 GHz`.
    pub reason: String,
}

/// What is known about a probe's cell beside its trials.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProbeFindings {
    pub estimate: Option<Estimate>,
    pub warnings: Vec<Warning>,
    /// Why it failed or is not to be had.
    pub error: Option<String>,
    /// What was taken out, how large a batch was, and what counters prove; for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The other machine, where the cell was measured to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<HostSummary>,
}
