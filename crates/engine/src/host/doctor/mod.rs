//! The doctor: checks for properties of machine, target and plan that would disturb a measurement.
//! Every check is a pure function of facts that were collected before.

mod device;
mod kernel;
mod machine;
mod memory;
mod target;
#[cfg(test)]
mod testing;

use super::{Host, TargetFacts};
use crate::plan::{Cache, Info, Job, Op, Plan};
use crate::record::{Severity, Warning};

/// The facts that a check may use.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub host: &'a Host,
    pub target: Option<&'a TargetFacts>,
    pub plan: Option<Planned<'a>>,
}

/// A plan with the descriptions of the backends that it may use.
#[derive(Debug, Clone, Copy)]
pub struct Planned<'a> {
    pub plan: &'a Plan,
    pub infos: &'a [&'static Info],
}

/// The finding of a check; the check supplies the id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    pub message: String,
    /// The facts behind it, and where they were read.
    pub evidence: String,
    /// What to do about it.
    pub remedy: String,
}

/// One check of the doctor.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Stable id: `governor`.
    pub id: &'static str,
    /// One line for lists.
    pub about: &'static str,
    pub check: fn(&Facts) -> Option<Finding>,
}

macro_rules! checks {
    ($($id:literal $about:literal $check:path;)+) => {
        &[$(Check { id: $id, about: $about, check: $check }),+]
    };
}

/// All checks, in the order of the report within a severity.
pub static CHECKS: &[Check] = checks! {
    "memory-target" "the target is in memory" target::memory_target;
    "holes" "parts of the target were never written and read as zeros without disk access" target::holes;
    "not-direct" "direct I/O is not supported here, or is not direct" target::not_direct;
    "compressed" "the file system stores fewer bytes than it returns" target::compressed;
    "network-target" "the bytes come from another machine, which has its own caches" target::network_target;
    "fuse-target" "a program serves the file system" target::fuse_target;
    "full" "the file system is nearly full" target::full;
    "cached" "the target is cached although cold trials are planned" target::cached;
    "residency" "residency cannot be counted, only sampled, or is unknown" target::residency;
    "access-time" "reads may update the target's access time" target::access_time;
    "raid-busy" "a software RAID is being rebuilt or checked" device::raid_busy;
    "other-io" "other programs are using the disks" device::other_io;
    "deep-stack" "layers between file system and disk" device::deep_stack;
    "read-ahead" "readahead is large, or off" device::read_ahead;
    "rotational" "a disk that is rotational, or reports to be" device::rotational;
    "larger-than-memory" "the target does not fit in memory" memory::larger_than_memory;
    "memory-limit" "a control group limits memory below the target's size" memory::memory_limit;
    "evictor" "kdamond may evict idle cached files" memory::evictor;
    "free-page-reporting" "freed memory returns to the host" memory::free_page_reporting;
    "no-huge-pages" "buffers of direct I/O are on small pages" memory::no_huge_pages;
    "governor" "the CPU frequency governor saves power" machine::governor;
    "battery" "the machine runs on battery" machine::battery;
    "steal" "CPU time is lost to steal time" machine::steal;
    "cpu-quota" "a control group limits the CPU time" machine::cpu_quota;
    "busy" "other programs are using the CPUs" machine::busy;
    "virtual-machine" "a hypervisor, which has its own cache" machine::virtual_machine;
    "smt" "two threads share each core" machine::smt;
    "clock-source" "reading the clock is slow" kernel::clock_source;
    "io-uring-off" "io_uring is disabled" kernel::io_uring_off;
    "old-kernel" "a kernel that does not report residency or direct-I/O alignment" kernel::old_kernel;
    "cannot-drop-caches" "this user may not drop the machine's caches" kernel::cannot_drop_caches;
    "mitigations" "CPU mitigations make system calls slower" kernel::mitigations;
};

/// Lists what would disturb a measurement here, the most severe first. Without a plan, any kind of cell counts as planned.
pub fn examine(host: &Host, target: Option<&TargetFacts>, plan: Option<Planned>) -> Vec<Warning> {
    let facts = Facts { host, target, plan };
    let found = CHECKS.iter().filter_map(|check| Some((check.id, (check.check)(&facts)?)));
    let mut warnings: Vec<Warning> = found.map(|(id, finding)| finding.into_warning(id)).collect();
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    warnings
}

impl Finding {
    fn into_warning(self, id: &'static str) -> Warning {
        Warning {
            id: id.into(),
            severity: self.severity,
            message: self.message,
            evidence: self.evidence,
            remedy: self.remedy,
        }
    }
}

/// Builds the finding of a check.
fn found(
    severity: Severity,
    message: impl Into<String>,
    evidence: impl Into<String>,
    remedy: impl Into<String>,
) -> Option<Finding> {
    Some(Finding {
        severity,
        message: message.into(),
        evidence: evidence.into(),
        remedy: remedy.into(),
    })
}

impl Facts<'_> {
    /// Returns true if `condition` holds for some cell, and always without a plan.
    fn any(&self, condition: impl Fn(&Job) -> bool) -> bool {
        self.plan.is_none_or(|planned| planned.plan.cells.iter().any(condition))
    }

    /// Returns true if this sysctl can disable some cell's backend, and always without a plan.
    fn any_disabled_by(&self, switch: &str) -> bool {
        self.plan.is_none_or(|Planned { plan, infos }| {
            let needs = |info: &&&Info| info.kernel_switch == Some(switch);
            let ids: Vec<&str> = infos.iter().filter(needs).map(|info| info.id).collect();
            plan.cells.iter().any(|job| ids.contains(&job.backend.id.as_str()))
        })
    }

    /// Returns true if some cell needs a cold page cache.
    fn uses_cold(&self) -> bool {
        self.any(|job| job.cache == Cache::Cold && !job.direct)
    }

    /// Returns true if some cell depends on cached data.
    fn uses_cache(&self) -> bool {
        self.any(|job| job.cache != Cache::Cold && !job.direct)
    }

    fn writes(&self) -> bool {
        self.any(|job| job.op == Op::Write)
    }

    /// Returns the bytes of the largest part of the target that a cell uses; without a plan, the size of the target.
    fn span(&self) -> Option<u64> {
        let planned =
            self.plan.and_then(|planned| planned.plan.cells.iter().map(|job| job.span).max());
        planned.or(self.target.map(|target| target.size)).filter(|span| *span > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{facts_of, plan, planned};
    use super::*;

    #[test]
    fn every_check_has_a_unique_id_and_a_description() {
        let mut ids: Vec<_> = CHECKS.iter().map(|check| check.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), CHECKS.len());
        for check in CHECKS {
            assert!(
                check.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
                    && !check.about.is_empty(),
                "{}",
                check.id
            );
        }
    }

    #[test]
    fn the_most_severe_finding_comes_first_and_an_unknown_host_has_none() {
        assert_eq!(examine(&Host { can_drop_caches: true, ..Host::default() }, None, None), []);
        let mut host =
            Host { virtualisation: Some("KVM".into()), can_drop_caches: true, ..Host::default() };
        host.conditions.on_battery = Some(true);
        let target = TargetFacts { memory: true, fs: "tmpfs".into(), ..TargetFacts::default() };
        let found = examine(&host, Some(&target), Some(planned(&plan(&[]))));
        let ids: Vec<_> = found.iter().map(|warning| warning.id.as_ref()).collect();
        assert_eq!(ids, ["memory-target", "battery", "virtual-machine"]);
        assert!(found.iter().all(|w| {
            ![&w.message, &w.evidence, &w.remedy]
                .iter()
                .any(|text| text.contains('\n') || text.is_empty())
        }));
    }

    #[test]
    fn a_plan_narrows_the_kinds_of_cells() {
        let host = Host::default();
        let plan = plan(&["warm"]);
        assert!(
            facts_of(&host, None, None).uses_cold()
                && !facts_of(&host, None, Some(&plan)).uses_cold()
        );
        assert!(facts_of(&host, None, Some(&plan)).uses_cache());
        assert_eq!(facts_of(&host, None, Some(&plan)).span(), Some(1 << 30));
    }
}
