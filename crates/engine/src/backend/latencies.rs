//! The latencies of a lane: recorded where it is cheap, and collected at boundaries of time.

use crate::stats::{Histogram, Recent};
use crate::sys::clock::Clock;

/// The time between two boundaries, nanoseconds.
const INTERVAL: u64 = 100_000_000;

/// The latencies of a lane: those since the last boundary, and those before.
#[derive(Debug)]
pub(super) struct Latencies {
    clock: Clock,
    recent: Recent,
    total: Histogram,
    /// The ticks at which the recent ones are collected; `u64::MAX` until the lane begins.
    boundary: u64,
}

impl Latencies {
    pub fn new(clock: Clock) -> Latencies {
        Latencies { clock, recent: Recent::default(), total: Histogram::new(), boundary: u64::MAX }
    }

    /// Sets the first boundary; the lane begins at these ticks.
    pub fn begin(&mut self, now: u64) {
        self.boundary = now.saturating_add(self.clock.ticks(INTERVAL));
    }

    /// Returns the ticks at which [`Latencies::collect`] is due.
    #[inline(always)]
    pub fn boundary(&self) -> u64 {
        self.boundary
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

    /// Collects the recent ones, and sets the next boundary after `now`.
    #[cold]
    #[inline(never)]
    pub fn collect(&mut self, now: u64) {
        self.recent.drain(&mut self.total, |_, _| {});
        let interval = self.clock.ticks(INTERVAL);
        let passed = now.saturating_sub(self.boundary) / interval;
        self.boundary = self.boundary.saturating_add(interval.saturating_mul(passed + 1));
    }

    /// Returns all latencies.
    pub fn into_total(mut self) -> Histogram {
        self.recent.drain(&mut self.total, |_, _| {});
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_latency_is_in_the_total() {
        let clock = Clock::monotonic();
        let mut latencies = Latencies::new(clock);
        latencies.begin(1000);
        let mut recorded = Histogram::new();
        let (mut now, mut collected) = (1000, Vec::new());
        // Steps of 30 ms, and one that skips boundaries.
        for step in [30, 30, 30, 30, 250, 30, 30].map(|millis| millis * 1_000_000) {
            now += step;
            if now >= latencies.boundary() {
                latencies.collect(now);
                collected.push((now - 1000) / 1_000_000);
                assert_eq!(latencies.collected(), recorded.count());
            }
            latencies.record(step);
            recorded.record(step);
            assert_eq!((latencies.boundary() - 1000) % INTERVAL, 0);
            assert!((1..=INTERVAL).contains(&(latencies.boundary() - now)));
        }
        assert_eq!(collected, [120, 370, 400]);
        assert_eq!(latencies.into_total(), recorded);
    }

    #[test]
    fn nothing_is_due_before_the_beginning() {
        let mut latencies = Latencies::new(Clock::best());
        assert_eq!(latencies.boundary(), u64::MAX);
        latencies.record(5);
        assert_eq!(latencies.into_total(), Histogram::from_pairs(&[(5, 1)]));
    }
}
