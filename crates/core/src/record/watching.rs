//! Judges what must not happen in a watch, from the intervals of its log as they come.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{LatencyLog, LogBuckets, LogEntry};
use crate::plan::{Metric, StopCondition};
use crate::units::{show_count, show_nanos};

/// A window in which a condition was met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    pub condition: StopCondition,
    /// When the window ended, nanoseconds after the trial began.
    pub at: u64,
    /// The operations that ended in it, and of the timed ones those beyond the bound.
    pub ops: u64,
    pub timed: u64,
    pub beyond: u64,
}

impl Stopped {
    /// Describes what happened and when: `p99>50ms for 10s after 61.2 s: 34 of 1000 operations
    /// were beyond it`.
    pub fn describe(&self) -> String {
        let Stopped { ref condition, at, ops, timed, beyond } = *self;
        let what = match condition.holds.metric {
            _ if ops == 0 => "no operation ended".into(),
            Metric::Iops => {
                format!("{}/s", show_count(ops as f64 / condition.window.as_secs_f64()))
            }
            _ => format!("{beyond} of {timed} operations were beyond it"),
        };
        format!("{condition} after {}: {what}", show_nanos(at as f64))
    }
}

/// The sliding window of a condition.
struct Window {
    condition: StopCondition,
    /// Its length in intervals.
    width: u64,
    /// The number, operations, timed ones and those beyond the bound, of each interval with some.
    entries: VecDeque<(u64, [u64; 3])>,
}

impl Window {
    fn add(&mut self, entry: &LogEntry) {
        let holds = &self.condition.holds;
        let is_beyond = |bucket: u16| !holds.holds(LogBuckets::middle(bucket.into()) as f64);
        let beyond = match holds.metric.is_latency() {
            true => entry.latency.iter().filter(|(bucket, _)| is_beyond(*bucket)),
            false => return self.put(entry, [entry.ops, entry.timed(), 0]),
        };
        let beyond = beyond.map(|(_, count)| u64::from(*count)).sum();
        self.put(entry, [entry.ops, entry.timed(), beyond]);
    }

    /// Adds an interval; lanes report theirs one after the other.
    fn put(&mut self, entry: &LogEntry, counts: [u64; 3]) {
        let at = self.entries.partition_point(|(index, _)| *index < entry.index.into());
        self.entries.insert(at, (entry.index.into(), counts));
    }

    /// Returns what happened in the window before the interval `end`, if that was not to happen.
    fn judge(&mut self, end: u64, rate: f64) -> Option<Stopped> {
        let first = end.checked_sub(self.width)?;
        while self.entries.front().is_some_and(|(index, _)| *index < first) {
            self.entries.pop_front();
        }
        let inside = self.entries.iter().take_while(|(index, _)| *index < end);
        let [ops, timed, beyond] =
            inside.fold([0; 3], |all, (_, own)| [0, 1, 2].map(|at| all[at] + own[at]));
        let condition = &self.condition;
        let seconds = self.width as f64 * LatencyLog::WIDTH as f64 / 1e9;
        let holds = &condition.holds;
        let is_broken = match holds.metric {
            Metric::Iops => !holds.holds(ops as f64 / seconds),
            // Operations that were to end in it are still in flight.
            _ if ops == 0 => !holds.holds(seconds * 1e9) && rate * seconds >= MIN_OPERATIONS,
            metric => {
                // Fewer operations have no such percentile.
                let beyond_it = 1.0 - metric.quantile().unwrap_or(1.0);
                let is_known = timed as f64 * beyond_it > 1.0 - 1e-9 || metric == Metric::Max;
                is_known && beyond as f64 > beyond_it * timed as f64
            }
        };
        let at = end * LatencyLog::WIDTH;
        is_broken.then(|| Stopped { condition: condition.clone(), at, ops, timed, beyond })
    }
}

/// An empty time is judged where this many operations were to end in it.
const MIN_OPERATIONS: f64 = 20.0;
/// An interval is reported with the next operation. Until this many intervals later it is not
/// judged.
const LEAST_LAG: u64 = 10;
/// Intervals lie ahead of the time by more than this only where the clock of latencies went on
/// while the machine slept.
const MOST_AHEAD: u64 = 5;

/// The conditions of a watch.
pub struct Watching {
    windows: Vec<Window>,
    /// Intended operations per second.
    rate: f64,
    lanes: u32,
    /// Intervals that the clock of latencies is ahead of the time.
    ahead: u64,
    /// Windows before this interval are not judged.
    from: u64,
}

impl Watching {
    /// Judges these conditions; `rate`: intended operations per second of all `lanes`.
    pub fn new(
        conditions: impl IntoIterator<Item = StopCondition>,
        rate: f64,
        lanes: u32,
    ) -> Watching {
        let window = |condition: StopCondition| {
            let width = condition.window.as_nanos() / u128::from(LatencyLog::WIDTH);
            let width = u64::try_from(width).unwrap_or(u64::MAX);
            Window { condition, width, entries: VecDeque::new() }
        };
        let windows = conditions.into_iter().map(window).collect();
        let lanes = lanes.max(1);
        Watching { windows, rate, lanes, ahead: 0, from: 0 }
    }

    /// Adds what was logged since the call before, `at` nanoseconds after the trial began; returns
    /// the first condition that is met, once.
    pub fn add(&mut self, at: u64, log: Option<&LatencyLog>) -> Option<Stopped> {
        if self.windows.is_empty() {
            return None;
        }
        let now = at / LatencyLog::WIDTH;
        for entry in log.into_iter().flat_map(LatencyLog::entries) {
            let index = u64::from(entry.index);
            if index > now + self.ahead + MOST_AHEAD {
                // The operation that was under way slept, too.
                (self.ahead, self.from) = (index - now, index + 1);
                self.windows.iter_mut().for_each(|window| window.entries.clear());
            } else if index >= self.from {
                self.windows.iter_mut().for_each(|window| window.add(entry));
            }
        }
        // Three operations of a lane.
        let lag = LEAST_LAG.max((30.0 * f64::from(self.lanes) / self.rate.max(1e-3)) as u64);
        let end = (now + self.ahead).checked_sub(lag)?;
        let (from, rate) = (self.from, self.rate);
        let is_whole = |window: &Window| end >= from.saturating_add(window.width);
        let met = |(at, window): (usize, &mut Window)| {
            Some((at, is_whole(window).then(|| window.judge(end, rate))??))
        };
        let (met, stopped) = self.windows.iter_mut().enumerate().find_map(met)?;
        self.windows.remove(met);
        Some(stopped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Feeds intervals of 10 operations that take `nanos(interval)`, none where that is 0; returns
    /// what is met, and when.
    fn feed(texts: &str, intervals: u64, nanos: impl Fn(u64) -> u64) -> Vec<(String, u64)> {
        let all: Vec<StopCondition> = texts.split(',').map(|text| text.parse().unwrap()).collect();
        let mut watching = Watching::new(all, 100.0, 1);
        let mut met = Vec::new();
        for index in 0..intervals {
            let mut log = LatencyLog::new(1);
            if nanos(index) > 0 {
                let latency = vec![(LogBuckets::of(nanos(index)) as u16, 10)];
                log.add(LogEntry { index: index as u32, ops: 10, latency, ..LogEntry::default() });
            }
            let found = watching.add((index + 1) * LatencyLog::WIDTH, Some(&log));
            met.extend(found.map(|of| (of.condition.to_string(), of.at / LatencyLog::WIDTH)));
        }
        met
    }

    #[test]
    fn a_window_beyond_its_bound_stops() {
        let steady = |_: u64| MS;
        assert_eq!(feed("p50>=0ns for 2s", 60, steady), [("p50>=0ns for 2s".into(), 20)]);
        assert_eq!(feed("p99>50ms for 10s,max>2ms for 1s", 900, steady), []);
        // From interval 300 on, all are slow: p99 once 2 of 100 intervals are, p50 once 51 are.
        let slow = |index: u64| if index < 300 { MS } else { 60 * MS };
        let met = feed("p50>50ms for 10s,p99>50ms for 10s", 900, slow);
        assert_eq!(met, [("p99>50ms for 10s".into(), 302), ("p50>50ms for 10s".into(), 351)]);
        // One slow interval in a hundred is not more than 1 %.
        let seldom = |index: u64| if index % 100 == 50 { 60 * MS } else { MS };
        assert_eq!(feed("p99>50ms for 10s", 900, seldom), []);
        assert_eq!(feed("max>50ms for 10s", 900, seldom)[0].1, 100);
    }

    #[test]
    fn empty_windows_stop_too() {
        let stalls = |index: u64| if index < 200 { MS } else { 0 };
        let met = feed("p99>50ms for 5s,iops<50 for 2s", 900, stalls);
        assert_eq!(met, [("iops<50 for 2s".into(), 211), ("p99>50ms for 5s".into(), 250)]);
        // The operations may be within this bound.
        assert_eq!(feed("p99>20s for 5s", 900, stalls), []);
    }

    #[test]
    fn a_sleeping_machine_stops_nothing() {
        // The clock of latencies goes on for two hours; the operation under way took that long.
        let mut watching = Watching::new(
            ["max>1s for 2s", "iops<50 for 2s"].map(|text| text.parse().unwrap()),
            100.0,
            1,
        );
        for at in 0..300u64 {
            let slept = if at < 100 { 0 } else { 72_000 };
            let nanos = if at == 100 { 7_200_000 * MS } else { MS };
            let latency = vec![(LogBuckets::of(nanos) as u16, 10)];
            let mut log = LatencyLog::new(1);
            let index = (at + slept) as u32;
            log.add(LogEntry { index, ops: 10, latency, ..LogEntry::default() });
            assert_eq!(watching.add((at + 1) * LatencyLog::WIDTH, Some(&log)), None, "{at}");
        }
    }

    #[test]
    fn what_stopped_is_described() {
        let of = |text: &str, ops, timed, beyond| {
            let condition = text.parse().unwrap();
            Stopped { condition, at: 61_200 * MS, ops, timed, beyond }.describe()
        };
        assert_eq!(
            of("p99>50ms for 10s", 1000, 1000, 34),
            "p99>50ms for 10s after 61.2 s: 34 of 1000 operations were beyond it"
        );
        assert_eq!(of("iops<50 for 10s", 300, 300, 0), "iops<50 for 10s after 61.2 s: 30/s");
        assert!(of("p99>50ms for 10s", 0, 0, 0).ends_with(": no operation ended"));
        let stopped = Stopped {
            condition: "max>1s for 2s".parse().unwrap(),
            at: 5,
            ops: 4,
            timed: 3,
            beyond: 2,
        };
        let json = serde_json::to_string(&stopped).unwrap();
        assert_eq!(serde_json::from_str::<Stopped>(&json).unwrap(), stopped);
    }
}
