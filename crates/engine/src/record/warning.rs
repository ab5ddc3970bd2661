//! A warning: the finding, the evidence and the remedy.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Id of the warning of a cell whose system calls were not counted, so that their rate is unknown.
pub const CALLS_UNKNOWN: &str = "calls-unknown";
/// Ids of the warnings of a cell with too few trials for an interval, and with a wide one.
pub const FEW: &str = "few";
pub const WIDE: &str = "wide";

/// How much a warning devalues a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; the number is valid.
    Note,
    /// The number is right but easily misread.
    Misleading,
    /// The number does not measure what it claims to.
    Wrong,
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

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Misleading => "misleading",
            Severity::Wrong => "wrong",
        }
    }
}
