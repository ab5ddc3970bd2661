//! The trials of an earlier run that this one continues; its rounds are counted after them.

use std::collections::HashSet;
use std::sync::Arc;

use crate::backend::Commits;
use crate::engine::Sink;
use crate::engine::cells::Cell;
use crate::record::{CommitTimes, Earlier, Event, Latency, LogSpace, Trial};
use crate::stats::{Histogram, Ratio, Summary};
use crate::units::show_share;

/// A smaller deviation of the ratio of medians from 1 is not worth a note.
const MIN_DRIFT: f64 = 0.05;

/// Gives each cell its trials, and reports them as if they had just been measured.
pub(super) fn add_to(
    earlier: &Earlier,
    cells: &mut [Option<Cell>],
    log_space: &mut LogSpace,
    sink: &mut dyn Sink,
) {
    let mut kept: HashSet<(u32, u32)> = HashSet::new();
    for trial in &earlier.trials {
        let Some(Some(cell)) = cells.get_mut(trial.cell as usize) else { continue };
        cell.keep(trial);
        kept.insert((trial.cell, trial.round));
        log_space.count_trial(trial.nanos);
        let trial = Arc::clone(trial);
        sink.event(Event::Trial { trial, samples: Vec::new(), latency: None });
    }
    for log in earlier.logs.iter().filter(|log| kept.contains(&(log.cell, log.round))) {
        log_space.count_line(log);
        sink.event(Event::of_log(log));
    }
    add_commits(earlier, cells);
    for (cell, service) in cells.iter_mut().zip(&earlier.services) {
        if let (Some(cell), Some(service)) = (cell, service) {
            let times = Histogram::from_pairs(&service.buckets);
            cell.service.get_or_insert_default().merge(&times);
        }
    }
    for (cell, latency) in cells.iter_mut().zip(&earlier.latencies) {
        if let (Some(cell), Some(latency)) = (cell, latency) {
            cell.histogram.merge(&Histogram::from_pairs(&latency.buckets));
            cell.every = latency.every;
        }
    }
}

/// Gives each cell its commits.
fn add_commits(earlier: &Earlier, cells: &mut [Option<Cell>]) {
    let histogram = |of: &Latency| Histogram::from_pairs(&of.buckets);
    for (cell, commits) in cells.iter_mut().zip(&earlier.commits) {
        if let (Some(cell), Some(CommitTimes { total, write, sync })) = (cell, commits) {
            cell.commits.get_or_insert_default().merge(&Commits {
                total: histogram(total),
                write: write.as_ref().map(histogram).unwrap_or_default(),
                sync: sync.as_ref().map(histogram).unwrap_or_default(),
            });
        }
    }
}

/// Describes the change of the cells between the two parts, as far as intervals show it; `None` for
/// a new run.
pub(super) fn describe_drift<'a>(
    earlier: &Earlier,
    cells: impl Iterator<Item = &'a Cell>,
) -> Option<String> {
    let rounds = earlier.rounds();
    let ratio = |cell: &'a Cell| {
        let (before, after): (Vec<_>, Vec<_>) =
            cell.trials.iter().filter(|t| t.counts()).partition(|trial| trial.round <= rounds);
        let summary = |trials: Vec<&Arc<Trial>>| {
            let rate = |trial: &Arc<Trial>| {
                if trial.bytes > 0 { trial.throughput() } else { trial.operations() }
            };
            Summary::from_values(&trials.into_iter().map(rate).collect::<Vec<_>>())
        };
        let ratio = Ratio::from_summaries(&summary(after)?, &summary(before)?)?;
        ratio.interval().map(|_| (cell, ratio))
    };
    if rounds == 0 {
        return None;
    }
    let judged: Vec<(&Cell, Ratio)> = cells.filter_map(ratio).collect();
    let mut changed: Vec<&(&Cell, Ratio)> = judged
        .iter()
        .filter(|(_, ratio)| ratio.verdict().is_some_and(|order| order.is_ne()))
        .filter(|(_, ratio)| (ratio.ratio - 1.0).abs() >= MIN_DRIFT)
        .collect();
    changed.sort_by(|a, b| b.1.ratio.ln().abs().total_cmp(&a.1.ratio.ln().abs()));
    let all = judged.len();
    Some(match (all, changed.first()) {
        (0, _) => {
            "the two parts of this run cannot be compared: each needs 5 trials of a cell".into()
        }
        (_, None) => {
            format!("the two parts of this run agree in all {all} cells that both have")
        }
        (_, Some((cell, ratio))) => format!(
            "the two parts of this run differ in {} of {all} cells, most in {}: {} {} than in \
             the earlier part; the machine changed in between, so prefer the parts by themselves",
            changed.len(),
            cell.job.label(),
            show_share((ratio.ratio - 1.0).abs()),
            if ratio.ratio > 1.0 { "faster" } else { "slower" }
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::Plan;
    use crate::plan::TargetSpec;
    use crate::record::{LatencyLog, LogEntry};

    /// A cell with trials of these times in rounds from 1 on.
    fn cell(nanos: impl IntoIterator<Item = u64>) -> Cell {
        let target = TargetSpec::File { path: "/".into(), size: 0 };
        let plan = Plan { cells: vec![testing::job()], ..Plan::plain("sweep", target) };
        let mut cell = Cell::from_plan(&plan).remove(0).unwrap();
        let trial = |(round, nanos)| Trial { round, nanos, bytes: 1 << 20, ..Trial::default() };
        cell.trials = (1..).zip(nanos).map(|trial_of| Arc::new(trial(trial_of))).collect();
        cell
    }

    fn drift(nanos: impl IntoIterator<Item = u64>) -> Option<String> {
        let cell = cell(nanos);
        let trials = cell.trials.iter().take(5).cloned().collect();
        let earlier = Earlier { trials, ..Earlier::default() };
        describe_drift(&earlier, std::iter::once(&cell))
    }

    #[test]
    fn changes_between_parts_are_described() {
        assert_eq!(describe_drift(&Earlier::default(), std::iter::once(&cell([100; 9]))), None);
        let steady = (0..12).map(|i| 1000 + i % 3);
        assert!(drift(steady).unwrap().contains("agree in all 1 cells"));
        let slower = (0..12).map(|i| if i < 5 { 1000 + i % 3 } else { 1250 + i % 3 });
        let text = drift(slower).unwrap();
        assert!(text.contains("differ in 1 of 1 cells") && text.contains("20 % slower"), "{text}");
        assert!(drift([1000; 7]).unwrap().contains("each needs 5 trials"));
    }

    #[test]
    fn earlier_trials_are_reported_first() {
        let log = |cell, round| {
            let mut log = LatencyLog::new(1);
            log.add(LogEntry { ops: 1, ..LogEntry::default() });
            Arc::new(log.encode(cell, round).remove(0))
        };
        // The plan has no cell 1, and cell 0 no third round.
        let logs = vec![log(0, 1), log(1, 1), log(0, 3), log(0, 2)];
        let earlier = Earlier { trials: cell([5, 6]).trials, logs, ..Earlier::default() };
        let mut cells = vec![Some(cell([]))];
        let (mut events, mut space) = (Vec::new(), LogSpace::default());
        add_to(&earlier, &mut cells, &mut space, &mut |event| events.push(event));
        assert_eq!(cells[0].as_ref().unwrap().trials.len(), 2);
        assert_eq!((earlier.rounds(), earlier.end(), events.len()), (2, 6, 4));
        let kept: Vec<u32> = events
            .iter()
            .filter_map(|event| match event {
                Event::Latencies { log } => Some(log.round),
                _ => None,
            })
            .collect();
        assert_eq!(kept, [1, 2]);
    }
}
