//! The warnings of a run so far: each kind once, with the cells it concerns.

use std::collections::BTreeSet;

use crate::analysis::brief_words;
use crate::record::{Severity, Verdict};
use crate::spoken::speak;

/// Limit on kept warnings, notes and failures.
const MAX_FINDINGS: usize = 64;

/// One kind of warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunWarning {
    /// Empty for a note of the engine or a failure, which stays.
    pub id: String,
    pub severity: Severity,
    /// The message for the first cell that has it.
    pub message: String,
    /// The same in a few words.
    pub words: String,
    pub cells: BTreeSet<u32>,
}

/// Warnings, the most severe first; equal severities in the order they appeared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunWarnings(Vec<RunWarning>);

impl RunWarnings {
    pub fn iter(&self) -> impl Iterator<Item = &RunWarning> {
        self.0.iter()
    }

    /// Returns the warnings of a cell.
    pub fn of_cell(&self, cell: u32) -> impl Iterator<Item = &RunWarning> {
        self.iter().filter(move |found| found.cells.contains(&cell))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces the warnings of a cell by the ones of its new verdict.
    pub fn apply_verdict(&mut self, cell: u32, verdict: &Verdict) {
        for finding in self.0.iter_mut().filter(|finding| !finding.id.is_empty()) {
            finding.cells.remove(&cell);
        }
        // Warnings that more trials may clear are not shown during the run.
        for warning in verdict.warnings.iter().filter(|warning| !warning.needs_trials()) {
            match self.0.iter_mut().find(|finding| finding.id == warning.id) {
                Some(finding) => {
                    if finding.cells.is_empty() {
                        finding.message.clone_from(&warning.message);
                        finding.words = brief_words(warning);
                    }
                    finding.severity = if finding.cells.is_empty() {
                        warning.severity
                    } else {
                        finding.severity.max(warning.severity)
                    };
                    finding.cells.insert(cell);
                }
                None => self.0.push(RunWarning {
                    id: warning.id.to_string(),
                    severity: warning.severity,
                    message: warning.message.clone(),
                    words: brief_words(warning),
                    cells: BTreeSet::from([cell]),
                }),
            }
        }
        self.0.retain(|finding| finding.id.is_empty() || !finding.cells.is_empty());
        self.sort();
    }

    /// Adds a failure or a note of the engine, in the words of a screen, unless it is listed.
    pub fn add_note(&mut self, severity: Severity, message: &str) {
        let message = speak(message);
        if self.0.len() < MAX_FINDINGS && !self.0.iter().any(|finding| finding.message == message) {
            let words = message.clone();
            let (id, cells) = (String::new(), BTreeSet::new());
            self.0.push(RunWarning { id, severity, message, words, cells });
            self.sort();
        }
    }

    fn sort(&mut self) {
        self.0.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Warning;

    fn verdict(warnings: &[(&'static str, Severity)]) -> Verdict {
        let warning = |(id, severity): &(&'static str, Severity)| Warning {
            id: (*id).into(),
            severity: *severity,
            message: format!("it is {id}"),
            evidence: String::new(),
            remedy: "".into(),
        };
        Verdict { warnings: warnings.iter().map(warning).collect(), ..Verdict::default() }
    }

    #[test]
    fn warnings_end_with_their_last_cell() {
        let mut found = RunWarnings::default();
        found.apply_verdict(
            0,
            &verdict(&[("holes", Severity::Wrong), ("few", Severity::Misleading)]),
        );
        found.apply_verdict(
            1,
            &verdict(&[("not-cold", Severity::Note), ("holes", Severity::Wrong)]),
        );
        found.add_note(Severity::Wrong, "a cell failed");
        found.add_note(Severity::Wrong, "a cell failed");
        let ids: Vec<_> = found.iter().map(|f| (f.id.as_str(), f.cells.len())).collect();
        assert_eq!(ids, [("holes", 2), ("", 0), ("not-cold", 1)]);
        found.apply_verdict(0, &verdict(&[]));
        found.apply_verdict(1, &verdict(&[]));
        assert_eq!(
            (found.len(), found.iter().next().map(|f| f.severity)),
            (1, Some(Severity::Wrong))
        );
    }

    #[test]
    fn the_number_of_notes_is_bounded() {
        let mut found = RunWarnings::default();
        for n in 0..10_000 {
            found.add_note(Severity::Note, &format!("note {n}"));
        }
        assert_eq!(found.len(), MAX_FINDINGS);
    }
}
