//! What is known of the machine and the target, and what is seen of it.

use crate::host::{Host, TargetFacts};
use crate::record::Warning;

#[derive(Debug, Default)]
pub struct HostScreen {
    pub host: Option<Box<Host>>,
    /// What the doctor finds without a plan.
    pub general: Vec<Warning>,
    /// What Setup has chosen.
    pub target: Option<TargetFacts>,
    /// What the doctor finds with the plan of Setup, once there is one.
    pub planned: Option<Vec<Warning>>,
    /// The pane that scrolls, where there is more than one.
    pub focus: usize,
    /// The first line that is seen, of each pane.
    pub scroll: [usize; 3],
}

impl HostScreen {
    /// What the doctor finds: with the plan of Setup where there is one.
    pub fn findings(&self) -> &[Warning] {
        self.planned.as_deref().unwrap_or(&self.general)
    }
}
