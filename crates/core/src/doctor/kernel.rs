//! Checks of the running kernel: what it allows, what it reports, and what it costs.

use super::Facts;
use crate::facts::version;
use crate::record::Severity::{Misleading, Note};
use crate::record::{Finding, finding};

pub(super) fn clock_source(facts: &Facts) -> Option<Finding> {
    let clock = &facts.host.clock;
    if clock.current.is_empty() || clock.is_fast() {
        return None;
    }
    let choice = if clock.available.iter().any(|name| name == "tsc") {
        "boot with clocksource=tsc"
    } else {
        "use large blocks and complete passes"
    };
    finding(
        Misleading,
        "reading the clock takes up to 2 µs, which dominates the latency of small blocks",
        format!("the clock source is {}; available: {}", clock.current, clock.available.join(" ")),
        format!("{choice}; the throughput of long trials is not affected"),
    )
}

pub(super) fn io_uring_off(facts: &Facts) -> Option<Finding> {
    let level = facts.host.io_uring_disabled.filter(|level| *level > 0)?;
    // A user that may drop the caches is privileged enough for level 1.
    let refused = level >= 2 || !facts.host.can_drop_caches;
    if !refused || !facts.any_disabled_by("kernel.io_uring_disabled") {
        return None;
    }
    let message = if level >= 2 {
        "io_uring is disabled, so the uring backends are unavailable"
    } else {
        "io_uring is restricted to privileged users and kernel.io_uring_group, so the uring backends are unavailable"
    };
    finding(
        Note,
        message,
        format!("kernel.io_uring_disabled = {level}"),
        "run sysctl kernel.io_uring_disabled=0 as root, if the machine's owner agrees",
    )
}

/// (kernel version, what older kernels cannot do)
const FEATURES: &[((u32, u32), &str)] = &[
    (
        (6, 1),
        "the alignment of direct I/O is not reported, so the device's own block is assumed (STATX_DIOALIGN, Linux 6.1)",
    ),
    (
        (6, 5),
        "residency of files that you neither own nor may write is sampled instead of counted (cachestat, Linux 6.5)",
    ),
];

pub(super) fn old_kernel(facts: &Facts) -> Option<Finding> {
    let running = version(&facts.host.kernel)?;
    let missing: Vec<_> =
        FEATURES.iter().filter(|(since, _)| running < *since).map(|(_, what)| *what).collect();
    if missing.is_empty() {
        return None;
    }
    finding(
        Note,
        missing.join("; "),
        format!("kernel {}", facts.host.kernel),
        "measure a file that you own, or use a newer kernel; verdicts that rest on samples say so",
    )
}

pub(super) fn cannot_drop_caches(facts: &Facts) -> Option<Finding> {
    if facts.host.can_drop_caches {
        return None;
    }
    finding(
        Note,
        "only the target's own pages can be dropped: --cold meta and --cold all are unavailable",
        "/proc/sys/vm/drop_caches is not writable by this user",
        "cold trials of data do not need it; run as root to drop inodes and directory entries",
    )
}

pub(super) fn mitigations(facts: &Facts) -> Option<Finding> {
    let slow: Vec<_> = facts
        .host
        .mitigations
        .iter()
        .filter(|m| m.slows_calls())
        .map(|m| m.name.as_str())
        .collect();
    if slow.is_empty() {
        return None;
    }
    finding(
        Note,
        "CPU mitigations slow down each system call, so small blocks look worse than on a machine without them",
        format!("/sys/devices/system/cpu/vulnerabilities: {}", slow.join(", ")),
        "compare only with machines that have the same mitigations; do not disable them for better figures",
    )
}

#[cfg(test)]
mod tests {
    use crate::doctor::testing::{check, plan};
    use crate::facts::{ClockSource, Host, Mitigation};

    #[test]
    fn reports_slow_clock_sources() {
        let host = |current: &str| Host {
            clock: ClockSource { current: current.into(), available: vec!["tsc".into()] },
            ..Host::default()
        };
        assert!(
            check("clock-source", &host("hpet"), None, None)
                .is_some_and(|f| f.remedy.text.contains("clocksource=tsc"))
        );
        for fast in ["tsc", "kvm-clock", "arch_sys_counter", ""] {
            assert_eq!(check("clock-source", &host(fast), None, None), None, "{fast}");
        }
    }

    #[test]
    fn reports_disabled_io_uring_when_used() {
        let host = |level, root| Host {
            io_uring_disabled: level,
            can_drop_caches: root,
            ..Host::default()
        };
        assert!(check("io-uring-off", &host(Some(2), true), None, None).is_some());
        assert!(
            check("io-uring-off", &host(Some(1), false), None, Some(&plan(&["uring+sqpoll"])))
                .is_some()
        );
        assert_eq!(
            check("io-uring-off", &host(Some(1), true), None, None),
            None,
            "a privileged user"
        );
        assert_eq!(
            check("io-uring-off", &host(Some(2), false), None, Some(&plan(&["mmap"]))),
            None,
            "not requested"
        );
        assert_eq!(check("io-uring-off", &host(Some(0), false), None, None), None);
        assert_eq!(check("io-uring-off", &host(None, false), None, None), None);
    }

    #[test]
    fn lists_features_that_old_kernels_lack() {
        let host = |kernel: &str| Host { kernel: kernel.into(), ..Host::default() };
        let old = check("old-kernel", &host("5.10.0-21-amd64"), None, None);
        assert!(old.is_some_and(
            |f| f.message.contains("device's own block") && f.message.contains("cachestat")
        ));
        assert!(
            check("old-kernel", &host("6.1.0"), None, None)
                .is_some_and(|f| !f.message.contains("STATX_DIOALIGN"))
        );
        for new in ["6.5.1", "6.18.44", "7.0", "", "odd"] {
            assert_eq!(check("old-kernel", &host(new), None, None), None, "{new}");
        }
    }

    #[test]
    fn reports_missing_permission_to_drop_caches() {
        assert!(check("cannot-drop-caches", &Host::default(), None, None).is_some());
        assert_eq!(
            check(
                "cannot-drop-caches",
                &Host { can_drop_caches: true, ..Host::default() },
                None,
                None
            ),
            None
        );
    }

    #[test]
    fn reports_mitigations_of_system_calls() {
        let host = |state: &str| Host {
            mitigations: vec![Mitigation { name: "retbleed".into(), state: state.into() }],
            ..Host::default()
        };
        assert!(
            check("mitigations", &host("Mitigation: untrained return thunk"), None, None)
                .is_some_and(|f| f.evidence.contains("retbleed"))
        );
        assert_eq!(check("mitigations", &host("Vulnerable"), None, None), None);
        assert_eq!(check("mitigations", &Host::default(), None, None), None);
    }
}
