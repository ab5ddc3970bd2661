//! A warning: the finding, the evidence and the remedy.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::plan::names;

/// Id of the warning of a cell whose system calls were not counted, so that their rate is unknown.
pub const CALLS_UNKNOWN: &str = "calls-unknown";
/// Ids of the warnings of a cell with too few trials for an interval, and with a wide one.
pub const FEW: &str = "few";
pub const WIDE: &str = "wide";

names! {
    /// How much a warning devalues a result.
    "severity" Severity {
        /// Worth knowing; the number is valid.
        Note = "note",
        /// The number is right but easily misread.
        Misleading = "misleading",
        /// The number does not measure what it claims to.
        Wrong = "wrong",
    }
}

/// A finding about a result, a target or a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Stable id: `holes`, `not-cold`.
    pub id: Cow<'static, str>,
    pub severity: Severity,
    /// The finding.
    pub message: String,
    /// The measured facts that raised it.
    pub evidence: String,
    /// What to do about it.
    pub remedy: String,
}

impl Warning {
    /// Returns whether it says that more trials are needed for an interval: the result is
    /// unfinished, not faulty.
    pub fn is_unfinished(&self) -> bool {
        self.id == FEW
    }

    /// Returns whether more trials may clear it.
    pub fn needs_trials(&self) -> bool {
        self.is_unfinished() || self.id == WIDE
    }
}
