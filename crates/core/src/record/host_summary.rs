//! The other machine's description of itself: shown to people, never trusted.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use crate::text::is_unsafe_char;
use crate::text::{Replacement, safe};
use crate::units;

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
