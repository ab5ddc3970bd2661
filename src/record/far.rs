//! What another machine says of itself: facts for people, never trusted.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use crate::text::steers;
use crate::text::{Instead, safe};
use crate::units;

/// A machine in one line. Sizes in bytes, unknown texts empty.
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
    /// CPUs that the program may run on.
    pub cpus: u64,
    pub memory: u64,
    /// The hypervisor below; `None` on real hardware.
    pub virtualisation: Option<String>,
}

/// The longest text that is kept of another machine's, in characters.
const LONGEST: usize = 100;

impl HostSummary {
    /// The same with nothing in it that a terminal or a page would not show as text.
    pub fn clean(self) -> HostSummary {
        let clean = |text: String| -> String {
            let short: String = text.trim().chars().take(LONGEST).collect();
            safe(&short, Instead::Mark)
        };
        HostSummary {
            name: clean(self.name),
            kernel: clean(self.kernel),
            architecture: clean(self.architecture),
            os: clean(self.os),
            cpu: clean(self.cpu),
            virtualisation: self.virtualisation.map(clean),
            ..self
        }
    }

    /// For people: `lab-7, Linux 6.18 x86_64, 4 CPUs AMD EPYC, 16 GiB memory, on KVM`; unknown
    /// parts are left out.
    pub fn line(&self) -> String {
        let named = |name: &str, value: &str| {
            if value.is_empty() { String::new() } else { format!("{name}{value}") }
        };
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
        let linux = [named("Linux ", &self.kernel), self.architecture.clone()].join(" ");
        let on = named("on ", self.virtualisation.as_deref().unwrap_or_default());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_stands_in_one_line() {
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
        assert_eq!(host.name.chars().count(), LONGEST);
        assert!(!host.line().chars().any(steers), "{}", host.line());
    }
}
