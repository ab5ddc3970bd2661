//! The figures of a probe, and the findings about them.

use serde::{Deserialize, Serialize};

use super::Warning;
use crate::plan::names;
use crate::text::{Replacement, safe};
use crate::units::{self, Precision};

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
        self.show_with(value, Precision::Full)
    }

    /// Formats a value with the digits that its interval allows.
    pub fn show_with(self, value: f64, precision: Precision) -> String {
        match self {
            Unit::Nanos => precision.nanos(value),
            Unit::BytesPerSecond => precision.rate(value),
            Unit::PerSecond => format!("{}/s", precision.count(value)),
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

/// Findings about a probe's cell, apart from its trials.
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
    /// The subtracted cost, the batch size and what counters prove; for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The other machine of a remote cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<HostSummary>,
}

/// Summary of a machine that fits in one line. Sizes in bytes; an unknown text is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HostSummary {
    pub name: String,
    /// Kernel release: `6.18.44`.
    pub kernel: String,
    pub architecture: String,
    pub os: String,
    /// Model of the CPU.
    pub cpu: String,
    /// CPUs that iotui may use there.
    pub cpus: u64,
    pub memory: u64,
    /// The hypervisor; `None` on physical hardware.
    pub virtualisation: Option<String>,
}

/// Longest text accepted from another machine, in characters.
const MAX_CHARS: usize = 100;

impl HostSummary {
    /// Returns the summary with texts shortened and free of characters that could control a
    /// terminal or page.
    pub fn clean(self) -> HostSummary {
        HostSummary {
            name: clean_text(self.name),
            kernel: clean_text(self.kernel),
            architecture: clean_text(self.architecture),
            os: clean_text(self.os),
            cpu: clean_text(self.cpu),
            virtualisation: self.virtualisation.map(clean_text),
            ..self
        }
    }

    /// Describes the machine: `lab-7, Linux 6.18 x86_64, 4 CPUs AMD EPYC, 16 GiB memory, on KVM`.
    /// Unknown parts are omitted.
    pub fn line(&self) -> String {
        let cpus = match self.cpus {
            0 => String::new(),
            1 => "1 CPU".into(),
            n => format!("{n} CPUs"),
        };
        let memory = if self.memory == 0 {
            String::new()
        } else {
            format!("{} memory", units::show_bytes(self.memory))
        };
        let linux = [with_prefix("Linux ", &self.kernel), self.architecture.clone()].join(" ");
        let on = with_prefix("on ", self.virtualisation.as_deref().unwrap_or_default());
        let parts = [
            self.name.clone(),
            linux.trim().into(),
            [cpus, self.cpu.clone()].join(" ").trim().into(),
            memory,
            on,
        ];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

fn clean_text(text: String) -> String {
    let short: String = text.trim().chars().take(MAX_CHARS).collect();
    safe(&short, Replacement::Mark)
}

/// Returns `prefix` and `value`, or nothing if the value is empty.
fn with_prefix(prefix: &str, value: &str) -> String {
    if value.is_empty() { String::new() } else { format!("{prefix}{value}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::is_unsafe_char;

    #[test]
    fn the_line_omits_unknown_parts() {
        let host = HostSummary {
            name: "lab-7".into(),
            kernel: "6.1".into(),
            architecture: "x86_64".into(),
            ..HostSummary::default()
        };
        assert_eq!(host.line(), "lab-7, Linux 6.1 x86_64");
        let host = HostSummary {
            cpus: 2,
            cpu: "EPYC".into(),
            memory: 1 << 30,
            virtualisation: Some("KVM".into()),
            ..HostSummary::default()
        };
        assert_eq!(host.line(), "2 CPUs EPYC, 1 GiB memory, on KVM");
        assert_eq!(HostSummary::default().line(), "");
    }

    #[test]
    fn hostile_text_is_short_and_harmless() {
        let hostile = "\u{1b}[31m\n\u{202e}a".repeat(1000);
        let host = HostSummary {
            name: hostile.clone(),
            cpu: hostile.clone(),
            virtualisation: Some(hostile),
            ..HostSummary::default()
        }
        .clean();
        assert_eq!(host.name.chars().count(), MAX_CHARS);
        assert!(!host.line().chars().any(is_unsafe_char), "{}", host.line());
    }
}
