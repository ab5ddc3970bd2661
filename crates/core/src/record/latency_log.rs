//! The latencies of a trial over time: what it did in each interval, and as the text that a session
//! keeps.

mod encoded;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

pub use self::encoded::{EncodedLog, LogSpace};
use crate::stats::{Buckets, Histogram};

/// The buckets of a log: 32 for each power of two, so each is at most 3.1 % wide.
pub type LogBuckets = Buckets<5>;

/// A bucket of latencies, and the number of operations in it.
pub type LogCount = (u16, u32);

/// The work of a trial in one interval.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogEntry {
    /// The number of the interval, from 0.
    pub index: u32,
    pub ops: u64,
    pub bytes: u64,
    pub syscalls: u64,
    /// Bytes that the kernel read from devices for this process; `None` = unknown.
    pub device: Option<u64>,
    /// Operations that could not start when the pace intended it.
    pub held: u32,
    /// By [`LogBuckets`], ascending, nanoseconds; of the operations that were timed.
    pub latency: Vec<LogCount>,
    /// From the real starts, where the pace sets the intended ones; else empty, as it is `latency`.
    pub service: Vec<LogCount>,
}

impl LogEntry {
    /// Adds what was done in the same interval.
    fn merge(&mut self, more: &LogEntry) {
        self.ops = self.ops.saturating_add(more.ops);
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.syscalls = self.syscalls.saturating_add(more.syscalls);
        self.device = match (self.device, more.device) {
            (Some(own), Some(more)) => Some(own.saturating_add(more)),
            (own, more) => own.or(more),
        };
        self.held = self.held.saturating_add(more.held);
        merge_counts(&mut self.latency, &more.latency);
        merge_counts(&mut self.service, &more.service);
    }

    /// Returns the times of the operations from their real starts.
    pub fn service_times(&self) -> &[LogCount] {
        if self.service.is_empty() { &self.latency } else { &self.service }
    }

    /// Returns the number of timed operations.
    pub fn timed(&self) -> u64 {
        self.latency.iter().map(|(_, count)| u64::from(*count)).sum()
    }
}

/// Returns a histogram of these counts, each as the middle of its bucket.
pub fn histogram_of<'a>(counts: impl IntoIterator<Item = &'a LogCount>) -> Histogram {
    let pair = |(bucket, count): &LogCount| (LogBuckets::middle((*bucket).into()), (*count).into());
    let pairs: Vec<(u64, u64)> = counts.into_iter().map(pair).collect();
    Histogram::from_pairs(&pairs)
}

/// Adds counts, bucket by bucket.
fn merge_counts(all: &mut Vec<LogCount>, more: &[LogCount]) {
    if all.is_empty() {
        all.extend_from_slice(more);
        return;
    }
    let mut merged = Vec::with_capacity(all.len() + more.len());
    let (mut own, mut more) = (all.iter().copied().peekable(), more.iter().copied().peekable());
    while let (Some(a), Some(b)) = (own.peek(), more.peek()) {
        match a.0.cmp(&b.0) {
            Ordering::Less => merged.extend(own.next()),
            Ordering::Greater => merged.extend(more.next()),
            Ordering::Equal => {
                merged.push((a.0, a.1.saturating_add(b.1)));
                own.next();
                more.next();
            }
        }
    }
    merged.extend(own);
    merged.extend(more);
    *all = merged;
}

/// The latencies of a trial over time. In an interval without an entry nothing ended.
///
/// Serialized as its lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<EncodedLog>", into = "Vec<EncodedLog>")]
pub struct LatencyLog {
    /// The length of an interval, nanoseconds.
    pub width: u64,
    /// One operation in `every` was timed.
    pub every: u32,
    /// Ascending by their number, and at most [`LatencyLog::MAX_ENTRIES`].
    entries: Vec<LogEntry>,
}

impl LatencyLog {
    /// The length of an interval as lanes log it, nanoseconds.
    pub const WIDTH: u64 = 100_000_000;
    /// Intervals become twice as long where there would be more: 27 minutes of them.
    pub const MAX_ENTRIES: usize = 16_384;

    /// Creates an empty log of intervals of [`LatencyLog::WIDTH`].
    pub fn new(every: u32) -> LatencyLog {
        LatencyLog { width: LatencyLog::WIDTH, every, entries: Vec::new() }
    }

    pub fn entries(&self) -> &[LogEntry] {
        &self.entries
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns when an interval began, nanoseconds after the trial.
    pub fn start_of(&self, entry: &LogEntry) -> u64 {
        self.width.saturating_mul(entry.index.into())
    }

    /// Adds an entry whose number counts intervals of [`LatencyLog::WIDTH`].
    pub fn add(&mut self, mut entry: LogEntry) {
        let began = u64::from(entry.index) * LatencyLog::WIDTH;
        entry.index = u32::try_from(began / self.width).unwrap_or(u32::MAX);
        self.put(entry);
    }

    /// Adds an entry to that of its interval.
    fn put(&mut self, entry: LogEntry) {
        // Most are the last one or follow it.
        let at = match self.entries.last() {
            Some(last) if last.index >= entry.index => {
                self.entries.partition_point(|own| own.index < entry.index)
            }
            _ => self.entries.len(),
        };
        match self.entries.get_mut(at).filter(|own| own.index == entry.index) {
            Some(own) => own.merge(&entry),
            None => self.entries.insert(at, entry),
        }
        while self.entries.len() > LatencyLog::MAX_ENTRIES {
            self.halve();
        }
    }

    /// Makes the intervals twice as long, so that there are about half as many.
    pub fn halve(&mut self) {
        self.width = self.width.saturating_mul(2);
        let mut halved: Vec<LogEntry> = Vec::with_capacity(self.entries.len() / 2 + 1);
        for mut entry in self.entries.drain(..) {
            entry.index /= 2;
            match halved.last_mut().filter(|last| last.index == entry.index) {
                Some(last) => last.merge(&entry),
                None => halved.push(entry),
            }
        }
        self.entries = halved;
    }

    /// Returns it as of a trial that began `offset` nanoseconds earlier.
    pub fn delay(self, offset: u64) -> LatencyLog {
        let mut log = LatencyLog::new(self.every);
        log.append(self, offset);
        log
    }

    /// Adds a log that began `offset` nanoseconds later: of a later part of the trial, or of
    /// another process. Of the two widths the larger one counts.
    pub fn append(&mut self, mut more: LatencyLog, offset: u64) {
        while self.width < more.width {
            self.halve();
        }
        for mut entry in more.entries.drain(..) {
            let began = more.width.saturating_mul(entry.index.into()).saturating_add(offset);
            entry.index = u32::try_from(began / self.width).unwrap_or(u32::MAX);
            self.put(entry);
        }
    }
}

impl From<LatencyLog> for Vec<EncodedLog> {
    fn from(log: LatencyLog) -> Vec<EncodedLog> {
        log.encode(0, 0)
    }
}

impl From<Vec<EncodedLog>> for LatencyLog {
    fn from(lines: Vec<EncodedLog>) -> LatencyLog {
        LatencyLog::decode(&lines).unwrap_or_else(|| LatencyLog::new(1))
    }
}

#[cfg(test)]
mod tests;
