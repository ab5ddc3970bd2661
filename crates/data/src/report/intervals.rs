//! The intervals of long trials as they happen: work and response times.

use serde::Serialize;

use crate::record::{Event, LatencyLog, LogBuckets, LogEntry, Sample, histogram_of};

/// An interval of a running trial. Times in nanoseconds; percentiles need enough operations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interval {
    #[serde(skip)]
    pub cell: u32,
    pub round: u32,
    /// When it ended, after the trial began, and how long it was.
    pub at: u64,
    pub nanos: u64,
    pub bytes: u64,
    pub ops: u64,
    pub p50: Option<u64>,
    pub p99: Option<u64>,
    pub max: Option<u64>,
}

/// Collects the samples of trials into intervals of about the same length.
pub struct Intervals {
    length: u64,
    /// Shorter trials have none.
    least: u64,
    /// Cell and round.
    trial: (u32, u32),
    own: Sample,
    entries: Vec<LogEntry>,
    /// Until the trial is long enough.
    waiting: Vec<Interval>,
}

impl Intervals {
    /// Collects intervals of `length` nanoseconds of trials that take `least` or more.
    pub fn new(length: u64, least: u64) -> Intervals {
        let (own, entries, waiting) = (Sample::default(), Vec::new(), Vec::new());
        Intervals { length, least, trial: (0, 0), own, entries, waiting }
    }

    /// Takes an event of a run; returns the intervals that are now complete.
    pub fn take(&mut self, event: &Event) -> Vec<Interval> {
        match event {
            Event::Sample { cell, round, sample, parts } => {
                // The first of a trial, or of one that was repeated.
                if self.trial != (*cell, *round) || sample.at <= self.own.at {
                    *self = Intervals::new(self.length, self.least);
                    self.trial = (*cell, *round);
                }
                self.own = self.own.merge(sample);
                let log = parts.log.as_ref().map(LatencyLog::entries);
                self.entries.extend(log.into_iter().flatten().cloned());
                // Samples are a little early or late.
                const HALF: u64 = LatencyLog::WIDTH / 2;
                if self.own.nanos + HALF >= self.length {
                    self.end_interval();
                }
                if sample.at + HALF >= self.least {
                    std::mem::take(&mut self.waiting)
                } else {
                    Vec::new()
                }
            }
            Event::Trial { trial, .. } if (trial.cell, trial.round) == self.trial => {
                let is_long = self.own.at >= self.least && self.own.nanos > 0;
                if is_long {
                    self.end_interval();
                }
                let last = std::mem::take(&mut self.waiting);
                *self = Intervals::new(self.length, self.least);
                if is_long { last } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }

    fn end_interval(&mut self) {
        let Sample { at, nanos, bytes, ops, .. } = self.own;
        let counts = || self.entries.iter().flat_map(|entry| &entry.latency);
        let all = histogram_of(counts());
        let last = counts().map(|(bucket, _)| *bucket).max();
        self.waiting.push(Interval {
            cell: self.trial.0,
            round: self.trial.1,
            at,
            nanos,
            bytes,
            ops,
            p50: all.quantile(0.5),
            p99: all.quantile(0.99),
            max: last.map(|bucket| LogBuckets::middle(bucket.into())),
        });
        self.own = Sample { at, ..Sample::default() };
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::{SampleParts, Trial};

    const MS: u64 = 1_000_000;

    fn sample(round: u32, number: u64) -> Event {
        let at = number * 100 * MS;
        let sample = Sample { at, nanos: 100 * MS, bytes: 4096, ops: 100, syscalls: 100 };
        let mut log = LatencyLog::new(1);
        let latency = vec![(LogBuckets::of(number * MS) as u16, 100)];
        log.add(LogEntry { index: number as u32 - 1, ops: 100, latency, ..LogEntry::default() });
        let parts = SampleParts { log: Some(log), ..SampleParts::default() };
        Event::Sample { cell: 0, round, sample, parts }
    }

    fn end(round: u32) -> Event {
        let trial = Arc::new(Trial { round, ..Trial::default() });
        Event::Trial { trial, samples: Vec::new(), latency: None }
    }

    #[test]
    fn long_trials_have_intervals() {
        let mut all = Intervals::new(1000 * MS, 2000 * MS);
        let found: Vec<Interval> =
            (1..=34).flat_map(|number| all.take(&sample(1, number))).collect();
        let ends: Vec<u64> = found.iter().map(|of| of.at / MS).collect();
        assert_eq!(ends, [1000, 2000, 3000]);
        let second = &found[1];
        assert_eq!((second.ops, second.bytes, second.nanos), (1000, 40_960, 1000 * MS));
        let near = |value: Option<u64>, ms: u64| value.unwrap().abs_diff(ms * MS) < ms * MS / 30;
        assert!(near(second.p50, 15) && near(second.p99, 20) && near(second.max, 20), "{second:?}");
        let last = all.take(&end(1));
        assert_eq!((last.len(), last[0].at / MS, last[0].ops), (1, 3400, 400));
        assert_eq!(last[0].p99, None, "too few operations");
    }

    #[test]
    fn short_trials_have_none() {
        let mut all = Intervals::new(1000 * MS, 2000 * MS);
        for round in 1..4 {
            let found: Vec<_> =
                (1..=19).flat_map(|number| all.take(&sample(round, number))).collect();
            assert_eq!((found, all.take(&end(round))), (vec![], vec![]));
        }
    }
}
