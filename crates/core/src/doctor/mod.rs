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

pub use facts::{Facts, Planned};

use crate::facts::{Host, TargetFacts};
use crate::plan::{Cache, Info, Job, Op};
use crate::record::{Finding, Warning};

/// Id of the finding that another iotui measures on a disk of the plan.
pub const OTHER_RUN: &str = "other-run";

/// One check of the doctor.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Stable id: `governor`.
    pub id: &'static str,
    pub check: fn(&Facts) -> Option<Finding>,
}

const fn check(id: &'static str, check: fn(&Facts) -> Option<Finding>) -> Check {
    Check { id, check }
}

/// All checks, in the order in which the report lists them within a severity.
pub static CHECKS: &[Check] = &[
    check("memory-target", target::memory_target),
    check("holes", target::holes),
    check("not-direct", target::not_direct),
    check("compressed", target::compressed),
    check("network-target", target::network_target),
    check("fuse-target", target::fuse_target),
    check("full", target::full),
    check("cached", target::cached),
    check("residency", target::residency),
    check("access-time", target::access_time),
    check("raid-busy", device::raid_busy),
    check("other-io", device::other_io),
    check("deep-stack", device::deep_stack),
    check("read-ahead", device::read_ahead),
    check("no-poll-queues", device::no_poll_queues),
    check("rotational", device::rotational),
    check("larger-than-memory", memory::larger_than_memory),
    check("memory-limit", memory::memory_limit),
    check("evictor", memory::evictor),
    check("free-page-reporting", memory::free_page_reporting),
    check("no-huge-pages", memory::no_huge_pages),
    check("governor", machine::governor),
    check("battery", machine::battery),
    check("steal", machine::steal),
    check("cpu-quota", machine::cpu_quota),
    check("busy", machine::busy),
    check("virtual-machine", machine::virtual_machine),
    check("smt", machine::smt),
    check("clock-source", kernel::clock_source),
    check("io-uring-off", kernel::io_uring_off),
    check("old-kernel", kernel::old_kernel),
    check("cannot-drop-caches", kernel::cannot_drop_caches),
    check("mitigations", kernel::mitigations),
];

/// Lists what would disturb a measurement here, the most severe first. Without a plan, any kind of
/// cell counts as planned.
pub fn examine(host: &Host, target: Option<&TargetFacts>, plan: Option<Planned>) -> Vec<Warning> {
    let facts = Facts { host, target, plan };
    let found = CHECKS.iter().filter_map(|check| Some((check.id, (check.check)(&facts)?)));
    let mut warnings: Vec<Warning> = found.map(|(id, finding)| finding.into_warning(id)).collect();
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    warnings
}

impl Facts<'_> {
    /// Returns true if `condition` holds for some cell, and always without a plan.
    pub(super) fn any(&self, condition: impl Fn(&Job) -> bool) -> bool {
        self.plan.is_none_or(|planned| planned.plan.cells.iter().any(condition))
    }

    /// Returns true if this sysctl can disable some cell's backend, and always without a plan.
    pub(super) fn any_disabled_by(&self, switch: &str) -> bool {
        self.plan.is_none_or(|Planned { plan, infos }| {
            let needs = |info: &&&Info| info.kernel_switch == Some(switch);
            let ids: Vec<&str> = infos.iter().filter(needs).map(|info| info.id).collect();
            plan.cells.iter().any(|job| ids.contains(&job.backend.id.as_str()))
        })
    }

    /// Returns true if some cell needs a cold page cache.
    pub(super) fn uses_cold(&self) -> bool {
        self.any(|job| job.cache == Cache::Cold && !job.direct)
    }

    /// Returns true if some cell depends on cached data.
    pub(super) fn uses_cache(&self) -> bool {
        self.any(|job| job.cache != Cache::Cold && !job.direct)
    }

    pub(super) fn writes(&self) -> bool {
        self.any(|job| job.op == Op::Write)
    }

    /// Returns the bytes of the largest part of the target that a cell uses; without a plan, the
    /// size of the target.
    pub(super) fn span(&self) -> Option<u64> {
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
    fn ids_are_unique() {
        let mut ids: Vec<_> = CHECKS.iter().map(|check| check.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), CHECKS.len());
        for check in CHECKS {
            let is_plain = |b: u8| b.is_ascii_lowercase() || b == b'-';
            assert!(check.id.bytes().all(is_plain), "{}", check.id);
        }
    }

    #[test]
    fn most_severe_finding_comes_first() {
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
    fn a_plan_narrows_the_checks() {
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
