//! The comparison in one line.

use super::pair::{Outcome, Pair};
use crate::analysis::groups::group_by_key;
use crate::analysis::{Axis, CellNames};
use crate::plan::Cache;
use crate::stats::{Ratio, may_be_chance};
use crate::units::{counted, verb};

/// Curves that are named; the others are only counted.
const MAX_NAMED: usize = 4;
/// Changes along a curve that are listed one by one.
const MAX_RUNS: usize = 4;

/// Returns `B against A: uring 1.31x [1.27-1.36] faster below 16 KiB, no difference from 16 KiB
/// on.`
pub fn text(letter: &str, cells: &[Pair], alone: usize) -> String {
    if cells.is_empty() {
        return format!("No cell was measured in both A and {letter}: nothing to compare.");
    }
    let judged: Vec<&Pair> = cells.iter().filter(|pair| judged(pair.outcome)).collect();
    let mut said = Vec::new();
    if !judged.is_empty() {
        said.push(format!(
            "{letter} against A: {}.",
            clauses(&judged, judged.len() == cells.len())
        ));
    }
    let differing: Vec<&&Pair> =
        judged.iter().filter(|pair| pair.outcome != Outcome::Same).collect();
    let different = differing.len();
    let narrow = differing.iter().all(|pair| pair.ratio.is_some_and(|ratio| is_narrow(&ratio)));
    if different > 0 && judged.len() > 1 && narrow && may_be_chance(different, judged.len()) {
        let calls = counted(different, "difference");
        said.push(format!("Among {} equal cells, chance alone would also show {calls}: repeat the runs before you trust this.", judged.len()));
    }
    let count = |outcome: Outcome| cells.iter().filter(|pair| pair.outcome == outcome).count();
    said.extend(unclear(cells));
    said.extend(moved_together(cells));
    said.extend(count_cells(
        count(Outcome::TooFew),
        "with fewer than 5 trials on one side: too few to judge.",
    ));
    said.extend(count_cells(count(Outcome::Wrong), "not judged because one side is marked wrong."));
    said.extend(count_cells(count(Outcome::Failed), "not judged because one side failed."));
    said.extend(count_cells(alone, "measured in only one of the two."));
    said.join(" ")
}

/// Counts the inconclusive cells, and states the largest possible difference.
fn unclear(cells: &[Pair]) -> Option<String> {
    let open: Vec<f64> = cells
        .iter()
        .filter(|pair| pair.outcome == Outcome::Unclear)
        .filter_map(|pair| Some(pair.ratio?.max_change()))
        .collect();
    let by = range(&open);
    let is = verb(open.len(), "is", "are");
    let what = format!("{is} inconclusive: a difference of up to {by} could hide in the scatter.");
    count_cells(open.len(), &what)
}

/// Says why cells are inconclusive that would differ, had not all of their kind moved together.
fn moved_together(cells: &[Pair]) -> Option<String> {
    let held: Vec<&Pair> = cells.iter().filter(|pair| pair.is_held_back()).collect();
    let moved = range(&held.iter().filter_map(|pair| Some(pair.ratio?.ratio)).collect::<Vec<_>>());
    let count = counted(held.len(), "cell");
    (!held.is_empty()).then(|| {
        format!(
            "{count} moved together with all of their kind, to {moved}: the machine may have done \
             that. Trials of both in turns (--between) would tell."
        )
    })
}

/// Returns `0.78x to 0.81x`, or one of them if they look alike.
fn range(ratios: &[f64]) -> String {
    let of = |pick: fn(f64, f64) -> f64| times(ratios.iter().copied().reduce(pick).unwrap_or(1.0));
    match [of(f64::min), of(f64::max)] {
        [least, most] if least == most => format!("{least}x"),
        [least, most] => format!("{least}x to {most}x"),
    }
}

/// Returns whether an interval twice as wide would contain 1: chance produces such differences, but
/// rarely larger ones.
fn is_narrow(ratio: &Ratio) -> bool {
    let above = if ratio.ratio < 1.0 { ratio.inverse() } else { *ratio };
    above.low.is_some_and(|low| low * low <= above.ratio)
}

fn judged(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Faster | Outcome::Slower | Outcome::Same)
}

pub fn count_cells(count: usize, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{} {what}", counted(count, "cell")))
}

/// Pairs of one curve, along the axis.
type Curve<'a> = Vec<&'a Pair>;

fn clauses(judged: &[&Pair], all: bool) -> String {
    if let Some(figure) = figure(judged) {
        let every = if judged[0].outcome == Outcome::Same { "any of" } else { "all" };
        return match judged.len() {
            1 => figure,
            count if all => format!("{figure} in {every} {count} cells"),
            count => format!("{figure} in {every} {count} cells that can be judged"),
        };
    }
    let axis = Axis::best(judged.iter().map(|pair| &pair.cell));
    let names = CellNames::from_jobs(judged.iter().map(|pair| &pair.cell));
    let states = judged.iter().any(|pair| pair.cell.cache != judged[0].cell.cache);
    let (same, mut differing): (Vec<Curve>, Vec<Curve>) = curves(judged, axis)
        .into_iter()
        .partition(|curve| curve.iter().all(|pair| pair.outcome == Outcome::Same));
    differing.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    let mut said: Vec<String> =
        differing.iter().take(MAX_NAMED).map(|curve| clause(curve, axis, &names, states)).collect();
    let more: usize = differing
        .iter()
        .skip(MAX_NAMED)
        .flatten()
        .filter(|pair| pair.outcome != Outcome::Same)
        .count();
    if more > 0 {
        said.push(format!("{} {}", counted(more, "more cell"), verb(more, "differs", "differ")));
    }
    match same.iter().map(Vec::len).sum::<usize>() {
        0 => {}
        1 => said.push("no difference in the other cell".into()),
        count => said.push(format!("no difference in the other {count} cells")),
    }
    said.join("; ")
}

fn curves<'a>(judged: &[&'a Pair], axis: Option<Axis>) -> Vec<Curve<'a>> {
    let groups = group_by_key(judged.iter().copied(), |pair| {
        axis.map_or_else(|| pair.cell.clone(), |axis| axis.without(&pair.cell))
    });
    let mut curves: Vec<Curve> = groups.into_iter().map(|(_, curve)| curve).collect();
    if let Some(axis) = axis {
        curves.iter_mut().for_each(|curve| curve.sort_by_key(|pair| axis.value_of(&pair.cell)));
    }
    curves
}

/// Returns how far the curve gets from 1 where it differs.
fn largest(curve: &Curve) -> f64 {
    let differing = curve.iter().filter(|pair| pair.outcome != Outcome::Same);
    differing.filter_map(|pair| pair.ratio).map(|of| of.ratio.ln().abs()).fold(0.0, f64::max)
}

fn clause(curve: &Curve, axis: Option<Axis>, names: &CellNames, states: bool) -> String {
    let job = &curve[0].cell;
    let Some(axis) = axis else {
        return format!("{} {}", names.full(job), figure(curve).unwrap_or_default());
    };
    let name = match job.cache {
        Cache::Cold | Cache::Warm if states => format!("{} {}", job.cache, names.curve(job, axis)),
        _ => names.curve(job, axis),
    };
    let runs: Vec<&[&Pair]> = curve.chunk_by(|a, b| a.outcome == b.outcome).collect();
    fn show_run(run: &[&Pair]) -> String {
        figure(run).unwrap_or_default()
    }
    let at = |pair: &Pair| axis.show(axis.value_of(&pair.cell));
    match runs[..] {
        [all] => format!("{name} {}", show_run(all)),
        [below, above] => {
            let from = at(above[0]);
            format!("{name} {} below {from}, {} from {from} on", show_run(below), show_run(above))
        }
        _ if runs.len() <= MAX_RUNS => {
            let told = |run: &&[&Pair]| match run {
                [one] => format!("{} at {}", show_run(run), at(one)),
                _ => format!("{} from {} to {}", show_run(run), at(run[0]), at(run[run.len() - 1])),
            };
            format!("{name} {}", runs.iter().map(told).collect::<Vec<_>>().join(", "))
        }
        _ => {
            let told = [Outcome::Faster, Outcome::Slower, Outcome::Same].into_iter().filter_map(
                |outcome| {
                    let count = curve.iter().filter(|pair| pair.outcome == outcome).count();
                    (count > 0).then(|| format!("{} at {count} of {}", outcome.name(), curve.len()))
                },
            );
            format!("{name} {}", told.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns `1.31x [1.27-1.36] faster`, or the range where the pairs differ among themselves; `None`
/// where their outcomes differ.
fn figure(pairs: &[&Pair]) -> Option<String> {
    let outcome = pairs.first()?.outcome;
    if pairs.iter().any(|pair| pair.outcome != outcome) {
        return None;
    }
    if outcome == Outcome::Same {
        return Some(outcome.name().into());
    }
    let turned = |ratio: Ratio| if outcome == Outcome::Slower { ratio.inverse() } else { ratio };
    let ratios: Vec<Ratio> = pairs.iter().filter_map(|pair| pair.ratio).map(turned).collect();
    let mean = Ratio::mean(&ratios)?;
    let alike = ratios
        .iter()
        .all(|r| r.interval().is_some_and(|(low, high)| low <= mean.ratio && mean.ratio <= high));
    let text = if alike && mean.interval().is_some() {
        show_ratio(&mean)
    } else {
        range(&ratios.iter().map(|r| r.ratio).collect::<Vec<_>>())
    };
    Some(format!("{text} {}", outcome.name()))
}

impl Pair {
    /// Returns `read 4 KiB warm 0.50x [0.48-0.52]`.
    pub fn describe(&self) -> String {
        let ratio = self.ratio.map_or(String::new(), |ratio| format!(" {}", show_ratio(&ratio)));
        self.cell.label() + &ratio
    }
}

/// Formats a ratio with its interval, if it has one: `1.31x [1.27-1.36]`.
pub fn show_ratio(ratio: &Ratio) -> String {
    let interval = ratio.interval();
    let interval = interval.map(|(low, high)| format!(" [{}-{}]", times(low), times(high)));
    format!("{}x{}", times(ratio.ratio), interval.unwrap_or_default())
}

/// Formats a ratio: `1.31`, `12`, `0.031`; with three decimals near 1, so that no end of an
/// interval looks like 1 without being it.
pub fn times(ratio: f64) -> String {
    match ratio {
        1e5.. => format!("{ratio:.1e}"),
        9.995.. => format!("{ratio:.0}"),
        _ if (0.99..1.01).contains(&ratio) => format!("{ratio:.3}"),
        0.0995.. => format!("{ratio:.2}"),
        9.95e-3.. => format!("{ratio:.3}"),
        1e-3.. => format!("{ratio:.4}"),
        _ => format!("{ratio:.1e}"),
    }
}
