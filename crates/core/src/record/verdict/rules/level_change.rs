//! The rule about a figure that changed during the measurement.

use crate::record::verdict::CellEvidence;
use crate::record::{Finding, LevelChange, Severity, Stretch, finding};
use crate::stats::course::Kind;
use crate::units::{show_count, show_nanos, show_rate};

pub(super) fn level_change(evidence: &CellEvidence) -> Option<Finding> {
    let change = LevelChange::from_trials(evidence.trials)?;
    let verb = if change.is_drop() { "fell" } else { "rose" };
    let (first, last) = change.first_and_last();
    let from = show_level(&change, first);
    let to = show_level(&change, last);
    let what = match (change.kind, change.levels.len()) {
        (Kind::Drift, _) => format!("{verb} steadily from {from} to {to}"),
        (Kind::Step, 2) => {
            format!("{verb} from {from} to {to} after trial {}", first.last_trial + 1)
        }
        (Kind::Step, count) => format!("changed between {count} levels, from {from} to {to}"),
    };
    let levels: Vec<String> = change
        .levels
        .iter()
        .take(MAX_LEVELS)
        .map(|level| describe_stretch(&change, level))
        .collect();
    finding(
        if change.is_large() { Severity::Misleading } else { Severity::Note },
        format!("the figure {what}: the median belongs to no single level"),
        levels.join("; "),
        "find what changed (cache or credits used up, heat, other machines); more {trials} show \
         which level lasts",
    )
}

/// Number of levels that fit in the evidence.
const MAX_LEVELS: usize = 3;

/// Formats the median of a level with its unit.
fn show_level(change: &LevelChange, level: &Stretch) -> String {
    match change.unit {
        "B/s" => show_rate(level.summary.median),
        _ => format!("{} operations/s", show_count(level.summary.median).trim()),
    }
}

/// Describes the trials of a level: `trials 1 to 6: 895 MB/s ±1 %, until 1.80 s`.
fn describe_stretch(change: &LevelChange, level: &Stretch) -> String {
    let interval = match level.summary.half_width() {
        Some(half_width) => format!(" ±{:.0} %", half_width * 100.0),
        None => String::new(),
    };
    format!(
        "{}: {}{interval}, until {}",
        level.name(),
        show_level(change, level),
        show_nanos(level.ended as f64)
    )
}
