//! What a run does now.

use crate::record::Progress;

/// What runs: a cell or a probe, by its place in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Cell(u32),
    Probe(u32),
}

impl Step {
    pub fn from_progress(progress: &Progress) -> Option<Step> {
        progress.cell.map(Step::Cell).or(progress.probe.map(Step::Probe))
    }
}
