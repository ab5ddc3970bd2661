//! The latencies of a lane: recorded where it is cheap, and collected at boundaries of time.

use super::lane_log::LogWriter;
use crate::record::{LatencyLog, LogEntry};
use crate::stats::{Histogram, Recent};
use crate::sys::clock::Clock;

/// The time between two boundaries, nanoseconds.
const INTERVAL: u64 = LatencyLog::WIDTH;

/// The latencies of a lane: those since the last boundary, and those before.
#[derive(Debug)]
pub(super) struct Latencies<'a> {
    clock: Clock,
    recent: Recent,
    total: Histogram,
    /// When the intervals began, and the ticks at which the recent ones are collected: `u64::MAX`
    /// until the lane begins.
    opened: u64,
    boundary: u64,
    log: Option<LogWriter<'a>>,
}

impl<'a> Latencies<'a> {
    pub fn new(clock: Clock) -> Latencies<'a> {
        Latencies {
            clock,
            recent: Recent::default(),
            total: Histogram::new(),
            opened: 0,
            boundary: u64::MAX,
            log: None,
        }
    }

    /// Has the latencies logged.
    pub fn log_to(&mut self, log: LogWriter<'a>) {
        self.log = Some(log);
    }

    /// Sets the first boundary; the lane begins at these ticks.
    pub fn begin(&mut self, now: u64) {
        self.opened = self.log.as_ref().map_or(now, LogWriter::opened);
        self.boundary = self.opened;
        self.advance(now);
    }

    /// Sets the next boundary after `now`.
    fn advance(&mut self, now: u64) {
        let interval = self.clock.ticks(INTERVAL);
        let passed = now.saturating_sub(self.boundary) / interval;
        self.boundary = self.boundary.saturating_add(interval.saturating_mul(passed + 1));
    }

    /// Notes that an operation was held back.
    pub fn hold(&mut self) {
        if let Some(log) = &mut self.log {
            log.hold();
        }
    }

    /// Returns the ticks at which [`Latencies::collect`] is due.
    #[inline(always)]
    pub fn boundary(&self) -> u64 {
        self.boundary
    }

    /// Returns the number of the interval that ends at the next boundary.
    fn index(&self) -> u32 {
        let intervals = self.boundary.saturating_sub(self.opened) / self.clock.ticks(INTERVAL);
        u32::try_from(intervals.saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Adds a latency, nanoseconds.
    #[inline(always)]
    pub fn record(&mut self, nanos: u64) {
        self.recent.record(nanos);
    }

    /// Returns the smallest latency since the last boundary.
    pub fn min(&self) -> Option<u64> {
        self.recent.min()
    }

    /// Returns the number of collected latencies.
    #[cfg(test)]
    pub fn collected(&self) -> u64 {
        self.total.count()
    }

    fn drain(&mut self) {
        let log = &mut self.log;
        self.recent.drain(&mut self.total, |nanos, count| {
            if let Some(log) = log {
                log.add(nanos, count);
            }
        });
    }

    /// Collects the recent ones, logs them, and sets the next boundary after `now`.
    #[cold]
    #[inline(never)]
    pub fn collect(&mut self, now: u64) {
        self.drain();
        let index = self.index();
        if let Some(log) = &mut self.log {
            log.send(index);
        }
        self.advance(now);
    }

    /// Returns all latencies, and what is not logged yet.
    pub fn finish(mut self) -> (Histogram, Option<LogEntry>) {
        self.drain();
        let index = self.index();
        (self.total, self.log.and_then(|log| log.finish(index)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::backend::lane_log::{LaneLog, LogRing, Times};
    use crate::backend::published::Published;

    const MILLI: u64 = 1_000_000;

    #[test]
    fn each_latency_is_in_the_total() {
        let (ring, opened, published) =
            (LogRing::new(1), AtomicU64::new(1000), Published::default());
        let mut latencies = Latencies::new(Clock::monotonic());
        latencies.log_to(LogWriter::new(
            LaneLog { ring: &ring, opened: &opened },
            Times::Latency,
            Some(&published),
        ));
        // It begins after the others.
        let mut now = 1000 + 15 * MILLI;
        latencies.begin(now);
        let (mut recorded, mut collected) = (Histogram::new(), Vec::new());
        // Steps of 30 ms, and one that skips boundaries.
        for step in [25, 30, 30, 30, 250, 30, 30].map(|millis| millis * MILLI) {
            now += step;
            if now >= latencies.boundary() {
                latencies.collect(now);
                collected.push((now - 1000) / MILLI);
                assert_eq!(latencies.collected(), recorded.count());
            }
            latencies.record(step);
            recorded.record(step);
            assert_eq!((latencies.boundary() - 1000) % INTERVAL, 0);
            assert!((1..=INTERVAL).contains(&(latencies.boundary() - now)));
        }
        assert_eq!(collected, [100, 380, 410]);
        let (total, rest) = latencies.finish();
        assert_eq!(total, recorded);
        // By the interval in which the operation ended.
        let entries: Vec<LogEntry> = std::iter::from_fn(|| ring.take()).chain(rest).collect();
        let found: Vec<_> = entries.iter().map(|entry| (entry.index, entry.timed())).collect();
        assert_eq!(found, [(0, 2), (1, 2), (3, 1), (4, 2)]);
    }

    #[test]
    fn nothing_is_due_before_the_beginning() {
        let mut latencies = Latencies::new(Clock::best());
        assert_eq!(latencies.boundary(), u64::MAX);
        latencies.record(5);
        assert_eq!(latencies.finish(), (Histogram::from_pairs(&[(5, 1)]), None));
    }
}
