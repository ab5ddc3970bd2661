//! Times operations: which ones, and how.

use serde::{Deserialize, Serialize};

use super::lane_log::LogWriter;
use super::latencies::Latencies;
use crate::record::LogEntry;
use crate::stats::Histogram;
use crate::stats::random::mix;
use crate::sys::clock::Clock;

/// Which operations of a trial are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timed {
    None,
    /// Every operation; the end of one is the start of the next, so one clock reading each.
    Chained,
    /// Every operation, with a reading before and after: what happens in between (the XOR) is
    /// excluded.
    Precise,
    /// One operation in N (a power of two), chosen at random, with two readings: for operations
    /// that cost little more than a reading.
    OneIn(u32),
}

impl Timed {
    /// Returns N where one operation in N is timed; 0 = none.
    pub fn every(self) -> u32 {
        match self {
            Timed::None => 0,
            Timed::Chained | Timed::Precise => 1,
            Timed::OneIn(n) => n,
        }
    }
}

/// The times of the commits of a trial, nanoseconds: each from the start of its first write.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Commits {
    pub total: Histogram,
    /// Until the last write returned; empty where a linked sync follows unseen.
    pub write: Histogram,
    /// From then on; as many as `write`.
    pub sync: Histogram,
}

impl Commits {
    /// Adds the commits of another lane or part.
    pub fn merge(&mut self, other: &Commits) {
        self.total.merge(&other.total);
        self.write.merge(&other.write);
        self.sync.merge(&other.sync);
    }
}

/// A lane's clock and latencies.
#[derive(Debug)]
pub(super) struct Meter<'a> {
    clock: Clock,
    chained: bool,
    /// Times one operation in N, with ordered clock readings; 0 = all or none.
    one_in: u64,
    /// The index, in the current pass or claim, of the next timed operation: 0 where all are,
    /// `u64::MAX` where none is.
    next: u64,
    /// The first index of the window in which it is the timed one.
    window: u64,
    /// State of the random choice.
    chance: u64,
    last: u64,
    /// Nanoseconds that a reading adds to an interval; 0 for chained readings, which are part of
    /// the work.
    overhead: u64,
    /// `None` while the committer has them.
    latencies: Option<Latencies<'a>>,
}

impl<'a> Meter<'a> {
    /// Creates the meter of a lane that makes at least `operations` operations.
    pub fn new(clock: Clock, how: Timed, operations: u64) -> Meter<'a> {
        let one_in = if let Timed::OneIn(n) = how { n.next_power_of_two().into() } else { 0 };
        let (chained, next) =
            (how == Timed::Chained, if how == Timed::None { u64::MAX } else { 0 });
        let overhead = if how == Timed::Precise { clock.read_overhead() } else { 0 };
        let last = clock.now();
        let mut meter = Meter {
            clock,
            chained,
            one_in,
            next,
            window: 0,
            chance: last,
            last,
            overhead,
            latencies: Some(Latencies::new(clock)),
        };
        if one_in > 0 {
            meter.overhead = meter.measure_overhead();
            // At least one operation is timed.
            (meter.window, meter.next) = (0, meter.random_below(one_in.min(operations)));
        }
        meter
    }

    /// Returns the minimum interval that the same calls record for an empty operation.
    fn measure_overhead(&mut self) -> u64 {
        for _ in 0..64 {
            let start = self.read_clock();
            self.end(start);
        }
        let measured = self.latencies.replace(Latencies::new(self.clock));
        measured.and_then(|latencies| latencies.min()).unwrap_or(0)
    }

    /// Chooses at random: always the first of N might be the first of every page, or of every pass.
    fn random_below(&mut self, operations: u64) -> u64 {
        self.chance = mix(self.chance);
        self.chance % operations.max(1)
    }

    /// Stops timing operations if all are timed by chained readings: the committer times them, and
    /// records the latencies.
    pub fn hand_over(&mut self) -> Option<Latencies<'a>> {
        if !self.chained {
            return None;
        }
        self.next = u64::MAX;
        self.latencies.take()
    }

    /// Takes back the latencies that the committer recorded.
    pub fn take_back(&mut self, latencies: Latencies<'a>) {
        self.latencies = Some(latencies);
    }

    /// Returns whether the committer times the operations.
    pub fn is_handed_over(&self) -> bool {
        self.chained && self.next == u64::MAX
    }

    /// Has the latencies logged.
    pub fn log_to(&mut self, log: LogWriter<'a>) {
        if let Some(latencies) = &mut self.latencies {
            latencies.log_to(log);
        }
    }

    /// Restarts the chain: the lane begins now.
    pub fn begin(&mut self) {
        self.last = self.clock.now();
        if let Some(latencies) = &mut self.latencies {
            latencies.begin(self.last);
        }
    }

    /// Returns all latencies, and what is not logged yet.
    pub fn finish(self) -> (Histogram, Option<LogEntry>) {
        self.latencies.map(Latencies::finish).unwrap_or_default()
    }

    /// Restarts the chain: the next operation starts at this reading of the clock.
    #[inline(always)]
    pub fn restart(&mut self, start: u64) {
        self.last = start;
    }

    /// Returns the clock's reading at the end of the last timed operation, or at the begin.
    #[inline(always)]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Returns when an operation ended for which [`Meter::end`] returned `ended`.
    #[inline(always)]
    pub fn known_end(&mut self, ended: u64) -> u64 {
        if ended > 0 {
            return ended;
        }
        self.last = self.clock.now();
        self.last
    }

    /// Renumbers: the operation that would have been number `from` is number `to`.
    pub fn renumber(&mut self, from: u64, to: u64) {
        if self.one_in > 0 {
            // Negative (wrapped) where the window began in the pass before.
            self.next = to.wrapping_add(self.next.wrapping_sub(from));
            self.window = to.wrapping_add(self.window.wrapping_sub(from));
        }
    }

    /// Returns the start of operation `index`; 0 where it is not timed.
    #[inline(always)]
    pub fn start(&mut self, index: u64) -> u64 {
        if index < self.next { 0 } else { self.read_clock() }
    }

    /// Reads the clock. Not by a `match`, which would become a jump table.
    #[inline(always)]
    fn read_clock(&mut self) -> u64 {
        if self.chained {
            self.last
        } else if self.one_in == 0 {
            self.clock.now()
        } else {
            // Before the reading, which is inlined: returning from a call would be timed, too.
            self.choose_next();
            self.clock.now_ordered()
        }
    }

    /// Ends an operation that started at `start`; returns when, or 0 where it is not timed.
    #[inline(always)]
    pub fn end(&mut self, start: u64) -> u64 {
        if start == 0 {
            return 0;
        }
        if self.one_in == 0 {
            let now = self.clock.now();
            self.last = now;
            self.record(start, now);
            now
        } else {
            let now = self.clock.now_ordered();
            self.record_cold(start, now);
            now
        }
    }

    /// Chooses the next timed operation; outlined to keep the loop small.
    #[inline(never)]
    fn choose_next(&mut self) {
        self.window = self.window.wrapping_add(self.one_in);
        self.next = self.window.wrapping_add(self.random_below(self.one_in));
    }

    #[inline(never)]
    fn record_cold(&mut self, start: u64, end: u64) {
        self.record(start, end);
    }

    #[inline(always)]
    fn record(&mut self, start: u64, end: u64) {
        let Some(latencies) = &mut self.latencies else { return };
        if end >= latencies.boundary() {
            latencies.collect(end);
            // The next one starts after that.
            self.last = self.clock.now();
        }
        latencies.record(self.clock.nanos(start, end).saturating_sub(self.overhead));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the timed operations of `passes` over `quota`, as (pass, index).
    fn timed(how: Timed, quota: u64, passes: u64) -> Vec<(u64, u64)> {
        let mut meter = Meter::new(Clock::best(), how, quota * passes);
        let mut found = Vec::new();
        for pass in 0..passes {
            for index in 0..quota {
                let start = meter.start(index);
                found.extend((start != 0).then_some((pass, index)));
                meter.end(start);
            }
            meter.renumber(quota, 0);
        }
        assert_eq!(meter.finish().0.count(), found.len() as u64);
        found
    }

    #[test]
    fn one_in_n_is_timed_randomly() {
        for (quota, passes) in [(6400, 10), (16, 4000), (1000, 64), (64_000, 1), (1, 64_000)] {
            let found = timed(Timed::OneIn(64), quota, passes);
            let numbers: Vec<u64> =
                found.iter().map(|(pass, index)| pass * quota + index).collect();
            let windows: Vec<u64> = numbers.iter().map(|number| number / 64).collect();
            assert_eq!(windows, (0..quota * passes / 64).collect::<Vec<_>>(), "{quota} x {passes}");
            // Uniform over the quarters of the 64, and of the pass where it has quarters: 1000, so
            // 250 each, with a standard deviation of 14.
            for place in [
                |at: &(u64, u64), quota| (at.0 * quota + at.1) % 64 / 16,
                |at: &(u64, u64), quota| at.1 * 4 / quota,
            ] {
                let mut quarters = [0; 4];
                found.iter().for_each(|at| quarters[place(at, quota) as usize] += 1);
                assert!(
                    quota == 1 || quarters.iter().all(|n| (150..350).contains(n)),
                    "{quota} x {passes}: {quarters:?}"
                );
            }
        }
    }

    #[test]
    fn the_cost_of_readings_is_subtracted() {
        let mut meter = Meter::new(Clock::best(), Timed::OneIn(1), u64::MAX);
        assert!(meter.overhead > 0);
        (0..1000).for_each(|index| {
            let start = meter.start(index);
            meter.end(start);
        });
        let overhead = meter.overhead;
        let least = meter.finish().0.min();
        assert!(least < overhead, "{least} beyond {overhead} ns");
    }

    #[test]
    fn latencies_are_collected_at_boundaries() {
        for how in [Timed::Chained, Timed::Precise, Timed::OneIn(1)] {
            let mut meter = Meter::new(Clock::best(), how, 10);
            meter.begin();
            let first = meter.start(0);
            meter.end(first);
            // Long over.
            meter.latencies.as_mut().unwrap().begin(0);
            let second = meter.start(1);
            meter.end(second);
            let latencies = meter.latencies.as_ref().unwrap();
            assert!(latencies.boundary() > second, "{how:?}");
            assert!(how != Timed::Chained || meter.last > second);
            // The second one ended after the boundary.
            assert_eq!(latencies.collected(), 1, "{how:?}");
            assert_eq!(meter.finish().0.count(), 2);
        }
    }

    #[test]
    fn at_least_one_operation_is_timed() {
        for quota in 1..64 {
            assert_eq!(timed(Timed::OneIn(64), quota, 1).len(), 1, "{quota}");
        }
        assert_eq!(timed(Timed::Chained, 5, 2).len(), 10);
        assert_eq!(timed(Timed::Precise, 5, 2).len(), 10);
        assert_eq!(timed(Timed::None, 5, 2), []);
    }
}
