//! What was expected and what came of it, in words.

use super::{Expected, Holds, JudgedCell};
use crate::units::counted;

/// Cells that a line names.
const MAX_NAMED: usize = 3;

impl Expected {
    /// Returns `etcd (p99<10ms): pass: pread 2.25 KiB append p99 1.2 ms [1.1 ms to 1.3 ms].`
    pub fn text(&self) -> String {
        let name = self.expectation.describe();
        let outcome = self.outcome.words();
        if self.cells.is_empty() {
            return format!("{name}: {outcome}: no cell is one that it is about.");
        }
        // What decides comes first; where all pass, that is all there is.
        let mut parts = vec![self.name_cells(self.outcome)];
        if self.outcome == Holds::Fail {
            parts.push(self.name_cells(Holds::CannotTell));
        }
        let passed = self.count(Holds::Pass);
        if self.outcome != Holds::Pass && passed > 0 {
            parts.push(format!("{passed} of {} pass", counted(self.cells.len(), "figure")));
        }
        parts.retain(|part| !part.is_empty());
        format!("{name}: {outcome}: {}.", parts.join(". "))
    }

    fn count(&self, outcome: Holds) -> usize {
        self.cells.iter().filter(|cell| cell.outcome == outcome).count()
    }

    /// Names the first cells with an outcome, which is named too unless it is that of all.
    fn name_cells(&self, outcome: Holds) -> String {
        let cells = self.cells.iter().filter(|cell| cell.outcome == outcome);
        let mut named: Vec<String> = cells.take(MAX_NAMED).map(describe).collect();
        let more = self.count(outcome) - named.len();
        named.extend((more > 0).then(|| format!("{more} more")));
        match named.is_empty() || outcome == self.outcome {
            true => named.join("; "),
            false => format!("Cannot tell: {}", named.join("; ")),
        }
    }
}

/// Returns `pread 4 KiB p99 12 ms [11 ms to 13 ms]`, and why it cannot be told.
fn describe(cell: &JudgedCell) -> String {
    let metric = cell.condition.metric;
    let show = |value: f64| metric.show(value);
    let figure = match (cell.value, cell.low, cell.high) {
        (Some(value), Some(low), Some(high)) if low < high => {
            format!(" {} {} [{} to {}]", metric.name(), show(value), show(low), show(high))
        }
        (Some(value), ..) => format!(" {} {}", metric.name(), show(value)),
        (None, Some(low), _) => format!(" {} at least {}", metric.name(), show(low)),
        (None, None, _) => String::new(),
    };
    let why = cell.why.as_deref().map(|why| format!(": {}", why.trim_end_matches('.')));
    format!("{}{figure}{}", cell.cell.label(), why.unwrap_or_default())
}
