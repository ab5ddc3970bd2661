//! The current step of a run.

use crate::record::Progress;

/// A cell or a probe, by its index in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Cell(u32),
    Probe(u32),
}

impl Step {
    pub fn from_progress(progress: &Progress) -> Option<Step> {
        progress.cell.map(Step::Cell).or(progress.probe.map(Step::Probe))
    }

    pub fn index(self) -> u32 {
        let (Step::Cell(index) | Step::Probe(index)) = self;
        index
    }
}
