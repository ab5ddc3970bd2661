//! Cells of a run and of a reference that differ in one axis: shown side by side without a ratio.

use serde::Serialize;

use super::matching::{LoneCell, reported_key};
use crate::analysis::{Axis, CellResult, SummaryOf};
use crate::plan::Job;
use crate::units;

/// Two cells that are not the same job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideBySide {
    /// The job as the base measured it.
    pub cell: Job,
    /// The differing axis: `threads`, `depth`.
    pub differs: Axis,
    pub base_value: u64,
    pub other_value: u64,
    pub base: SummaryOf,
    pub other: SummaryOf,
}

/// The axes in which two cells shown side by side may differ.
const AXES: [Axis; 2] = [Axis::Threads, Axis::Depth];

impl SideBySide {
    /// Returns `read 2 MiB cold`, then both figures: `A 20 threads 3.10 GiB/s | B 192 threads 30.1
    /// GiB/s`.
    pub fn describe(&self, letter: &str) -> (String, String) {
        let side = |letter: &str, value: u64, of: &SummaryOf| {
            format!("{letter} {}: {}", self.differs.show(value), figure(of))
        };
        let both =
            [side("A", self.base_value, &self.base), side(letter, self.other_value, &self.other)];
        (self.differs.without(&self.cell).label(), both.join(" | "))
    }
}

fn figure(of: &SummaryOf) -> String {
    match of.unit {
        "B/s" => units::show_rate(of.summary.median),
        _ => format!("{}/s", units::show_count(of.summary.median)),
    }
}

/// Removes from `alone` the cells with a partner that differs only in one of [`AXES`]; of several
/// partners the nearest is chosen.
pub fn pair_up(
    results: [&[CellResult]; 2],
    pairs: &[(&CellResult, &CellResult)],
    alone: &mut Vec<LoneCell>,
) -> Vec<SideBySide> {
    let paired = |result: &CellResult| {
        pairs.iter().any(|(a, b)| std::ptr::eq(*a, result) || std::ptr::eq(*b, result))
    };
    let sound = |result: &&CellResult| !paired(result) && result.is_sound();
    let mut free: Vec<&CellResult> = results[1].iter().filter(sound).collect();
    let mut found = Vec::new();
    for base in results[0].iter().filter(sound) {
        for differs in AXES {
            let of = |result: &CellResult| differs.value_of(&result.cell);
            let key = |result: &CellResult| differs.without(&reported_key(&result.cell));
            let same = free.iter().enumerate().filter(|(_, other)| key(other) == key(base));
            let far =
                |other: &CellResult| (of(other).max(1) as f64 / of(base).max(1) as f64).ln().abs();
            let Some((at, other)) =
                same.min_by(|a, b| far(a.1).total_cmp(&far(b.1))).map(|(at, other)| (at, *other))
            else {
                continue;
            };
            let figures =
                base.throughput.zip(other.throughput).or(base.operations.zip(other.operations));
            let Some((a, b)) = figures else { continue };
            free.remove(at);
            let cells = [base.cell.clone(), other.cell.clone()];
            alone.retain(|alone| cells[usize::from(alone.only_in != "A")] != alone.cell);
            let (cell, base_value, other_value) = (base.cell.clone(), of(base), of(other));
            found.push(SideBySide { cell, differs, base_value, other_value, base: a, other: b });
            break;
        }
    }
    found
}

/// Returns one sentence about the cells that are shown side by side.
pub fn describe(laid: &[SideBySide]) -> Option<String> {
    let mut axes: Vec<&str> = laid.iter().map(|one| one.differs.title()).collect();
    axes.sort_unstable();
    axes.dedup();
    let (cells, they) = if laid.len() == 1 {
        ("1 cell is".into(), "it differs")
    } else {
        (format!("{} cells are", laid.len()), "they differ")
    };
    let axes = axes.join(" or ");
    (!laid.is_empty())
        .then(|| format!("{cells} shown side by side without a ratio because {they} in {axes}."))
}
