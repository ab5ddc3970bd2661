//! The figures of a probe, and the findings about them.

use serde::{Deserialize, Serialize};

use super::{HostSummary, Warning};
use crate::plan::names;
use crate::units;

names! {
    /// The unit of a probe's value, which decides whether more or less is faster.
    "unit" Unit {
        /// Nanoseconds per operation: less is faster.
        Nanos = "ns",
        /// Bytes per second: more is faster.
        BytesPerSecond = "B/s",
        /// Operations per second: more is faster.
        PerSecond = "1/s",
        /// A size, such as that of a cache: neither is faster.
        Bytes = "B",
    }
}

impl Unit {
    /// Formats a value with its unit for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Nanos => units::show_nanos(value),
            Unit::BytesPerSecond => units::show_rate(value),
            Unit::PerSecond => format!("{}/s", units::show_count(value)),
            Unit::Bytes => units::show_bytes(value.round() as u64),
        }
    }

    /// Returns whether more is faster; `None` if the value is not a speed.
    pub fn more_is_faster(self) -> Option<bool> {
        match self {
            Unit::Nanos => Some(false),
            Unit::BytesPerSecond | Unit::PerSecond => Some(true),
            Unit::Bytes => None,
        }
    }
}

/// One figure of a probe's cell: from a calibrated batch, or taken from a report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProbeTrial {
    /// Index into the plan's probes.
    pub cell: u32,
    /// Round, from 1.
    pub round: u32,
    /// Finite and not below 0.
    pub value: f64,
    pub unit: Unit,
    /// The value in CPU cycles, if the frequency is known.
    pub cycles: Option<f64>,
    /// True if the budget or a signal cut it short.
    #[serde(default)]
    pub short: bool,
}

impl ProbeTrial {
    /// Returns true if the value can be shown and compared.
    pub fn is_sound(&self) -> bool {
        self.value.is_finite()
            && self.value >= 0.0
            && self.cycles.is_none_or(|cycles| cycles.is_finite() && cycles >= 0.0)
    }
}

/// The range in which the value was expected, in its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub low: f64,
    pub high: f64,
    /// The facts behind it: `4-5 cycles at 2.6 GHz`.
    pub reason: String,
}

/// Findings about a probe's cell, besides its trials.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProbeFindings {
    pub estimate: Option<Estimate>,
    pub warnings: Vec<Warning>,
    /// Why it failed or is unavailable.
    pub error: Option<String>,
    /// The user took it out of the rest of the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// What was subtracted, the batch size and what counters prove; for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The other machine of a remote cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<HostSummary>,
}
