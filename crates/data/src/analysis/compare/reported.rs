//! Compares a run with a reported machine, in sentences: how many times as fast the run is.

use super::pair::{Outcome, Pair};
use super::text::{count_cells, show_ratio, times};
use crate::analysis::Axis;
use crate::analysis::groups::group_by_key;
use crate::plan::{Cache, Job, Op};
use crate::session::Session;
use crate::stats::Ratio;

/// Points of a curve that are named: its ends, and evenly spaced ones in between.
const MAX_POINTS: usize = 4;

/// Returns `B (lab-7) reads cold blocks of 512 B 4.90x as fast as the 2017 MacBook Pro.`
pub fn text(base: &Session, other: &Session, letter: &str, cells: &[Pair], alone: usize) -> String {
    if cells.is_empty() {
        return format!("No cell was measured in both A and {letter}: nothing to compare.");
    }
    let (run, run_letter, machine) = match (base.reference, other.reference) {
        (Some(machine), _) => (other, letter, machine),
        (None, machine) => (base, "A", machine.unwrap_or("the other")),
    };
    let name =
        if run.host.name.is_empty() { String::new() } else { format!(" ({})", run.host.name) };
    // Ratios describe the second session; the text describes how fast the run is.
    let turned = |of: Ratio| if base.reference.is_some() { of } else { of.inverse() };
    let judged = cells.iter();
    let judged = judged.filter(|of| !matches!(of.outcome, Outcome::Wrong | Outcome::Failed));
    let mut curves = group_by_key(judged, |pair| Job {
        count: None,
        span: 0,
        xor: false,
        ..Axis::Block.without(&pair.cell)
    });
    let mut said: Vec<String> = curves.iter_mut().map(|(_, curve)| clause(curve, turned)).collect();
    if let Some(last) = said.last_mut() {
        *last += &format!(" as fast as {machine}");
    }
    let count = |outcome: Outcome| cells.iter().filter(|pair| pair.outcome == outcome).count();
    let told = (!said.is_empty()).then(|| format!("{run_letter}{name} {}.", said.join("; ")));
    let rest = [
        count_cells(count(Outcome::TooFew), "with fewer than 5 trials, so without an interval."),
        count_cells(count(Outcome::Wrong), "not judged because one side is marked wrong."),
        count_cells(count(Outcome::Failed), "not judged because one side failed."),
        count_cells(alone, "measured in only one of the two."),
    ];
    told.into_iter().chain(rest.into_iter().flatten()).collect::<Vec<_>>().join(" ")
}

/// Returns `reads cold blocks of 512 B 4.90x [4.80-5.00], 64 KiB 12x`.
fn clause(curve: &mut Vec<&Pair>, turned: impl Fn(Ratio) -> Ratio) -> String {
    curve.sort_by_key(|pair| pair.cell.block);
    curve.dedup_by_key(|pair| pair.cell.block);
    let last = curve.len() - 1;
    let points = MAX_POINTS.min(curve.len());
    let chosen = (0..points).map(|at| curve[if points > 1 { at * last / (points - 1) } else { 0 }]);
    let job = &curve[0].cell;
    let figure = |pair: &Pair| {
        let Some(ratio) = pair.ratio.map(&turned) else { return String::new() };
        let same = match pair.outcome {
            Outcome::Same => " (no difference)",
            Outcome::Unclear => " (inconclusive)",
            _ => "",
        };
        match points {
            1 => format!("{}{same}", show_ratio(&ratio)),
            _ => format!("{}x{same}", times(ratio.ratio)),
        }
    };
    let way = format!(
        "{}{}",
        job.backend,
        if job.threads > 1 { format!(" in {} threads", job.threads) } else { String::new() }
    );
    if job.op == Op::Seek {
        return format!("makes {way} calls {}", figure(curve[0]));
    }
    let state = if job.cache == Cache::AsIs { String::new() } else { format!("{} ", job.cache) };
    let verb = if job.op == Op::Write { "writes" } else { "reads" };
    let said: Vec<String> = chosen
        .map(|pair| format!("{} {}", Axis::Block.show(pair.cell.block), figure(pair)))
        .collect();
    format!("{verb} {state}blocks with {way} of {}", said.join(", "))
}

#[cfg(test)]
mod tests;
