//! A warning: the finding, the evidence and the remedy.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Id of the warning of a cell whose system calls were not counted, so that their rate is unknown.
pub const CALLS_UNKNOWN: &str = "calls-unknown";

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

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Misleading => "misleading",
            Severity::Wrong => "wrong",
        }
    }
}
