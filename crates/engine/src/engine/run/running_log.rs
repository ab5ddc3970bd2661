//! The latencies of a long trial, reported while it runs: a run that is killed leaves them.

use std::sync::Arc;
use std::time::Duration;

use super::watch::Clocks;
use crate::engine::Sink;
use crate::plan::Job;
use crate::record::unusual;
use crate::record::{Begun, Event, LatencyLog, LogSpace};
use crate::sys::clock::monotonic_nanos;

/// A trial that is planned to take less is reported as a whole.
const LEAST: Duration = Duration::from_secs(10);
/// Pieces of a trial, at least; one is at most as long as an entry may be.
const PIECES: u64 = 8;
/// The time before a piece that shows what is usual, in intervals: 3.4 min.
const BEFORE: u32 = 2048;
/// Intervals of a second: an unusual stretch is kept with one before and one after it.
const SECOND: u32 = 10;

/// The log of the trial that runs.
pub(super) struct RunningLog {
    trial: (u32, u32),
    /// How long it is planned to take, nanoseconds.
    planned: u64,
    /// Intended operations per second, and whether at equal distances.
    pace: (f64, bool),
    /// The start of the run, and of a watch the time of day.
    origin: u64,
    clock: Option<Clocks>,
    begun: bool,
    /// Found no space yet.
    waiting: Option<LatencyLog>,
    /// The last piece and what was before it.
    recent: LatencyLog,
}

impl RunningLog {
    /// Creates the log of a trial by its cell and round; `None` where it is planned to be short.
    pub fn new(
        trial: (u32, u32),
        planned: Duration,
        job: &Job,
        (origin, clock): (u64, Option<Clocks>),
    ) -> Option<RunningLog> {
        let pace = (job.operations_per_second().unwrap_or(0.0), job.arrival.is_steady());
        let (planned, recent) = (u64::try_from(planned.as_nanos()).ok()?, LatencyLog::new(1));
        let log =
            RunningLog { trial, planned, pace, origin, clock, begun: false, waiting: None, recent };
        (planned >= LEAST.as_nanos() as u64).then_some(log)
    }

    /// Returns the length of a piece, in intervals of a log.
    pub fn piece(&self) -> u32 {
        let intervals = (self.planned / PIECES / LatencyLog::WIDTH).next_power_of_two();
        u32::try_from(intervals)
            .map_or(LatencyLog::MAX_SPAN, |piece| piece.min(LatencyLog::MAX_SPAN))
    }

    /// Reports a piece of the log of a trial that has come to `at` nanoseconds; the first one with
    /// when that began.
    pub fn report(
        &mut self,
        mut piece: LatencyLog,
        at: u64,
        space: &mut LogSpace,
        sink: &mut dyn Sink,
    ) {
        if !std::mem::replace(&mut self.begun, true) {
            let (began, (cell, round)) = (monotonic_nanos().saturating_sub(at), self.trial);
            let clock = self.clock.map(|clock| clock.seconds_at(began));
            let started = began.saturating_sub(self.origin);
            sink.event(Event::Begun { trial: Begun { cell, round, started, clock } });
        }
        let unusual = self.find_unusual(&piece);
        if let Some(mut waiting) = self.waiting.take() {
            waiting.append(piece, 0);
            piece = waiting;
        }
        let lines = space.keep_part(&piece, &unusual, self.trial, (at, self.planned));
        self.waiting = Some(piece).filter(|_| lines.is_empty());
        for log in lines {
            sink.event(Event::Running { log: Arc::new(log) });
        }
    }

    /// Reports what is left of the log of a trial that took `nanos`, and takes it, if a piece was
    /// reported before.
    pub fn report_rest(
        &mut self,
        log: &mut Option<LatencyLog>,
        nanos: u64,
        space: &mut LogSpace,
        sink: &mut dyn Sink,
    ) {
        if let Some(mut log) = log.take_if(|_| self.begun) {
            self.report(log.take_before(u32::MAX), nanos, space, sink);
            space.count_trial(nanos);
        }
    }

    /// Finds the unusual stretches of a piece, from and to in intervals, by what was before it.
    fn find_unusual(&mut self, piece: &LatencyLog) -> Vec<(u32, u32)> {
        let (Some(first), Some(last)) = (piece.entries().first(), piece.entries().last()) else {
            return Vec::new();
        };
        let from = first.index.saturating_sub(BEFORE) / SECOND * SECOND;
        drop(self.recent.take_before(from));
        self.recent.append(piece.clone(), 0);
        let mut window = LatencyLog::new(1);
        let begin = u64::from(from) * LatencyLog::WIDTH;
        self.recent.entries().iter().cloned().for_each(|mut entry| {
            entry.index -= from.min(entry.index);
            window.add(entry);
        });
        let seconds = (last.last() + 1).saturating_sub(from).div_ceil(SECOND);
        let nanos = u64::from(seconds * SECOND) * LatencyLog::WIDTH;
        let ops: u64 = window.entries().iter().map(|entry| entry.ops).sum();
        let pace = match self.pace {
            (0.0, _) => (ops as f64 * 1e9 / nanos as f64, false),
            pace => pace,
        };
        let found = unusual::find(&window, nanos, pace, &[], &[]);
        let interval = |time: u64| ((begin + time) / LatencyLog::WIDTH) as u32;
        let stretch = |start: u64, nanos: u64| {
            (interval(start).saturating_sub(SECOND), interval(start + nanos) + SECOND)
        };
        found.events.iter().map(|event| stretch(event.start, event.nanos)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::Rate;
    use crate::record::{EncodedLog, LogBuckets, LogEntry};
    use crate::stats::random::mix;

    const HOUR: u64 = 36_000;
    const MS: u64 = 1_000_000;

    /// A watch of `hours` at 100/s as its lanes log it, reported in pieces, where `is_slow(second)`
    /// eight times as long; returns its lines, and its log as a session has it.
    fn watch(hours: u64, is_slow: impl Fn(u64) -> bool) -> (Vec<Arc<EncodedLog>>, LatencyLog) {
        let job = Job { rate: Some(Rate::Operations(100)), ..testing::job() };
        let planned = Duration::from_nanos(hours * HOUR * LatencyLog::WIDTH);
        let mut running = RunningLog::new((0, 1), planned, &job, (0, None)).unwrap();
        let (mut space, mut events) = (LogSpace::default(), Vec::new());
        let (mut log, piece) = (LatencyLog::new(1), u64::from(running.piece()));
        for index in 0..hours * HOUR {
            let factor = if is_slow(index / 10) { 8 } else { 1 };
            let nanos = |n: u64| (150_000 + mix(index * 10 + n) % 60_000) * factor;
            let mut counts: Vec<(u16, u32)> = Vec::new();
            let mut times: Vec<u64> = (0..10).map(nanos).collect();
            times.sort_unstable();
            for bucket in times.into_iter().map(|nanos| LogBuckets::of(nanos) as u16) {
                match counts.last_mut().filter(|last| last.0 == bucket) {
                    Some(last) => last.1 += 1,
                    None => counts.push((bucket, 1)),
                }
            }
            let (index, latency) = (index as u32, counts);
            let service = latency.clone();
            let (ops, bytes, device) = (10, 40_960, Some(40_960));
            log.add(LogEntry {
                index,
                ops,
                bytes,
                device,
                latency,
                service,
                ..LogEntry::default()
            });
            let at = u64::from(index + 1);
            if at.is_multiple_of(piece) {
                let (done, sink) = (log.take_before(at as u32), &mut |event| events.push(event));
                running.report(done, at * LatencyLog::WIDTH, &mut space, sink);
            }
        }
        let all = hours * HOUR * LatencyLog::WIDTH;
        let mut rest = Some(log);
        running.report_rest(&mut rest, all, &mut space, &mut |event| events.push(event));
        assert!(rest.is_none() && matches!(events[0], Event::Begun { .. }));
        let line = |event| match event {
            Event::Running { log } => Some(log),
            _ => None,
        };
        let lines: Vec<Arc<EncodedLog>> = events.into_iter().filter_map(line).collect();
        let log = LatencyLog::decode(lines.iter().map(|line| &**line)).unwrap();
        (lines, log)
    }

    fn size(lines: &[Arc<EncodedLog>]) -> u64 {
        lines.iter().map(|line| line.size()).sum()
    }

    /// Judges a watch whose second 5,000 and every 3,600th after it are slow.
    fn judge(hours: u64) {
        let slow = |second: u64| second >= 5000 && (second - 5000).is_multiple_of(3600);
        let (lines, log) = watch(hours, slow);
        let ops: u64 = log.entries().iter().map(|entry| entry.ops).sum();
        assert_eq!(ops, hours * HOUR * 10, "nothing is lost");
        let of = |index: u32| log.entries().iter().find(|entry| entry.last() >= index).unwrap();
        for index in 50_000..50_010 {
            assert_eq!((of(index).index, of(index).further), (index, 0));
        }
        assert!(of(60_000).further > 0 && log.width == LatencyLog::WIDTH);
        let found = unusual::find(&log, hours * HOUR * LatencyLog::WIDTH, (100.0, true), &[], &[]);
        let found: Vec<_> =
            found.events.iter().map(|of| (of.start / MS / 1000, of.nanos / MS)).collect();
        let wanted: Vec<_> =
            (5000..hours * 3600).filter(|second| slow(*second)).map(|at| (at, 1000)).collect();
        assert_eq!(found, wanted);
        let most = (hours * 3600).min(600) * 3300 + (hours * 3600).saturating_sub(600) * 215;
        assert!(size(&lines) < most + (64 << 10), "{} of {most}", size(&lines));
        println!(
            "{hours} h: {} lines, {} bytes, {} entries",
            lines.len(),
            size(&lines),
            log.entries().len()
        );
    }

    #[test]
    fn unusual_seconds_stay_in_full() {
        judge(24);
    }

    #[test]
    fn unusual_hours_stay_small() {
        let (lines, log) = watch(4, |second| second > 60 && second.is_multiple_of(4));
        let ops: u64 = log.entries().iter().map(|entry| entry.ops).sum();
        assert_eq!(ops, 4 * HOUR * 10);
        assert!(
            size(&lines) < (64 << 10) + 600 * 3300 + (4 * 3600 - 600) * 215,
            "{}",
            size(&lines)
        );
    }

    #[test]
    fn short_trials_are_reported_at_once() {
        let new = |seconds| {
            RunningLog::new((0, 1), Duration::from_secs(seconds), &testing::job(), (0, None))
        };
        assert!(new(9).is_none());
        let pieces = [10, 60, 86_400, 2_592_000].map(|seconds| new(seconds).unwrap().piece());
        assert_eq!(pieces, [16, 128, 512, 512]);
        let mut running = new(10).unwrap();
        let (mut log, mut space) = (Some(LatencyLog::new(1)), LogSpace::default());
        let none = &mut |event| panic!("{event:?}");
        running.report_rest(&mut log, 1, &mut space, none);
        assert!(log.is_some());
    }
}
