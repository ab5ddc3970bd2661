//! A warning: what is wrong, how it is known, and what to do.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The warning of a cell whose system calls nobody counted: there is no rate of them then.
pub const CALLS_UNKNOWN: &str = "calls-unknown";

/// How much a warning takes away from a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; the number stands.
    Note,
    /// The number is right and easily misread.
    Misleading,
    /// The number is not what it says it is.
    Wrong,
}

/// A finding about a result, a target or a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Stable name: `holes`, `not-cold`.
    pub id: Cow<'static, str>,
    pub severity: Severity,
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
