//! The latencies of the running cell over time: the logs of the session, then the samples of the
//! trial that runs.

use crate::analysis::HeatLog;
use crate::record::LatencyLog;
use crate::session::Session;

/// Intervals of the trial that runs, which become longer beyond that.
const MAX_INTERVALS: usize = 1024;

/// The trial that runs.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    cell: u32,
    round: u32,
    nanos: u64,
    log: LatencyLog,
}

/// The trials of a cell whose logs the session has.
#[derive(Debug, Clone, PartialEq)]
struct Saved {
    cell: u32,
    /// Its lines when they were read.
    lines: usize,
    log: Option<HeatLog>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct LiveHeat {
    part: Option<Part>,
    saved: Option<Saved>,
}

impl LiveHeat {
    /// Adds what the lanes of a trial, by its cell and round, logged before `at` nanoseconds.
    pub fn add_sample(&mut self, (cell, round): (u32, u32), at: u64, log: Option<LatencyLog>) {
        let new = Part { cell, round, nanos: 0, log: LatencyLog::new(1) };
        let own = self.part.take().filter(|part| (part.cell, part.round) == (cell, round));
        let part = self.part.insert(own.unwrap_or(new));
        part.nanos = at;
        let Some(more) = log else { return };
        part.log.every = more.every;
        part.log.append(more, 0);
        while part.log.entries().len() > MAX_INTERVALS {
            part.log.halve();
        }
    }

    /// Forgets the trial that runs: it begins again.
    pub fn discard_trial(&mut self) {
        self.part = None;
    }

    /// Reads the logs of a cell, the one that runs. A cell of many waits for 2 % more, unless this
    /// is the `last` time.
    pub fn read(&mut self, session: &Session, cell: Option<u32>, last: bool) {
        let Some(cell) = cell.or(self.saved.as_ref().map(|saved| saved.cell)) else { return };
        self.part.take_if(|part| part.cell != cell);
        let lines = session.latencies.iter().filter(|line| line.cell == cell).count();
        let least = |own: &Saved| if last { own.lines + 1 } else { own.lines + 1 + own.lines / 50 };
        let is_known = |own: &Saved| own.cell == cell && (own.lines..least(own)).contains(&lines);
        if self.saved.as_ref().is_some_and(is_known) {
            return;
        }
        let log = HeatLog::of_cell(&session.logs_by_cell(), cell);
        let has = |round| log.iter().flat_map(HeatLog::trials).any(|(own, ..)| own == round);
        self.part.take_if(|part| has(part.round));
        self.saved = Some(Saved { cell, lines, log });
    }

    /// Returns the latencies of the cell that runs, and that cell.
    pub fn log(&self) -> Option<(u32, HeatLog)> {
        let saved = self.saved.as_ref();
        let cell = self.part.as_ref().map(|part| part.cell).or(saved.map(|saved| saved.cell))?;
        let saved = saved.filter(|saved| saved.cell == cell).and_then(|saved| saved.log.as_ref());
        let logs = saved.into_iter().flat_map(HeatLog::trials);
        let logs = logs.map(|(round, nanos, log)| (round, nanos, log.clone()));
        let part = self.part.iter().map(|part| (part.round, part.nanos, part.log.clone()));
        Some((cell, HeatLog::new(logs.chain(part))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Event, LogEntry};
    use crate::session::testing;

    const SECOND: u64 = 1_000_000_000;

    fn log(from: u32, entries: u32, count: u32) -> LatencyLog {
        let mut log = LatencyLog::new(1);
        for index in from..from + entries {
            log.add(LogEntry { index, ops: 1, latency: vec![(500, count)], ..LogEntry::default() });
        }
        log
    }

    /// Adds a trial of a second.
    fn add_trial(session: &mut Session, cell: u32, round: u32) {
        let mut trial = testing::trial(cell, round, 1);
        trial.nanos = SECOND;
        session.trials.push(trial.into());
    }

    fn add_log(session: &mut Session, cell: u32, round: u32) {
        for line in log(0, 10, 10).encode(cell, round) {
            session.apply(&Event::Latencies { log: line.into() });
        }
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
        let (mut heat, mut session) = (LiveHeat::default(), testing::session(2));
        heat.read(&session, None, false);
        assert_eq!((shown(&heat), heat.log()), ((0, 0, 0), None));
        heat.add_sample((0, 1), SECOND / 10, None);
        heat.add_sample((0, 1), SECOND / 2, Some(log(0, 4, 10)));
        assert_eq!(shown(&heat), (40, SECOND / 2, 5));
        // The trial begins again after a pause, with a later sample.
        heat.discard_trial();
        heat.add_sample((0, 1), SECOND * 7 / 10, Some(log(0, 2, 10)));
        assert_eq!(shown(&heat), (20, SECOND * 7 / 10, 7));
        add_trial(&mut session, 0, 1);
        heat.read(&session, Some(0), false);
        assert_eq!(shown(&heat).0, 20, "its log comes later");
        add_log(&mut session, 0, 1);
        heat.read(&session, Some(0), false);
        assert_eq!(shown(&heat), (100, SECOND, 10));
        heat.add_sample((0, 2), SECOND / 10, Some(log(0, 1, 7)));
        assert_eq!(shown(&heat), (107, SECOND + SECOND / 10, 11));
        heat.read(&session, Some(1), false);
        assert_eq!(shown(&heat), (0, 0, 0));
        heat.read(&session, Some(0), false);
        assert_eq!(shown(&heat), (100, SECOND, 10));
    }

    /// All trials of the session come before all of its logs.
    #[test]
    fn a_refined_session_keeps_its_logs() {
        let (mut heat, mut session) = (LiveHeat::default(), testing::session(40));
        (1..=3).for_each(|round| (0..40).for_each(|cell| add_trial(&mut session, cell, round)));
        (1..=3).for_each(|round| (0..40).for_each(|cell| add_log(&mut session, cell, round)));
        for cell in [39, 0] {
            heat.add_sample((cell, 4), SECOND / 10, Some(log(0, 1, 7)));
            heat.read(&session, Some(cell), false);
            assert_eq!(shown(&heat), (307, 3 * SECOND + SECOND / 10, 31));
        }
    }

    #[test]
    fn a_day_stays_on_the_map() {
        let mut heat = LiveHeat::default();
        for at in 1..=86_400u32 {
            heat.add_sample((0, 1), u64::from(at) * SECOND, Some(log((at - 1) * 10, 10, 1)));
        }
        let (count, nanos, intervals) = shown(&heat);
        assert_eq!((count, nanos), (864_000, 86_400 * SECOND));
        assert!((500..=1024).contains(&intervals), "{intervals}");
    }
}
