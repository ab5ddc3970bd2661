//! Checks of the CPUs, and of other programs and machines that use them.

use super::Facts;
use crate::record::Severity::{Misleading, Note};
use crate::record::{Finding, finding};
use crate::units::{counted, show_share};

pub(super) fn governor(facts: &Facts) -> Option<Finding> {
    let governor =
        facts.host.cpu.governor.as_deref().filter(|governor| *governor != "performance")?;
    finding(
        Misleading,
        "the CPU may run below its full speed and change speed during the measurement",
        format!("cpufreq governor is {governor}"),
        "run cpupower frequency-set -g performance for the duration of the measurement",
    )
}

pub(super) fn battery(facts: &Facts) -> Option<Finding> {
    facts.host.conditions.on_battery.filter(|on| *on)?;
    finding(
        Misleading,
        "CPU and disk save power, so results are slower and vary",
        "a battery is discharging",
        "plug the machine in",
    )
}

/// Share of steal time above which trials scatter by more than the goal of 2 %.
const MAX_STEAL: f64 = 0.01;

pub(super) fn steal(facts: &Facts) -> Option<Finding> {
    let share = facts.host.conditions.steal.filter(|share| *share > MAX_STEAL)?;
    finding(
        Misleading,
        "the hypervisor takes CPU time from this machine, so trials scatter and are slower",
        format!("{} steal time since boot", show_share(share)),
        "measure when the host is less busy, or on dedicated CPUs; trust intervals, not single trials",
    )
}

pub(super) fn cpu_quota(facts: &Facts) -> Option<Finding> {
    let cpu = &facts.host.cpu;
    let quota = cpu.quota.filter(|quota| *quota < f64::from(cpu.online))?;
    finding(
        Misleading,
        "a trial that exceeds its CPU quota is paused until the next period, which looks like disk latency",
        format!("the control group allows {quota:.2} CPUs of {}", cpu.online),
        "run outside the container, raise its CPU quota, or use fewer threads",
    )
}

pub(super) fn busy(facts: &Facts) -> Option<Finding> {
    let load = facts.host.conditions.load?;
    let cpus = facts.host.cpu.allowed.max(1);
    if load <= f64::from(cpus) / 2.0 {
        return None;
    }
    finding(
        Misleading,
        "other programs compete for the CPUs",
        format!(
            "load average of {load:.2} over the last minute on {}",
            counted(cpus as usize, "CPU")
        ),
        "wait until they are done, or stop them",
    )
}

pub(super) fn virtual_machine(facts: &Facts) -> Option<Finding> {
    let hypervisor = facts.host.virtualisation.as_deref()?;
    finding(
        Note,
        "dropping caches affects only this guest: the host may still cache the data, and the disk may be rate-limited",
        format!("virtual machine: {hypervisor}"),
        "cold results describe the virtual disk; measure on the host for the physical one",
    )
}

pub(super) fn smt(facts: &Facts) -> Option<Finding> {
    let cpu = &facts.host.cpu;
    if cpu.smt != Some(true) || !facts.any(|job| job.threads > 1) {
        return None;
    }
    finding(
        Note,
        "two threads may share a core, and then each runs slower than alone",
        format!("SMT is on: {} CPUs on {} cores", cpu.online, cpu.cores),
        "compare thread counts only up to the number of cores",
    )
}

#[cfg(test)]
mod tests {
    use crate::doctor::testing::{check, plan};
    use crate::facts::{Conditions, Cpu, Host};
    use crate::record::Severity;

    fn with_cpu(cpu: Cpu) -> Host {
        Host { cpu, ..Host::default() }
    }

    fn with(conditions: Conditions) -> Host {
        Host { conditions, ..Host::default() }
    }

    #[test]
    fn reports_governors_other_than_performance() {
        let host =
            |governor: &str| with_cpu(Cpu { governor: Some(governor.into()), ..Cpu::default() });
        assert!(
            check("governor", &host("powersave"), None, None)
                .is_some_and(|f| f.evidence.contains("powersave"))
        );
        assert_eq!(check("governor", &host("performance"), None, None), None);
        assert_eq!(check("governor", &Host::default(), None, None), None);
    }

    #[test]
    fn reports_battery_power() {
        let host = |on_battery| with(Conditions { on_battery, ..Conditions::default() });
        assert!(check("battery", &host(Some(true)), None, None).is_some());
        assert_eq!(check("battery", &host(Some(false)), None, None), None);
    }

    #[test]
    fn reports_steal_time() {
        let host = |share| with(Conditions { steal: Some(share), ..Conditions::default() });
        assert!(
            check("steal", &host(0.05), None, None).is_some_and(|f| f.evidence.starts_with("5 %"))
        );
        assert_eq!(check("steal", &host(0.001), None, None), None);
    }

    #[test]
    fn reports_cpu_quotas_below_the_machine() {
        let host = |quota| with_cpu(Cpu { online: 4, quota, ..Cpu::default() });
        assert!(
            check("cpu-quota", &host(Some(1.5)), None, None)
                .is_some_and(|f| f.evidence.contains("1.50 CPUs of 4"))
        );
        assert_eq!(check("cpu-quota", &host(Some(4.0)), None, None), None);
        assert_eq!(check("cpu-quota", &host(None), None, None), None);
    }

    #[test]
    fn reports_a_high_load() {
        let host = |load| Host {
            cpu: Cpu { allowed: 2, ..Cpu::default() },
            ..with(Conditions { load: Some(load), ..Conditions::default() })
        };
        assert!(check("busy", &host(1.5), None, None).is_some());
        assert_eq!(check("busy", &host(0.9), None, None), None);
    }

    #[test]
    fn notes_a_hypervisor() {
        let host = Host { virtualisation: Some("KVM".into()), ..Host::default() };
        assert!(
            check("virtual-machine", &host, None, None)
                .is_some_and(|f| f.severity == Severity::Note)
        );
        assert_eq!(check("virtual-machine", &Host::default(), None, None), None);
    }

    #[test]
    fn smt_matters_to_several_threads() {
        let host = with_cpu(Cpu { smt: Some(true), online: 8, cores: 4, ..Cpu::default() });
        assert!(check("smt", &host, None, None).is_some());
        assert_eq!(check("smt", &host, None, Some(&plan(&[]))), None);
        let mut threads = plan(&[]);
        threads.cells[0].threads = 2;
        assert!(check("smt", &host, None, Some(&threads)).is_some());
        assert_eq!(
            check("smt", &with_cpu(Cpu { smt: Some(false), ..Cpu::default() }), None, None),
            None
        );
    }
}
