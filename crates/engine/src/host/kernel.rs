//! Properties of the running kernel: version, clock source, mitigations.

use super::root::Root;
use crate::facts::{ClockSource, Mitigation, clean};

pub(super) fn clock_source(root: &Root) -> ClockSource {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

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
        let clock = clock_source(&tree.root());
        assert_eq!((clock.is_fast(), clock.available.len()), (false, 2));
        assert!(ClockSource { current: "tsc".into(), available: Vec::new() }.is_fast());
        assert_eq!(clock_source(&Tree::new(&[]).root()), ClockSource::default());
    }
}
