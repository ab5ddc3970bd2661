//! The facts that checks use, and the finding that they return.

use crate::facts::{Host, TargetFacts};
use crate::plan::{Cache, Info, Job, Op, Plan};
use crate::record::{Remedy, Severity, Warning};

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
    pub remedy: Remedy,
}

impl Finding {
    pub(super) fn into_warning(self, id: &'static str) -> Warning {
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
pub(super) fn finding(
    severity: Severity,
    message: impl Into<String>,
    evidence: impl Into<String>,
    remedy: impl Into<Remedy>,
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
