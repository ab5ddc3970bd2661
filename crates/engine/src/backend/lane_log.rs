//! The work of a lane over time, on its way to the thread that waits for the trial: through a ring
//! with one writer and one reader, neither of which waits for the other.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::published::Published;
use crate::record::{LogBuckets, LogCount, LogEntry};
use crate::stats::histogram::MAX_VALUE;

/// Where a lane logs its latencies.
#[derive(Debug, Clone, Copy)]
pub struct LaneLog<'a> {
    pub ring: &'a LogRing,
    /// When the trial began, in ticks: all lanes count intervals from then on.
    pub opened: &'a AtomicU64,
}

/// Entries between a lane and its reader.
#[derive(Debug)]
pub struct LogRing {
    words: Box<[AtomicU64]>,
    /// Words that were written, and that were read, since the start.
    written: AtomicU64,
    read: AtomicU64,
}

/// Words of all rings of a trial, and of one: the entries of seconds.
const ALL_WORDS: usize = 512 << 10;
const MIN_WORDS: usize = 2 << 10;
const MAX_WORDS: usize = 8 << 10;
/// Words of an entry before its buckets.
const HEAD: usize = 5;

impl LogRing {
    /// Creates the ring of one of this many lanes.
    pub fn new(lanes: u32) -> LogRing {
        let words = (ALL_WORDS / lanes.max(1) as usize).clamp(MIN_WORDS, MAX_WORDS);
        LogRing {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
        }
    }

    fn word(&self, at: u64) -> &AtomicU64 {
        &self.words[(at % self.words.len() as u64) as usize]
    }

    /// Adds an entry of `done` operations, bytes and calls; false without room. For the lane.
    fn push(&self, of: Times, index: u32, done: [u64; 3], held: u32, counts: &Counts) -> bool {
        let (buckets, written) = (counts.iter().count(), self.written.load(Relaxed));
        let used = written - self.read.load(Acquire);
        if used + (HEAD + buckets) as u64 > self.words.len() as u64 {
            return false;
        }
        let [ops, bytes, syscalls] = done;
        let head = [pack(of as u32, index), ops, bytes, syscalls, pack(held, buckets as u32)];
        let pairs = counts.iter().map(|(bucket, count)| pack(count, bucket.into()));
        let mut at = written;
        for word in head.into_iter().chain(pairs) {
            self.word(at).store(word, Relaxed);
            at += 1;
        }
        self.written.store(at, Release);
        true
    }

    /// Takes the next entry. For the reader.
    pub fn take(&self) -> Option<LogEntry> {
        let (mut at, written) = (self.read.load(Relaxed), self.written.load(Acquire));
        if at == written {
            return None;
        }
        let mut next = || {
            at += 1;
            self.word(at - 1).load(Relaxed)
        };
        let [first, ops, bytes, syscalls, last] = std::array::from_fn(|_| next());
        let ((of, index), (held, buckets)) = (unpack(first), unpack(last));
        let counts = (0..buckets).map(|_| unpack(next()));
        let counts = counts.map(|(count, bucket)| (bucket as u16, count)).collect();
        self.read.store(at, Release);
        let of = if of == Times::Service as u32 { Times::Service } else { Times::Latency };
        Some(entry(of, index, [ops, bytes, syscalls], held, counts))
    }
}

fn pack(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn unpack(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

/// The times that a writer logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// Latencies; with a rate, from the intended starts.
    Latency,
    /// With a rate, from the real starts.
    Service,
}

fn entry(of: Times, index: u32, done: [u64; 3], held: u32, counts: Vec<LogCount>) -> LogEntry {
    let [ops, bytes, syscalls] = done;
    let entry = LogEntry { index, ops, bytes, syscalls, held, ..LogEntry::default() };
    match of {
        Times::Latency => LogEntry { latency: counts, ..entry },
        Times::Service => LogEntry { service: counts, ..entry },
    }
}

const BUCKETS: usize = LogBuckets::of(MAX_VALUE) + 1;

/// Counts of latencies in the buckets of a log.
#[derive(Debug)]
struct Counts(Box<[u32; BUCKETS]>);

impl Counts {
    fn add(&mut self, nanos: u64, count: u32) {
        let own = &mut self.0[LogBuckets::of(nanos).min(BUCKETS - 1)];
        *own = own.saturating_add(count);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    fn iter(&self) -> impl Iterator<Item = LogCount> {
        (0..).zip(self.0.iter().copied()).filter(|(_, count)| *count > 0)
    }
}

/// The end of a ring that a lane has: what it did since its last entry.
#[derive(Debug)]
pub(super) struct LogWriter<'a> {
    log: LaneLog<'a>,
    of: Times,
    /// `None` where another writer logs the work.
    published: Option<&'a Published>,
    /// The first interval since the last entry.
    index: Option<u32>,
    counts: Counts,
    /// Operations held back since the last entry.
    held: u32,
    /// Operations, bytes and calls up to the last entry.
    sent: [u64; 3],
}

impl<'a> LogWriter<'a> {
    pub fn new(log: LaneLog<'a>, of: Times, published: Option<&'a Published>) -> LogWriter<'a> {
        let counts = Counts(Box::new([0; BUCKETS]));
        LogWriter { log, of, published, index: None, counts, held: 0, sent: [0; 3] }
    }

    /// Returns when the trial began, in ticks.
    pub fn opened(&self) -> u64 {
        self.log.opened.load(Relaxed)
    }

    /// Adds latencies of a bucket, by one of its values in nanoseconds.
    pub fn add(&mut self, nanos: u64, count: u32) {
        self.counts.add(nanos, count);
    }

    /// Notes that an operation was held back.
    pub fn hold(&mut self) {
        self.held = self.held.saturating_add(1);
    }

    /// Sends what was done until the end of an interval. Without room in the ring, it becomes a
    /// part of the next entry: nothing is lost.
    pub fn send(&mut self, index: u32) {
        let now = self.published();
        if self.is_empty(now) {
            return;
        }
        let (index, done) = (*self.index.get_or_insert(index), self.since_sent(now));
        if self.log.ring.push(self.of, index, done, self.held, &self.counts) {
            (self.index, self.held, self.sent) = (None, 0, now);
            self.counts.0.fill(0);
        }
    }

    fn published(&self) -> [u64; 3] {
        self.published.map_or([0; 3], Published::counts)
    }

    fn is_empty(&self, now: [u64; 3]) -> bool {
        now == self.sent && self.held == 0 && self.counts.is_empty()
    }

    fn since_sent(&self, now: [u64; 3]) -> [u64; 3] {
        std::array::from_fn(|of| now[of].saturating_sub(self.sent[of]))
    }

    /// Returns what was done since the last entry, in an interval that has not ended; `None` if
    /// nothing was.
    pub fn finish(self, index: u32) -> Option<LogEntry> {
        let (now, index) = (self.published(), self.index.unwrap_or(index));
        (!self.is_empty(now)).then(|| {
            let counts = self.counts.iter().collect();
            entry(self.of, index, self.since_sent(now), self.held, counts)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::LatencyLog;

    fn publish(published: &Published, ops: u64) {
        published.ops.store(ops, Relaxed);
        published.bytes.store(ops * 4096, Relaxed);
        published.syscalls.store(ops + 1, Relaxed);
    }

    fn writer<'a>(
        ring: &'a LogRing,
        opened: &'a AtomicU64,
        published: &'a Published,
    ) -> LogWriter<'a> {
        LogWriter::new(LaneLog { ring, opened }, Times::Latency, Some(published))
    }

    #[test]
    fn two_writers_share_intervals() {
        let (ring, opened, published) = (LogRing::new(1), AtomicU64::new(0), Published::default());
        let log = LaneLog { ring: &ring, opened: &opened };
        let mut service = LogWriter::new(log, Times::Service, Some(&published));
        let mut response = LogWriter::new(log, Times::Latency, None);
        publish(&published, 3);
        service.add(1000, 3);
        response.add(9000, 3);
        (0..2).for_each(|_| response.hold());
        service.send(4);
        response.send(4);
        response.hold();
        let ends = [service.finish(5), response.finish(5)];
        let mut log = LatencyLog::new(1);
        let sent = std::iter::from_fn(|| ring.take());
        sent.chain(ends.into_iter().flatten()).for_each(|entry| log.add(entry));
        let [first, last] = log.entries() else { panic!("{log:?}") };
        assert_eq!((first.index, first.ops, first.held), (4, 3, 2));
        let of = |nanos| vec![(LogBuckets::of(nanos) as u16, 3)];
        assert_eq!((&first.latency, &first.service), (&of(9000), &of(1000)));
        assert_eq!((last.index, last.ops, last.held), (5, 0, 1));
    }

    #[test]
    fn entries_arrive_in_order() {
        let (ring, opened, published) = (LogRing::new(1), AtomicU64::new(7), Published::default());
        let mut writer = writer(&ring, &opened, &published);
        assert_eq!((writer.opened(), ring.take()), (7, None));
        let bucket = LogBuckets::of(5000) as u16;
        // More than the ring has, in all.
        for index in 0..5000u32 {
            publish(&published, u64::from(index) + 1);
            writer.add(5000, index + 1);
            writer.add(u64::MAX, 2);
            writer.send(index);
            let entry = ring.take().unwrap();
            let syscalls = if index == 0 { 2 } else { 1 };
            assert_eq!(
                (entry.index, entry.ops, entry.bytes, entry.syscalls),
                (index, 1, 4096, syscalls)
            );
            assert_eq!(entry.latency, [(bucket, index + 1), (BUCKETS as u16 - 1, 2)]);
            assert_eq!(ring.take(), None);
        }
        writer.send(5000);
        assert_eq!((ring.take(), writer.finish(5000)), (None, None));
    }

    #[test]
    fn a_full_ring_loses_nothing() {
        let (ring, opened, published) =
            (LogRing::new(u32::MAX), AtomicU64::new(0), Published::default());
        let mut writer = writer(&ring, &opened, &published);
        let add = |writer: &mut LogWriter, index: u32| {
            publish(&published, 10 * (u64::from(index) + 1));
            (0..10).for_each(|n| writer.add(1000 << n, 1));
        };
        let last = 2 * MIN_WORDS as u32;
        for index in 0..last {
            add(&mut writer, index);
            writer.send(index);
        }
        let arrived: Vec<LogEntry> = std::iter::from_fn(|| ring.take()).collect();
        assert_eq!(arrived.len(), MIN_WORDS / (HEAD + 10));
        assert!(
            arrived.iter().enumerate().all(|(n, own)| own.index as usize == n && own.timed() == 10)
        );
        // There is room again: the next entry has all that had none.
        add(&mut writer, last);
        writer.send(last);
        let wide = ring.take().unwrap();
        let wide_ops = 10 * (u64::from(last) + 1) - 10 * arrived.len() as u64;
        assert_eq!(
            (wide.index as usize, wide.ops, wide.timed()),
            (arrived.len(), wide_ops, wide_ops)
        );
        add(&mut writer, last + 1);
        let rest = writer.finish(last + 1).unwrap();
        assert_eq!((rest.index, rest.ops, rest.timed(), ring.take()), (last + 1, 10, 10, None));
    }

    #[test]
    fn reader_and_writer_run_together() {
        let (ring, opened, published) =
            (LogRing::new(u32::MAX), AtomicU64::new(0), Published::default());
        let (mut timed, mut ops, mut newest) = (0, 0, None);
        const ENTRIES: u32 = 20_000;
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let mut writer = writer(&ring, &opened, &published);
                for index in 0..ENTRIES {
                    publish(&published, u64::from(index) + 1);
                    writer.add(u64::from(index) + 1, 1);
                    writer.send(index);
                }
                writer.finish(ENTRIES)
            });
            let mut see = |entry: LogEntry| {
                assert!(newest < Some(entry.index), "{newest:?} before {}", entry.index);
                assert_eq!(entry.ops, entry.timed());
                (timed, ops, newest) = (timed + entry.timed(), ops + entry.ops, Some(entry.index));
            };
            while !writing.is_finished() {
                std::iter::from_fn(|| ring.take()).for_each(&mut see);
            }
            let rest = writing.join().unwrap();
            std::iter::from_fn(|| ring.take()).for_each(&mut see);
            rest.into_iter().for_each(&mut see);
        });
        assert_eq!((timed, ops), (ENTRIES.into(), ENTRIES.into()));
    }
}
