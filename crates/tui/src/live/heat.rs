//! The latencies of each cell over time, as they come.

use std::collections::BTreeMap;

use crate::analysis::HeatLog;
use crate::record::{EncodedLog, LatencyLog};
use crate::stats::merge_neighbours;

/// Trials of a cell; beyond that, neighbours become one: the map zooms out.
const MAX_TRIALS: usize = 127;
/// Intervals of a cell, and of the trial that runs, which become longer beyond that.
const MAX_INTERVALS: usize = 1024;
/// A plan of more cells keeps only the one that runs.
const MAX_CELLS: usize = 16;

#[derive(Debug, Clone, PartialEq)]
struct LiveTrial {
    round: u32,
    nanos: u64,
    log: LatencyLog,
    /// The log is that of the session, not of samples.
    complete: bool,
}

impl LiveTrial {
    /// Joins two trials, the second after the first.
    fn join(&self, next: &LiveTrial) -> LiveTrial {
        let mut log = self.log.clone();
        log.append(next.log.clone(), self.nanos);
        LiveTrial { nanos: self.nanos.saturating_add(next.nanos), log, ..*next }
    }
}

/// The trials of each cell, and the cell that ran last.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveHeat {
    cells: BTreeMap<u32, Vec<LiveTrial>>,
    last: u32,
    keeps_all: bool,
}

impl LiveHeat {
    pub fn new(cells: usize) -> LiveHeat {
        LiveHeat { cells: BTreeMap::new(), last: 0, keeps_all: cells <= MAX_CELLS }
    }

    /// Adds what the lanes of a trial, by its cell and round, logged before `at` nanoseconds.
    pub fn add_sample(&mut self, of: (u32, u32), at: u64, log: Option<LatencyLog>) {
        let trial = self.trial(of);
        // After a pause, a trial begins again.
        if trial.complete || at < trial.nanos {
            (trial.log, trial.complete) = (LatencyLog::new(1), false);
        }
        trial.nanos = at;
        add(&mut trial.log, log);
    }

    pub fn end_trial(&mut self, of: (u32, u32), nanos: u64) {
        self.trial(of).nanos = nanos;
    }

    /// Adds a piece of the log of a session; the first one replaces that of the samples.
    pub fn add_line(&mut self, line: &EncodedLog) {
        let trial = self.trial((line.cell, line.round));
        if !trial.complete {
            (trial.log, trial.complete) = (LatencyLog::new(line.every), true);
        }
        add(&mut trial.log, LatencyLog::decode([line]));
    }

    /// Returns the latencies of the cell that ran last, and that cell.
    pub fn log(&self) -> Option<(u32, HeatLog)> {
        let trials = self.cells.get(&self.last)?.iter();
        let logs = trials.map(|trial| (trial.round, trial.nanos, trial.log.clone()));
        Some((self.last, HeatLog::new(logs)?))
    }

    /// Returns a trial, which is the last one of its cell.
    fn trial(&mut self, (cell, round): (u32, u32)) -> &mut LiveTrial {
        self.last = cell;
        if !self.keeps_all {
            self.cells.retain(|own, _| *own == cell);
        }
        let trials = self.cells.entry(cell).or_default();
        if trials.last().is_none_or(|last| last.round != round) {
            merge_neighbours(trials, MAX_TRIALS, LiveTrial::join);
            let most = MAX_INTERVALS / (trials.len() + 1);
            trials.iter_mut().for_each(|trial| shorten(&mut trial.log, most));
            let log = LatencyLog::new(1);
            trials.push(LiveTrial { round, nanos: 0, log, complete: false });
        }
        let last = trials.len() - 1;
        &mut trials[last]
    }
}

/// Adds a part of a log to the rest.
fn add(to: &mut LatencyLog, more: Option<LatencyLog>) {
    let Some(more) = more else { return };
    to.every = more.every;
    to.append(more, 0);
    shorten(to, MAX_INTERVALS);
}

/// Makes the intervals of a log longer until these are enough.
fn shorten(log: &mut LatencyLog, most: usize) {
    while log.entries().len() > most {
        log.halve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::LogEntry;

    const SECOND: u64 = 1_000_000_000;

    fn log(from: u32, entries: u32, count: u32) -> LatencyLog {
        let mut log = LatencyLog::new(1);
        for index in from..from + entries {
            log.add(LogEntry { index, ops: 1, latency: vec![(500, count)], ..LogEntry::default() });
        }
        log
    }

    /// Returns the operations and the time that are shown, and the intervals.
    fn shown(heat: &LiveHeat) -> (u64, u64, u64) {
        let Some((_, log)) = heat.log() else { return (0, 0, 0) };
        let columns = log.map(80, 20).columns;
        let counts = columns.iter().flat_map(|column| &column.counts);
        (counts.sum(), log.nanos(), log.intervals())
    }

    #[test]
    fn samples_give_way_to_logs() {
        let mut heat = LiveHeat::new(1);
        assert_eq!((shown(&heat), heat.log()), ((0, 0, 0), None));
        heat.add_sample((0, 1), SECOND / 10, None);
        heat.add_sample((0, 1), SECOND / 2, Some(log(0, 4, 10)));
        assert_eq!(shown(&heat), (40, SECOND / 2, 5));
        // The trial begins again after a pause.
        heat.add_sample((0, 1), SECOND / 5, Some(log(0, 2, 10)));
        assert_eq!(shown(&heat), (20, SECOND / 5, 2));
        heat.end_trial((0, 1), SECOND);
        let lines = log(0, 10, 10).encode(0, 1);
        lines.iter().for_each(|line| heat.add_line(line));
        heat.add_sample((0, 2), SECOND / 10, Some(log(0, 1, 7)));
        assert_eq!(shown(&heat), (107, SECOND + SECOND / 10, 11));
    }

    #[test]
    fn a_day_stays_on_the_map() {
        let mut heat = LiveHeat::new(1);
        let trials = 86_400 / 3;
        for round in 1..=trials {
            heat.end_trial((0, round), 3 * SECOND);
            log(0, 30, 1).encode(0, round).iter().for_each(|line| heat.add_line(line));
        }
        let (count, nanos, intervals) = shown(&heat);
        assert_eq!((count, nanos), (30 * u64::from(trials), 86_400 * SECOND));
        assert!((64..=1024).contains(&intervals), "{intervals}");
        let mut long = LiveHeat::new(1);
        for at in 1..=86_400u32 {
            long.add_sample((0, 1), u64::from(at) * SECOND, Some(log((at - 1) * 10, 10, 1)));
        }
        let (count, nanos, intervals) = shown(&long);
        assert_eq!((count, nanos), (864_000, 86_400 * SECOND));
        assert!((500..=1024).contains(&intervals), "{intervals}");
    }

    #[test]
    fn large_plans_keep_one_cell() {
        for (cells, kept) in [(16, 16), (5000, 1)] {
            let mut heat = LiveHeat::new(cells);
            for cell in 0..cells as u32 {
                heat.add_sample((cell, 1), SECOND, Some(log(0, 3, 1)));
            }
            assert_eq!(heat.cells.len(), kept);
        }
    }
}
