//! Progress of a run: the one count that header, panes and bars show.

use std::fmt;
use std::time::Duration;

use crate::units;

/// `trial 49 · 20 of 96 cells known · 3 s left`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counter {
    /// The current trial, counted from 1 over all cells; 0 before the first, and where trials are
    /// not counted.
    pub trial: u64,
    /// Cells that have a result.
    pub known: usize,
    pub cells: usize,
    /// The completed share, 0 to 1.
    pub share: f64,
    /// Seconds left; `None` while unknown.
    pub left: Option<f64>,
    /// The run may end sooner.
    pub is_limit: bool,
}

impl Counter {
    /// Returns the completed share in whole percent.
    pub fn percent(&self) -> u32 {
        (self.share.clamp(0.0, 1.0) * 100.0 + 1e-6) as u32
    }

    /// Describes the trial; `None` where none is counted.
    pub fn describe_trial(&self) -> Option<String> {
        (self.trial > 0).then(|| format!("trial {}", self.trial))
    }

    /// Describes the cells with a result.
    pub fn describe_cells(&self) -> String {
        let cells = if self.cells == 1 { "cell" } else { "cells" };
        format!("{} of {} {cells} known", self.known, self.cells)
    }

    pub fn describe_left(&self) -> Option<String> {
        self.left.filter(|left| left.is_finite()).map(|left| {
            let at_most = if self.is_limit { "at most " } else { "" };
            let left = units::show_wait(Duration::from_secs_f64(left.max(0.0)));
            format!("{at_most}{left} left")
        })
    }

    /// Describes it in at most `room` columns, joined by `dot`: parts go, the percentage stays.
    pub fn describe(&self, dot: &str, room: usize) -> String {
        let (trial, cells, left) =
            (self.describe_trial(), Some(self.describe_cells()), self.describe_left());
        let percent = || Some(format!("{} %", self.percent()));
        let forms = [
            vec![trial.clone(), cells.clone(), left.clone()],
            vec![cells, left.clone()],
            vec![trial, left.clone()],
            vec![percent(), left],
        ];
        let join =
            |parts: Vec<Option<String>>| parts.into_iter().flatten().collect::<Vec<_>>().join(dot);
        forms
            .into_iter()
            .map(join)
            .find(|text| text.chars().count() <= room)
            .unwrap_or_else(|| format!("{} %", self.percent()))
    }
}

/// Shows all parts.
impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(" · ", usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_shorten_to_fit() {
        let counter = Counter {
            trial: 49,
            known: 20,
            cells: 96,
            share: 0.721,
            left: Some(3.0),
            is_limit: false,
        };
        assert_eq!(counter.to_string(), "trial 49 · 20 of 96 cells known · 3 s left");
        let shown = [60, 40, 30, 20, 15, 4].map(|room| counter.describe(" - ", room));
        assert_eq!(
            shown,
            [
                "trial 49 - 20 of 96 cells known - 3 s left",
                "20 of 96 cells known - 3 s left",
                "trial 49 - 3 s left",
                "trial 49 - 3 s left",
                "72 % - 3 s left",
                "72 %"
            ]
        );
        let none = Counter { left: Some(f64::NAN), ..Counter::default() };
        assert_eq!(none.to_string(), "0 of 0 cells known");
        assert_eq!(Counter { cells: 1, ..none }.describe_cells(), "0 of 1 cell known");
    }
}
