//! Properties of the running kernel: version, clock source, mitigations.

use serde::{Deserialize, Serialize};

use super::root::{Root, clean};

/// The clock that clock_gettime(2) reads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockSource {
    pub current: String,
    pub available: Vec<String>,
}

impl ClockSource {
    /// Returns true if the clock is read without entering the kernel or the hypervisor: about 20
    /// ns, others take 0.2 to 2 µs.
    pub fn is_fast(&self) -> bool {
        matches!(
            self.current.as_str(),
            "tsc"
                | "kvm-clock"
                | "arch_sys_counter"
                | "hyperv_clocksource_tsc_page"
                | "riscv_clocksource"
        )
    }

    pub(super) fn read(root: &Root) -> ClockSource {
        let line = |name: &str| {
            root.line(&format!("/sys/devices/system/clocksource/clocksource0/{name}"))
                .unwrap_or_default()
        };
        ClockSource {
            current: line("current_clocksource"),
            available: line("available_clocksource")
                .split_ascii_whitespace()
                .map(String::from)
                .collect(),
        }
    }
}

/// A vulnerability of this CPU and its mitigation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Mitigation {
    /// The kernel's name: `spectre_v2`.
    pub name: String,
    /// `Mitigation: ...` or `Vulnerable ...`.
    pub state: String,
}

/// Vulnerabilities whose mitigation runs on every kernel entry or exit, or slows down indirect
/// calls.
const AT_SYSTEM_CALLS: &[&str] = &[
    "meltdown",
    "spectre_v2",
    "retbleed",
    "spec_rstack_overflow",
    "indirect_target_selection",
    "mds",
    "tsx_async_abort",
    "mmio_stale_data",
    "reg_file_data_sampling",
    "tsa",
];

impl Mitigation {
    /// Returns true if the mitigation is active and slows down system calls.
    pub fn slows_calls(&self) -> bool {
        let is_active = self.state.starts_with("Mitigation") || self.state.contains("Safe RET");
        is_active && AT_SYSTEM_CALLS.contains(&self.name.as_str())
    }
}

/// Reads the vulnerabilities that affect this CPU.
pub(super) fn mitigations(root: &Root) -> Vec<Mitigation> {
    const FOLDER: &str = "/sys/devices/system/cpu/vulnerabilities";
    let mut mitigations = Vec::new();
    for name in root.names(FOLDER) {
        if let Some(state) = root.line(&format!("{FOLDER}/{name}"))
            && state != "Not affected"
        {
            mitigations.push(Mitigation { name: clean(&name), state });
        }
    }
    mitigations
}

/// Parses major and minor number of a kernel release: `6.18.44-cloud` is (6, 18).
pub fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    #[test]
    fn parses_kernel_releases() {
        assert_eq!(version("6.18.44"), Some((6, 18)));
        assert_eq!(version("5.10.0-21-amd64"), Some((5, 10)));
        assert_eq!(version("6.9-rc1"), Some((6, 9)));
        for odd in ["", "x", "6", "6.", ".", "99999999999.1"] {
            assert_eq!(version(odd), None, "{odd}");
        }
    }

    #[test]
    fn lists_only_vulnerabilities_of_this_cpu() {
        let at = "sys/devices/system/cpu/vulnerabilities";
        let tree = Tree::new(&[
            (&format!("{at}/meltdown"), "Not affected\n"),
            (&format!("{at}/spectre_v2"), "Mitigation: Retpolines; STIBP: disabled\n"),
            (&format!("{at}/spec_store_bypass"), "Vulnerable\n"),
            (&format!("{at}/retbleed"), "Vulnerable\n"),
            (&format!("{at}/spec_rstack_overflow"), "Vulnerable: Safe RET, no microcode\n"),
            (&format!("{at}/empty"), ""),
        ]);
        let found = mitigations(&tree.root());
        let names: Vec<_> = found.iter().map(|m| (m.name.as_str(), m.slows_calls())).collect();
        assert_eq!(
            names,
            [
                ("retbleed", false),
                ("spec_rstack_overflow", true),
                ("spec_store_bypass", false),
                ("spectre_v2", true)
            ]
        );
    }

    #[test]
    fn reads_the_clock_sources() {
        let at = "sys/devices/system/clocksource/clocksource0";
        let tree = Tree::new(&[
            (&format!("{at}/current_clocksource"), "hpet\n"),
            (&format!("{at}/available_clocksource"), "hpet acpi_pm \n"),
        ]);
        let clock = ClockSource::read(&tree.root());
        assert_eq!((clock.is_fast(), clock.available.len()), (false, 2));
        assert!(ClockSource { current: "tsc".into(), available: Vec::new() }.is_fast());
        assert_eq!(ClockSource::read(&Tree::new(&[]).root()), ClockSource::default());
    }
}
