//! The warnings of a session by kind: which cells have them, what they say, and what helps.

use super::spoken;
use crate::analysis::{brief_words, kind_words};
use crate::record::{Severity, Warning};

/// A kind of warning with the cells that have it.
#[derive(Debug, Clone, PartialEq)]
pub struct WarningGroup {
    /// The most severe one.
    pub example: Warning,
    /// Cells that have it, those of them whose figure it devalues, and all.
    pub count: usize,
    pub faults: usize,
    pub all: usize,
    /// What they have in common, in a few words.
    pub words: String,
    /// The session can be continued.
    refinable: bool,
}

/// What a screen can do against a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Add rounds to the session.
    Refine,
    /// Show the row of this setting on Setup.
    Setting(&'static str),
}

impl WarningGroup {
    /// Returns whether every cell has it.
    pub fn is_everywhere(&self) -> bool {
        self.count == self.all && self.all > 1
    }

    /// Returns whether it devalues the figure of every cell.
    pub fn is_fault_everywhere(&self) -> bool {
        self.faults == self.all && self.all > 1
    }

    /// Returns `all: the host took CPU time`, `3: others used the disk`.
    pub fn summary(&self) -> String {
        match self.faults {
            _ if self.is_fault_everywhere() => format!("all: {}", self.words),
            1 => self.words.clone(),
            count => format!("{count}: {}", self.words),
        }
    }

    pub fn remedy(&self) -> Option<Remedy> {
        let remedy = &self.example.remedy;
        if self.refinable && spoken::asks_for_rounds(remedy) {
            return Some(Remedy::Refine);
        }
        spoken::asked_setting(remedy).map(Remedy::Setting)
    }
}

/// Returns the kinds of warnings of cells, the most severe and frequent first, of so many. That a
/// cell is unfinished comes last: it is no fault.
pub fn group<'a>(
    cells: impl Iterator<Item = &'a [Warning]>,
    all: usize,
    refinable: bool,
) -> Vec<WarningGroup> {
    let mut groups: Vec<WarningGroup> = Vec::new();
    for warning in cells.flatten() {
        let words = brief_words(warning);
        let fault = usize::from(warning.severity > Severity::Note);
        match groups.iter_mut().find(|group| group.example.id == warning.id) {
            Some(group) => {
                group.count += 1;
                group.faults += fault;
                if group.words != words {
                    group.words = kind_words(&warning.id).into();
                }
                if warning.severity > group.example.severity {
                    group.example = warning.clone();
                }
            }
            None => groups.push(WarningGroup {
                example: warning.clone(),
                count: 1,
                faults: fault,
                all,
                words,
                refinable,
            }),
        }
    }
    fn rank(group: &WarningGroup) -> (bool, Severity, usize, usize) {
        let WarningGroup { example, faults, count, .. } = group;
        (!example.is_unfinished(), example.severity, *faults, *count)
    }
    groups.sort_by_key(|group| std::cmp::Reverse(rank(group)));
    groups
}
