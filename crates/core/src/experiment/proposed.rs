//! What the engine finds before a run: a plan with its facts, and what probes can measure.

use crate::facts::TargetFacts;
use crate::plan::{Plan, ProbeCell};
use crate::record::{Estimate, Unit};

/// A plan and the facts found while making it.
#[derive(Debug)]
pub struct Proposed {
    pub plan: Plan,
    /// Facts about the target, or about an empty file where the scratch file would be.
    pub facts: TargetFacts,
    /// Every backend and peer that cannot do a plain job of the requested operation here, and why;
    /// empty unless a survey was requested.
    pub unavailable: Vec<(&'static str, String)>,
    /// What is measured instead of the named file, and why.
    pub instead: Option<String>,
    /// The span that all targets are used over, where they differ in size.
    pub common_span: Option<String>,
}

/// A cell of a probe.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub cell: ProbeCell,
    pub unit: Unit,
    pub estimate: Option<Estimate>,
    /// Why it is unavailable.
    pub refused: Option<String>,
}
