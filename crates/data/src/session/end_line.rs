//! The last line of a session: the values that a list shows.

use std::collections::{BTreeMap, BTreeSet};

use super::Session;
use super::line::EndLine;
use crate::catalog::moves_data;
use crate::plan::Axis;
use crate::record::{End, ProbeFindings, Severity};
use crate::stats::median;

/// Values of a curve in a list, which has no room to show more.
const MAX_CURVE: usize = 12;

/// Returns the end line of a session that is complete.
pub fn end_line(session: &Session, seconds: Option<f64>) -> EndLine {
    let mut reached = BTreeSet::new();
    reached.extend(session.trials.iter().map(|trial| (false, trial.cell)));
    reached.extend(session.probe_trials.iter().map(|trial| (true, trial.cell)));
    let failed_jobs = session.errors.iter().flatten().count();
    let failed_probes = session.probe_findings.iter().filter(|f| f.error.is_some()).count();
    let judged = session.verdicts.iter().any(Option::is_some)
        || session.probe_findings.iter().any(|f| *f != ProbeFindings::default());
    let medians = medians(session);
    EndLine {
        reason: session.end.unwrap_or(End::Finished),
        seconds,
        cells: Some(reached.len() as u64),
        failed: (failed_jobs + failed_probes) as u64,
        worst: judged.then(|| session.worst().into()),
        worst_cells: session.worst_cells(),
        best: highest(&medians),
        curve: curve(session, &medians),
        unrestored: session.unrestored,
    }
}

/// Returns the highest median that is not wrong, bytes per second.
pub fn best(session: &Session) -> Option<f64> {
    highest(&medians(session))
}

fn highest(medians: &[Option<f64>]) -> Option<f64> {
    medians.iter().copied().flatten().reduce(f64::max)
}

/// Returns the median throughput of each cell that moves data and has no warning that its figure is
/// wrong, bytes per second. Trials that were cut short count only in cells without others.
fn medians(session: &Session) -> Vec<Option<f64>> {
    let cells = session.plan.cells.iter().zip(session.trials_by_cell()).zip(&session.verdicts);
    let medians = cells.map(|((job, trials), verdict)| {
        let warnings = verdict.iter().flat_map(|verdict| &verdict.warnings);
        if !moves_data(job) || warnings.into_iter().any(|w| w.severity == Severity::Wrong) {
            return None;
        }
        let all_cut = !trials.iter().any(|trial| trial.counts());
        let counted = trials.iter().filter(|trial| all_cut || trial.counts());
        let rates: Vec<f64> = counted.map(|trial| trial.throughput()).collect();
        median(&rates).filter(|median| *median > 0.0)
    });
    medians.collect()
}

/// Returns the highest median at each value along the axis of the curves; empty if there are not
/// two.
fn curve(session: &Session, medians: &[Option<f64>]) -> Vec<u64> {
    let Some(axis) = Axis::best(session.plan.cells.iter()) else { return Vec::new() };
    let mut highest: BTreeMap<u64, f64> = BTreeMap::new();
    for (job, median) in session.plan.cells.iter().zip(medians) {
        if let Some((place, median)) = axis.place(job).zip(*median) {
            let known = highest.entry(place).or_insert(median);
            *known = known.max(median);
        }
    }
    if highest.len() < 2 {
        return Vec::new();
    }
    let all: Vec<u64> = highest.into_values().map(three_digits).collect();
    let shown = all.len().min(MAX_CURVE);
    // Both ends stay.
    (0..shown).map(|at| all[at * (all.len() - 1) / (shown - 1)]).collect()
}

/// Rounds to three digits: the line must stay short.
fn three_digits(value: f64) -> u64 {
    let mut scale = 1.0;
    while value / scale >= 1000.0 {
        scale *= 10.0;
    }
    ((value / scale).round() * scale) as u64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::session::testing;

    #[test]
    fn curves_keep_maxima_and_ends() {
        let mut session = testing::session(3);
        for (cell, bytes) in [(0, 4_000_000), (1, 12_345_678), (2, 9_000_000)] {
            session.trials.push(Arc::new(testing::trial(cell, 1, bytes)));
        }
        assert_eq!(end_line(&session, None).curve, [4_000_000, 12_300_000, 9_000_000]);
        assert_eq!(end_line(&session, None).best, Some(12_345_678.0));
        let mut many = testing::session(16);
        for cell in 0..16 {
            many.trials.push(Arc::new(testing::trial(cell, 1, (u64::from(cell) + 1) << 20)));
        }
        let curve = end_line(&many, None).curve;
        assert_eq!((curve.len(), curve[0], curve[11]), (12, 1_050_000, 16_800_000));
        assert_eq!(end_line(&testing::session(3), None).curve, [0; 0]);
    }
}
