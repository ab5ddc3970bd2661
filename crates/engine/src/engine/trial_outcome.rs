//! The result of a trial.

use serde::{Deserialize, Serialize};

use crate::backend::Commits;
use crate::record::{Note, Sample, Trial};
use crate::stats::Histogram;

/// The result of a trial.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TrialOutcome {
    pub trial: Trial,
    pub histogram: Histogram,
    /// `None` where the job commits nothing.
    pub commits: Option<Commits>,
    pub samples: Vec<Sample>,
    /// Time of one operation in one lane, nanoseconds.
    pub per_op: f64,
    /// How long the work itself took, nanoseconds, without the time until the last lane had begun:
    /// that of the longest lane, or longer where lanes took turns on fewer CPUs.
    pub busy: u64,
}

/// Adds the notes that are not there yet: several lanes may have the same.
pub(super) fn add_notes(notes: &mut Vec<Note>, more: Vec<Note>) {
    for note in more {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// Returns a result of nothing.
    pub fn outcome() -> TrialOutcome {
        TrialOutcome {
            trial: Trial::default(),
            histogram: Histogram::new(),
            commits: None,
            samples: Vec::new(),
            per_op: 0.0,
            busy: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_note_of_several_lanes_is_kept_once() {
        let mut notes = Vec::new();
        for step in [7, 7, 9] {
            add_notes(&mut notes, vec![Note::CallsUnknown, Note::CoarseClock(step)]);
        }
        assert_eq!(notes, [Note::CallsUnknown, Note::CoarseClock(7), Note::CoarseClock(9)]);
    }
}
