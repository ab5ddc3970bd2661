//! The doctor: what about this machine, this target and this plan would disturb a measurement.
//!
//! Every check is a pure function of facts that were collected before; it touches nothing.

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

/// What a check may look at.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub host: &'a Host,
    pub target: Option<&'a TargetFacts>,
    pub plan: Option<Planned<'a>>,
}

/// A plan, with the records of the backends that it may name.
#[derive(Debug, Clone, Copy)]
pub struct Planned<'a> {
    pub plan: &'a Plan,
    pub infos: &'a [&'static Info],
}

/// What a check says; its id is the check's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    pub message: String,
    /// The facts that raised it, and where they were read.
    pub evidence: String,
    /// What to do about it.
    pub remedy: String,
}

/// One thing the doctor looks for.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Stable name: `governor`.
    pub id: &'static str,
    /// One line for lists.
    pub about: &'static str,
    pub check: fn(&Facts) -> Option<Finding>,
}

macro_rules! checks {
    ($($id:literal $about:literal $check:path;)+) => { &[$(Check { id: $id, about: $about, check: $check }),+] };
}

/// Everything the doctor looks for, in the order of its report within a severity.
pub static CHECKS: &[Check] = checks! {
    "memory-target" "the target's bytes live in memory" target::memory_target;
    "holes" "parts of the target were never written and read as zeros from memory" target::holes;
    "not-direct" "direct I/O is refused here, or is not direct" target::not_direct;
    "compressed" "the file system stores fewer bytes than it returns" target::compressed;
    "network-target" "the bytes come from another machine with caches of its own" target::network_target;
    "fuse-target" "a program serves the file system" target::fuse_target;
    "full" "the file system is nearly full" target::full;
    "cached" "the target is cached although cold trials are wanted" target::cached;
    "residency" "what is cached cannot be counted, only sampled, or not at all" target::residency;
    "access-time" "reading updates the target's time of last access" target::access_time;
    "raid-busy" "a software RAID is being built or checked" device::raid_busy;
    "other-io" "other programs use the disks now" device::other_io;
    "deep-stack" "layers between file system and disk" device::deep_stack;
    "read-ahead" "the kernel reads far ahead, or not at all" device::read_ahead;
    "rotational" "a disk that turns, or says so" device::rotational;
    "larger-than-memory" "the target does not fit in memory" memory::larger_than_memory;
    "memory-limit" "a control group limits memory below the target's size" memory::memory_limit;
    "evictor" "kdamond evicts files that are cached and idle" memory::evictor;
    "free-page-reporting" "freed memory goes back to the host" memory::free_page_reporting;
    "no-huge-pages" "direct I/O goes through small pages" memory::no_huge_pages;
    "governor" "the CPU frequency governor saves power" machine::governor;
    "battery" "the machine runs from its battery" machine::battery;
    "steal" "the hypervisor gives CPU time to others" machine::steal;
    "cpu-quota" "a control group limits the CPU time" machine::cpu_quota;
    "busy" "other programs use the CPUs now" machine::busy;
    "virtual-machine" "a hypervisor with a cache of its own" machine::virtual_machine;
    "smt" "two threads share each core" machine::smt;
    "clock-source" "reading the clock is slow" kernel::clock_source;
    "io-uring-off" "io_uring is disabled" kernel::io_uring_off;
    "old-kernel" "a kernel that cannot tell residency or direct-I/O alignment" kernel::old_kernel;
    "cannot-drop-caches" "this user may not empty the machine's caches" kernel::cannot_drop_caches;
    "mitigations" "CPU mitigations make system calls slower" kernel::mitigations;
};

/// What would disturb a measurement here, the worst first. Without a plan everything that one might
/// ask for is judged.
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

/// For checks that end in a sentence.
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
    /// Some cell is so; without a plan it might be.
    fn any(&self, is_so: impl Fn(&Job) -> bool) -> bool {
        self.plan.is_none_or(|planned| planned.plan.cells.iter().any(is_so))
    }

    /// Some cell's backend can be forbidden by this sysctl; without a plan it might be.
    fn any_behind(&self, switch: &str) -> bool {
        self.plan.is_none_or(|Planned { plan, infos }| {
            let needs = |info: &&&Info| info.kernel_switch == Some(switch);
            let ids: Vec<&str> = infos.iter().filter(needs).map(|info| info.id).collect();
            plan.cells.iter().any(|job| ids.contains(&job.backend.id.as_str()))
        })
    }

    fn cold_wanted(&self) -> bool {
        self.any(|job| job.cache == Cache::Cold && !job.direct)
    }

    /// Some cell counts on what is cached.
    fn cache_wanted(&self) -> bool {
        self.any(|job| job.cache != Cache::Cold && !job.direct)
    }

    fn writes(&self) -> bool {
        self.any(|job| job.op == Op::Write)
    }

    /// The largest part of the target that a cell uses, bytes; the whole without a plan.
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
    fn ids_are_unique_and_every_check_says_what_it_is() {
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
    fn the_worst_comes_first_and_nothing_known_says_nothing() {
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
    fn a_plan_narrows_what_may_be_asked() {
        let (host, plan) = (Host::default(), plan(&["warm"]));
        assert!(
            facts_of(&host, None, None).cold_wanted()
                && !facts_of(&host, None, Some(&plan)).cold_wanted()
        );
        assert!(facts_of(&host, None, Some(&plan)).cache_wanted());
        assert_eq!(facts_of(&host, None, Some(&plan)).span(), Some(1 << 30));
    }
}
