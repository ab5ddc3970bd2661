//! Host: facts about this machine and the target, and the findings of the doctor.
//!
//! | what | where |
//! |---|---|
//! | facts, and scroll positions | [`HostScreen`] |
//! | keys, clicks and messages | [`update`] |
//! | panes, drawing: rows and tables, the path from the file down to the disk | [`view`] |

#[cfg(test)]
mod tests;
mod update;
mod view;

pub use update::{act, click, enter, handle_message, show_plan};
pub use view::draw;

use std::time::SystemTime;

use crate::facts::{Host, TargetFacts};
use crate::record::Warning;
use crate::text::utc;

#[derive(Debug, Default)]
pub struct HostScreen {
    pub host: Option<Box<Host>>,
    /// The loops for XORs as they were compared.
    pub xor_loop: Option<crate::facts::XorLoops>,
    /// Findings of the doctor without a plan.
    pub general: Vec<Warning>,
    /// The target chosen on Setup.
    pub target: Option<TargetFacts>,
    /// Findings of the doctor with the plan of Setup, once there is one.
    pub planned: Option<Vec<Warning>>,
    /// When the findings shown were made, if the time was known.
    pub examined_at: Option<SystemTime>,
    /// The pane that scrolls.
    pub focus: usize,
    /// The first visible line of each pane.
    pub scroll: [usize; 3],
}

impl HostScreen {
    /// Returns when the findings were made: `at 13:02:05 UTC`. An age would be wrong on a screen
    /// that nobody touches.
    pub fn describe_time(&self) -> Option<String> {
        Some(format!("at {} UTC", utc(self.examined_at?).get(11..19)?))
    }

    /// Returns the findings of the doctor, with the plan of Setup if there is one.
    pub fn findings(&self) -> &[Warning] {
        self.planned.as_deref().unwrap_or(&self.general)
    }
}
