//! The warnings of a session by kind: which cells have them, what they say, and what helps.

use crate::analysis::{brief_words, describe_range, differ_in_figures_only, kind_words};
use crate::record::{Severity, Warning};

/// A kind of warning with the cells that have it.
#[derive(Debug, Clone, PartialEq)]
pub struct WarningGroup {
    /// The most severe warning.
    pub example: Warning,
    /// Cells that have it, by their indexes in the plan.
    pub cells: Vec<usize>,
    /// The cells whose figure it devalues.
    pub faulty: Vec<usize>,
    /// The number of all cells.
    pub all: usize,
    /// Their common fault, in a few words.
    pub words: String,
    /// The session can be continued.
    refinable: bool,
}

/// The remedy that a screen offers for a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fix {
    /// Add rounds to the session.
    Rounds,
    /// Show the row of this setting on Setup.
    Setting(&'static str),
}

impl WarningGroup {
    /// Returns the cells to count: of a fault, only cells whose figure it devalues.
    pub fn counted(&self) -> &[usize] {
        if self.faulty.is_empty() { &self.cells } else { &self.faulty }
    }

    /// Returns whether every cell is counted.
    pub fn is_everywhere(&self) -> bool {
        self.counted().len() == self.all && self.all > 1
    }

    /// Returns whether it devalues the figure of every cell.
    pub fn is_fault_everywhere(&self) -> bool {
        self.faulty.len() == self.all && self.all > 1
    }

    /// Returns `all: the host took CPU time`, `3: others used the disk`.
    pub fn summary(&self) -> String {
        match self.faulty.len() {
            _ if self.is_fault_everywhere() => format!("all: {}", self.words),
            1 => self.words.clone(),
            count => format!("{count}: {}", self.words),
        }
    }

    /// Returns what a screen can do about it.
    pub fn fix(&self) -> Option<Fix> {
        match self.example.remedy.setting? {
            "trials" if self.refinable => Some(Fix::Rounds),
            name => Some(Fix::Setting(name)),
        }
    }
}

/// Returns the kinds of warnings of cells, the most severe and frequent first, of `all` cells; a
/// cell is its index in the plan. Warnings of unfinished cells come last: they are not faults.
pub fn group<'a>(
    cells: impl Iterator<Item = (usize, &'a [Warning])>,
    all: usize,
    refinable: bool,
) -> Vec<WarningGroup> {
    let mut groups: Vec<WarningGroup> = Vec::new();
    let mut messages: Vec<Vec<&Warning>> = Vec::new();
    let warnings = cells.flat_map(|(cell, own)| own.iter().map(move |warning| (cell, warning)));
    for (cell, warning) in warnings {
        let words = brief_words(warning);
        let known = groups.iter().position(|group| group.example.id == warning.id);
        let at = known.unwrap_or_else(|| {
            let (cells, faulty, words) = (Vec::new(), Vec::new(), words.clone());
            let example = warning.clone();
            groups.push(WarningGroup { example, cells, faulty, all, words, refinable });
            messages.push(Vec::new());
            groups.len() - 1
        });
        messages[at].push(warning);
        let group = &mut groups[at];
        group.cells.push(cell);
        if warning.severity > Severity::Note {
            group.faulty.push(cell);
        }
        if group.words != words {
            group.words = kind_words(&warning.id).into();
        }
        if warning.severity > group.example.severity {
            group.example = warning.clone();
        }
    }
    for (group, warnings) in groups.iter_mut().zip(&messages) {
        let is_like = |warning: &&&Warning| {
            warning.severity == group.example.severity
                && differ_in_figures_only(&warning.message, &group.example.message)
        };
        let alike = warnings.iter().filter(is_like).map(|warning| &*warning.message);
        group.example.message = describe_range(&alike.collect::<Vec<&str>>());
    }
    fn rank(group: &WarningGroup) -> (bool, Severity, usize, usize) {
        let WarningGroup { example, faulty, cells, .. } = group;
        (!example.is_unfinished(), example.severity, faulty.len(), cells.len())
    }
    groups.sort_by_key(|group| std::cmp::Reverse(rank(group)));
    groups
}
