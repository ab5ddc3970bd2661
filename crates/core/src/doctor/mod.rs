//! The doctor: checks for properties of the machine, target and plan that would disturb a
//! measurement. Every check is a pure function of facts that were collected beforehand.

mod device;
mod facts;
mod kernel;
mod machine;
mod memory;
mod target;
#[cfg(test)]
mod testing;

pub use facts::{Facts, Finding, Planned};

use crate::facts::{Host, TargetFacts};
use crate::record::Warning;

/// Id of the finding that another iotui measures on a disk of the plan.
pub const OTHER_RUN: &str = "other-run";

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

/// All checks, in the order in which the report lists them within a severity.
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
    "no-poll-queues" "+iopoll on a disk that cannot be polled" device::no_poll_queues;
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

/// Lists what would disturb a measurement here, the most severe first. Without a plan, any kind of
/// cell counts as planned.
pub fn examine(host: &Host, target: Option<&TargetFacts>, plan: Option<Planned>) -> Vec<Warning> {
    let facts = Facts { host, target, plan };
    let found = CHECKS.iter().filter_map(|check| Some((check.id, (check.check)(&facts)?)));
    let mut warnings: Vec<Warning> = found.map(|(id, finding)| finding.into_warning(id)).collect();
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    warnings
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
            ![&w.message, &w.evidence, &w.remedy.text]
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
