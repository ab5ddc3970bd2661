//! Latencies over time as a grid: columns are intervals of time, rows are latencies.

use crate::record::{LatencyLog, LogBuckets};
use crate::session::CellLogs;
use crate::stats::Histogram;

/// Intervals of a map at most; neighbours are merged beyond that. No screen has as many columns.
const MAX_INTERVALS: u64 = 1024;
/// The least buckets between the ends of the axis of latencies: a factor of two.
const MIN_BUCKETS: usize = 32;

/// The latencies of the trials of a cell, one trial after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatLog {
    trials: Vec<LoggedTrial>,
    /// The length of an interval, nanoseconds.
    width: u64,
    /// Intervals of all trials; the last one of each ends with its trial.
    intervals: u64,
    /// The first bucket that is shown, and the end of the last.
    buckets: (usize, usize),
}

/// A trial on the axis of time.
#[derive(Debug, Clone, PartialEq)]
struct LoggedTrial {
    round: u32,
    /// When it begins, nanoseconds after the first trial began, and how long it takes.
    start: u64,
    nanos: u64,
    /// The number of its first interval.
    first: u64,
    log: LatencyLog,
}

impl LoggedTrial {
    /// Returns the number of its intervals.
    fn intervals(&self) -> u64 {
        self.nanos.div_ceil(self.log.width.max(1)).max(1)
    }

    /// Returns when an interval of the map begins, nanoseconds.
    fn start_of(&self, interval: u64) -> u64 {
        let since = interval.saturating_sub(self.first).saturating_mul(self.log.width);
        self.start.saturating_add(since.min(self.nanos))
    }
}

impl HeatLog {
    /// Returns the latencies of a cell of the plan; `None` if they are not known over time.
    pub fn of_cell(logs: &CellLogs, cell: u32) -> Option<HeatLog> {
        let logs = logs.decode_within(cell, MAX_INTERVALS as usize);
        HeatLog::new(logs.map(|(trial, log)| (trial.round, trial.nanos, log)))
    }

    /// Puts trials one after the other, each with its round, its time in nanoseconds, and its log;
    /// `None` if no operation was timed.
    pub fn new(trials: impl IntoIterator<Item = (u32, u64, LatencyLog)>) -> Option<HeatLog> {
        let timed = |log: &LatencyLog| log.entries().iter().any(|entry| entry.timed() > 0);
        let trial = |(round, nanos, log): (_, _, LatencyLog)| LoggedTrial {
            round,
            start: 0,
            nanos,
            first: 0,
            log: log.evened(nanos),
        };
        let trials = trials.into_iter().filter(|(.., log)| timed(log)).map(trial).collect();
        let mut all = HeatLog { trials, width: 0, intervals: 0, buckets: (usize::MAX, 0) };
        all.width = all.trials.iter().map(|trial| trial.log.width).max()?;
        all.lay_out();
        // Doubling the intervals of a trial that has one changes nothing.
        while all.intervals > MAX_INTERVALS.max(2 * all.trials.len() as u64) {
            all.width = all.width.saturating_mul(2);
            all.lay_out();
        }
        let counts = all.trials.iter().flat_map(|trial| trial.log.entries());
        for (bucket, _) in counts.flat_map(|entry| &entry.latency).filter(|(_, count)| *count > 0) {
            let (first, end) = all.buckets;
            all.buckets = (first.min((*bucket).into()), end.max(usize::from(*bucket) + 1));
        }
        let (first, end) = all.buckets;
        let room = MIN_BUCKETS.saturating_sub(end.saturating_sub(first));
        let first = first.saturating_sub(room / 2);
        all.buckets = (first, end.max(first + MIN_BUCKETS));
        Some(all)
    }

    /// Gives all logs intervals of `width` or more, and each trial its place.
    fn lay_out(&mut self) {
        let (mut start, mut first) = (0u64, 0u64);
        for trial in &mut self.trials {
            while trial.log.width < self.width {
                trial.log.halve();
            }
            (trial.start, trial.first) = (start, first);
            start = start.saturating_add(trial.nanos);
            first = first.saturating_add(trial.intervals());
        }
        self.intervals = first;
    }

    /// Returns the trials, each with its round, its time in nanoseconds, and its log.
    pub fn trials(&self) -> impl Iterator<Item = (u32, u64, &LatencyLog)> {
        self.trials.iter().map(|trial| (trial.round, trial.nanos, &trial.log))
    }

    /// Returns the time of all trials, nanoseconds.
    pub fn nanos(&self) -> u64 {
        self.trials.last().map_or(0, |last| last.start.saturating_add(last.nanos))
    }

    /// Returns the number of intervals of all trials.
    pub fn intervals(&self) -> u64 {
        self.intervals
    }

    /// Returns how many operations the least count of a map is about: with 1 it is exact.
    pub fn every(&self) -> u64 {
        let every = self.trials.iter().map(|trial| u64::from(trial.log.every.max(1)));
        every.max().unwrap_or(1)
    }

    /// Returns when the interval with the slowest operations begins, and the end of their bucket,
    /// nanoseconds; of several the first.
    pub fn slowest(&self) -> Option<(u64, u64)> {
        let mut found: Option<(u16, u64)> = None;
        for trial in &self.trials {
            for entry in trial.log.entries() {
                let used = entry.latency.iter().filter(|(_, count)| *count > 0);
                let Some((bucket, _)) = used.max_by_key(|(bucket, _)| *bucket) else { continue };
                if found.is_none_or(|(most, _)| *bucket > most) {
                    let time = trial.start_of(trial.first.saturating_add(entry.index.into()));
                    found = Some((*bucket, time));
                }
            }
        }
        found.map(|(bucket, time)| (time, LogBuckets::lowest(usize::from(bucket) + 1)))
    }

    /// Returns the latencies of all timed operations, each as the middle of its bucket.
    pub fn histogram(&self) -> Histogram {
        let mut counts = vec![0u64; self.buckets.1];
        let entries = self.trials.iter().flat_map(|trial| trial.log.entries());
        for (bucket, count) in entries.flat_map(|entry| &entry.latency) {
            if let Some(all) = counts.get_mut(usize::from(*bucket)) {
                *all = all.saturating_add((*count).into());
            }
        }
        let used = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
        let pairs: Vec<(u64, u64)> =
            used.map(|(bucket, count)| (LogBuckets::middle(bucket), count)).collect();
        Histogram::from_pairs(&pairs)
    }

    /// Returns when each trial but the first begins, nanoseconds after the first.
    pub fn borders(&self) -> impl Iterator<Item = u64> {
        self.trials.iter().skip(1).map(|trial| trial.start)
    }

    /// Returns the ends of the axis of latencies, nanoseconds.
    pub fn range(&self) -> (u64, u64) {
        (LogBuckets::lowest(self.buckets.0), LogBuckets::lowest(self.buckets.1))
    }

    /// Returns the map in at most this many columns and rows. A column has as many whole intervals
    /// as any other, but for the last one, and a row whole buckets, so every count is exact.
    pub fn map(&self, columns: usize, rows: usize) -> HeatMap {
        let (first, end) = self.buckets;
        let (columns, span) = (columns.max(1) as u64, end - first);
        let rows = rows.clamp(1, span);
        let each = self.intervals.div_ceil(columns).max(1);
        let bounds = (0..=rows).map(|row| LogBuckets::lowest(first + row * span / rows)).collect();
        let mut map = HeatMap { columns: Vec::new(), bounds, slowest: None };
        let mut most = 0;
        map.columns = (0..self.intervals.div_ceil(each))
            .map(|column| self.column(column * each, ((column + 1) * each).min(self.intervals)))
            .map(|column| HeatColumn { counts: vec![0; rows], ..column })
            .collect();
        for trial in &self.trials {
            for entry in trial.log.entries() {
                let own = u64::from(entry.index).min(trial.intervals() - 1);
                let at = ((trial.first + own) / each) as usize;
                let Some(column) = map.columns.get_mut(at) else { continue };
                for (bucket, count) in entry.latency.iter().filter(|(_, count)| *count > 0) {
                    // The last of the rows that begin at this bucket or before it.
                    let row = ((usize::from(*bucket) - first) * rows + rows - 1) / span;
                    let count = u64::from(*count).saturating_mul(trial.log.every.max(1).into());
                    column.counts[row] = column.counts[row].saturating_add(count);
                    if map.slowest.is_none() || *bucket > most {
                        (map.slowest, most) = (Some((at, row)), *bucket);
                    }
                }
            }
        }
        map
    }

    /// Returns a column of these intervals, without counts.
    fn column(&self, from: u64, to: u64) -> HeatColumn {
        let of = |interval: u64| {
            let at = self.trials.partition_point(|trial| trial.first <= interval);
            &self.trials[at.saturating_sub(1)]
        };
        let (first, last) = (of(from), of(to - 1));
        HeatColumn {
            start: first.start_of(from),
            end: last.start_of(to),
            rounds: (first.round, last.round),
            counts: Vec::new(),
        }
    }
}

/// A grid of operations by the time when they ended and by their latency.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    pub columns: Vec<HeatColumn>,
    /// Where each row begins, the lowest first, and where the last one ends, nanoseconds.
    pub bounds: Vec<u64>,
    /// The column and the row of the slowest operations; the first ones of equal buckets.
    pub slowest: Option<(usize, usize)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HeatColumn {
    /// Nanoseconds after the first trial began.
    pub start: u64,
    pub end: u64,
    /// The rounds of its first and of its last trial.
    pub rounds: (u32, u32),
    /// Operations in each row, the lowest latency first.
    pub counts: Vec<u64>,
}

impl HeatColumn {
    fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns how many operations took no longer than a row says, as a share of all.
    fn share_up_to(&self, row: usize) -> f64 {
        let some = self.counts[..=row].iter().map(|count| *count as f64).sum::<f64>();
        some / (self.total() as f64).max(1.0)
    }
}

/// One cell of the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatCell {
    /// Nanoseconds after the first trial began.
    pub time: (u64, u64),
    pub rounds: (u32, u32),
    /// Nanoseconds.
    pub latency: (u64, u64),
    /// Operations.
    pub count: u64,
    /// Its share of the operations of its column; 0 without any.
    pub share: f64,
    /// The share of operations that took no longer, in its column and in all of the map.
    pub up_to: (f64, f64),
}

impl HeatMap {
    pub fn rows(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// Returns what a column and a row have; `None` outside of the grid.
    pub fn at(&self, column: usize, row: usize) -> Option<HeatCell> {
        let own = self.columns.get(column)?;
        let count = *own.counts.get(row)?;
        let (mut all, mut some) = (0.0, 0.0);
        for column in &self.columns {
            let total = column.total() as f64;
            all += total;
            some += column.share_up_to(row) * total;
        }
        Some(HeatCell {
            time: (own.start, own.end),
            rounds: own.rounds,
            latency: (*self.bounds.get(row)?, *self.bounds.get(row + 1)?),
            count,
            share: count as f64 / (own.total() as f64).max(1.0),
            up_to: (own.share_up_to(row), some / f64::max(all, 1.0)),
        })
    }

    /// Returns the heat of each count, from 0 for no operation to 1 for the most of all; one
    /// operation is more than 0.
    pub fn heat(&self) -> impl Fn(u64) -> f64 {
        let most = self.columns.iter().flat_map(|column| &column.counts).max().copied();
        let most = (most.unwrap_or(0) as f64).ln_1p();
        move |count| if count == 0 { 0.0 } else { ((count as f64).ln_1p() / most).min(1.0) }
    }
}

#[cfg(test)]
mod tests;
