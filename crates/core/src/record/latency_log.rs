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
    /// Intervals after it that it covers, too.
    pub further: u32,
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
    /// Returns the number of the last interval that it covers.
    pub fn last(&self) -> u32 {
        self.index.saturating_add(self.further)
    }

    /// Adds what was done in the same intervals, or in others.
    fn merge(&mut self, more: &LogEntry) {
        let last = self.last().max(more.last());
        self.index = self.index.min(more.index);
        self.further = last - self.index;
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
    /// The length of an interval, nanoseconds. An entry may cover several.
    pub width: u64,
    /// One operation in `every` was timed.
    pub every: u32,
    /// Ascending by their number, without an interval in two of them, and at most
    /// [`LatencyLog::MAX_ENTRIES`]; of a log that was read in stretches [`LatencyLog::MAX_READ`].
    entries: Vec<LogEntry>,
}

impl LatencyLog {
    /// The length of an interval as lanes log it, nanoseconds.
    pub const WIDTH: u64 = 100_000_000;
    /// Intervals become twice as long where there would be more: 27 minutes of them.
    pub const MAX_ENTRIES: usize = 16_384;
    /// The same where entries of different lengths are read: a month with a day that is unusual.
    pub const MAX_READ: usize = 1 << 17;

    /// The most intervals of [`LatencyLog::WIDTH`] that an entry covers: 51.2 s.
    pub const MAX_SPAN: u32 = 512;

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

    /// Returns how long an entry is, nanoseconds.
    pub fn length_of(&self, entry: &LogEntry) -> u64 {
        self.width.saturating_mul(u64::from(entry.further) + 1)
    }

    /// Adds an entry whose number counts intervals of [`LatencyLog::WIDTH`].
    pub fn add(&mut self, entry: LogEntry) {
        self.put(LatencyLog::WIDTH, entry, 0, LatencyLog::MAX_ENTRIES);
    }

    /// Adds an entry of a log with intervals of `width` that began `offset` nanoseconds later, and
    /// makes intervals wider beyond `most` entries.
    fn put(&mut self, width: u64, mut entry: LogEntry, offset: u64, most: usize) {
        let at = |index: u32| {
            let began = width.saturating_mul(index.into()).saturating_add(offset);
            u32::try_from(began / self.width).unwrap_or(u32::MAX)
        };
        let last = at(entry.last());
        entry.index = at(entry.index);
        entry.further = last.saturating_sub(entry.index);
        // Most are the last one or follow it.
        let at = match self.entries.last() {
            Some(own) if own.last() >= entry.index => {
                self.entries.partition_point(|own| own.last() < entry.index)
            }
            _ => self.entries.len(),
        };
        match self.entries.get_mut(at).filter(|own| own.index <= last) {
            Some(own) => own.merge(&entry),
            None => self.entries.insert(at, entry),
        }
        let end = self.entries[at].last();
        let others = self.entries[at + 1..].iter().take_while(|own| own.index <= end).count();
        for more in self.entries.drain(at + 1..at + 1 + others).collect::<Vec<_>>() {
            self.entries[at].merge(&more);
        }
        while self.entries.len() > most {
            self.halve();
        }
    }

    /// Makes the intervals twice as long, so that there are about half as many.
    pub fn halve(&mut self) {
        self.width = self.width.saturating_mul(2);
        for entry in &mut self.entries {
            entry.further = entry.last() / 2 - entry.index / 2;
            entry.index /= 2;
        }
        self.join(|last, entry| entry.index <= last.last());
    }

    /// Joins entries to the one before where these `meet`.
    fn join(&mut self, meet: impl Fn(&LogEntry, &LogEntry) -> bool) {
        let mut joined: Vec<LogEntry> = Vec::with_capacity(self.entries.len() / 2 + 1);
        for entry in self.entries.drain(..) {
            match joined.last_mut().filter(|last| meet(last, &entry)) {
                Some(last) => last.merge(&entry),
                None => joined.push(entry),
            }
        }
        self.entries = joined;
    }

    /// Returns it with intervals as long as its longest entry, and no more of them than a log has
    /// in a trial of `nanos`.
    pub fn evened(mut self, nanos: u64) -> LatencyLog {
        let most = LatencyLog::MAX_ENTRIES as u64;
        let widest = self.entries.iter().map(|entry| self.length_of(entry)).max().unwrap_or(0);
        while self.width < widest.max(nanos / most) {
            self.halve();
        }
        self
    }

    /// Takes the entries before this interval of [`LatencyLog::WIDTH`], in such intervals.
    pub fn take_before(&mut self, end: u32) -> LatencyLog {
        let end = LatencyLog::WIDTH.saturating_mul(end.into());
        let is_before =
            |own: &LogEntry| self.start_of(own).saturating_add(self.length_of(own)) <= end;
        let rest = self.entries.split_off(self.entries.partition_point(is_before));
        let entries = std::mem::replace(&mut self.entries, rest);
        let times = u32::try_from(self.width / LatencyLog::WIDTH).unwrap_or(u32::MAX).max(1);
        let narrow = |entry: LogEntry| LogEntry {
            index: entry.index.saturating_mul(times),
            further: (entry.further.saturating_add(1)).saturating_mul(times) - 1,
            ..entry
        };
        let entries = entries.into_iter().map(narrow).collect();
        LatencyLog { width: LatencyLog::WIDTH, every: self.every, entries }
    }

    /// Returns how many intervals an entry covers that is usual, so long after the start of its
    /// trial: a doubled time adds half as many entries as a log may have.
    fn usual_span(nanos: u64) -> u32 {
        let times = nanos / LatencyLog::WIDTH / (LatencyLog::MAX_ENTRIES as u64 / 2);
        1 << times.max(1).ilog2().min(LatencyLog::MAX_SPAN.ilog2())
    }

    /// Returns it with entries of up to `fine` intervals in these stretches, from and to, and of up
    /// to `rest` elsewhere. Times before and after an entry in which nothing ended stay empty.
    fn thinned(&self, [fine, rest]: [u32; 2], stretches: &[(u32, u32)]) -> LatencyLog {
        let of = |entry: &LogEntry| {
            let at = stretches.partition_point(|(_, end)| *end <= entry.index);
            let inside = stretches.get(at).is_some_and(|(from, _)| *from <= entry.last());
            let span = if inside { fine } else { rest };
            (inside, at, entry.index / span)
        };
        let mut log = self.clone();
        log.join(|last, entry| of(last) == of(entry));
        log
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
        for entry in more.entries.drain(..) {
            self.put(more.width, entry, offset, LatencyLog::MAX_ENTRIES);
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
