//! The figure changed while it was measured.

use super::{Rule, rule};
use crate::record::verdict::CellEvidence;
use crate::record::{LevelChange, Severity, Stretch, Warning};
use crate::stats::course::Kind;
use crate::units::{show_count, show_nanos, show_rate};

pub(super) const LEVEL_CHANGE: Rule =
    rule(15, "level-change", "the figure stepped or drifted over the trials", level_change);

fn level_change(evidence: &CellEvidence) -> Option<Warning> {
    let change = LevelChange::of(evidence.trials)?;
    let rate = |level: &Stretch| match change.unit {
        "B/s" => show_rate(level.summary.median),
        _ => format!("{} operations/s", show_count(level.summary.median).trim()),
    };
    let way = if change.fell() { "fell" } else { "rose" };
    let (first, last) = change.ends();
    let levels = change.levels.iter().map(rate).collect::<Vec<_>>();
    let what = match change.kind {
        Kind::Drift => format!("{way} steadily from {} to {}", rate(first), rate(last)),
        Kind::Step if levels.len() == 2 => format!(
            "{way} from {} to {} after trial {}",
            levels[0],
            levels[1],
            first.last_trial + 1
        ),
        Kind::Step => format!(
            "changed between {} levels, from {} to {}",
            levels.len(),
            rate(first),
            rate(last)
        ),
    };
    let one = |level: &Stretch| {
        let known = level
            .summary
            .half_width()
            .map_or(String::new(), |half| format!(" ±{:.0} %", half * 100.0));
        format!(
            "trials {} to {}: {}{known}, until {}",
            level.first_trial + 1,
            level.last_trial + 1,
            rate(level),
            show_nanos(level.ended as f64)
        )
    };
    // More stretches than a line holds.
    let shown: Vec<String> = change.levels.iter().take(3).map(one).collect();
    LEVEL_CHANGE.warn(
        if change.is_large() { Severity::Misleading } else { Severity::Note },
        format!("the figure {what}: the median is of no single level"),
        shown.join("; "),
        "find what changed (a cache or credits used up, heat, other machines), or use more --trials to see which lasts",
    )
}
