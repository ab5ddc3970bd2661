//! What can be wrong with a result: one rule each, listed once.

mod cache;
mod ceiling;
mod circumstance;
mod consistent;
mod course;
mod depth;
mod disturbed;
mod few;
mod overlap;
mod path;
mod peer;
mod stored;
mod write;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod examples_ceiling;
#[cfg(test)]
mod examples_trust;
#[cfg(test)]
mod tests;

use super::CellEvidence;
use super::facts::line;
use crate::record::{Severity, Warning};

/// One way in which a result can be wrong or misread, and how the evidence shows it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Orders the rules; several may share a number, and 0 stands for none.
    pub number: u8,
    /// Stable name, which the warning carries.
    pub id: &'static str,
    pub about: &'static str,
    pub check: fn(&CellEvidence) -> Option<Warning>,
}

/// Every rule, by number.
pub static RULES: &[Rule] = &[
    cache::FROM_CACHE,
    stored::HOLES,
    path::NOT_DIRECT,
    path::MEMORY,
    overlap::SHARED_OFFSETS,
    overlap::WRAPPED,
    cache::NOT_COLD,
    cache::PREVIOUS_TRIAL,
    write::NOT_ON_DEVICE,
    stored::COMPRESSIBLE,
    depth::DEPTH_UNUSED,
    ceiling::CPU_BOUND,
    few::FEW,
    few::CUT,
    few::SHORT_TRIAL,
    few::FEW_OPERATIONS,
    few::FEW_FOR_PERCENTILE,
    few::WIDE,
    few::TWO_MODES,
    course::LEVEL_CHANGE,
    ceiling::RATE_LIMITED,
    ceiling::BEYOND_MEMORY,
    depth::READ_AHEAD,
    disturbed::UNSTEADY_HOST,
    disturbed::DISTURBED,
    disturbed::NEARLY_FULL,
    circumstance::SLOW_CLOCK,
    ceiling::TIMING_DOMINATES,
    consistent::INCONSISTENT,
    consistent::INCONSISTENT_TIME,
    ceiling::ABOVE_LINK,
    ceiling::ABOVE_MEMORY,
    write::NOT_OURS,
    path::OTHER_PATH,
    ceiling::LAYERS,
    consistent::PREPARATION_TIMED,
    cache::NOT_WARM,
    circumstance::FILE_CHANGED,
    circumstance::SHARED_DESCRIPTORS,
    circumstance::SMALL_PAGES,
    circumstance::HELPER_UNCOUNTED,
    circumstance::UNEVEN_START,
    circumstance::CLONED,
    peer::UNKNOWN_CALLS,
    peer::COARSE_CLOCK,
    circumstance::NOT_FLUSHED,
    depth::POPULATED_MORE,
    write::NOT_READ_BACK,
    write::LARGE_FOLIOS,
];

const fn rule(
    number: u8,
    id: &'static str,
    about: &'static str,
    check: fn(&CellEvidence) -> Option<Warning>,
) -> Rule {
    Rule { number, id, about, check }
}

impl Rule {
    /// The warning of this rule.
    fn warn(
        &self,
        severity: Severity,
        message: String,
        evidence: String,
        remedy: &str,
    ) -> Option<Warning> {
        let id = self.id.into();
        Some(Warning {
            id,
            severity,
            message: line(&message),
            evidence: line(&evidence),
            remedy: remedy.into(),
        })
    }
}
