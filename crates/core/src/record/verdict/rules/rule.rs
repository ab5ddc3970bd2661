//! A rule and its warning.

use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::single_line;
use crate::record::{Severity, Warning};

/// A rule that detects one way in which a result can be wrong or misread.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Position in the list of rules; several may share a number, and 0 means none.
    pub number: u8,
    /// Stable id, which the warning carries.
    pub id: &'static str,
    /// What it detects, in one line.
    pub about: &'static str,
    pub check: fn(&CellEvidence) -> Option<Warning>,
}

pub(super) const fn rule(
    number: u8,
    id: &'static str,
    about: &'static str,
    check: fn(&CellEvidence) -> Option<Warning>,
) -> Rule {
    Rule { number, id, about, check }
}

impl Rule {
    /// Builds the warning of this rule from finding, evidence and remedy.
    pub(super) fn warn(
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
            message: single_line(&message),
            evidence: single_line(&evidence),
            remedy: remedy.into(),
        })
    }
}
