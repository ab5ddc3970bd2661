//! When an operation is timed, and into what.

use crate::stats::Histogram;
use crate::sys::clock::Clock;
use crate::sys::random::mix;

/// Which operations of a trial are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    None,
    /// Every one; the end of one is the start of the next, so one clock reading each.
    Chained,
    /// Every one with a reading before and after: what happens between operations (XOR) is left
    /// out.
    Precise,
    /// One in so many (a power of two), which one by chance, with two readings: for operations that
    /// are not much dearer than a reading.
    OneIn(u32),
}

impl Timed {
    /// One operation in so many is timed; 0 = none.
    pub fn every(self) -> u32 {
        match self {
            Timed::None => 0,
            Timed::Chained | Timed::Precise => 1,
            Timed::OneIn(n) => n,
        }
    }
}

/// A lane's clock and histogram.
#[derive(Debug)]
pub(super) struct Meter {
    clock: Clock,
    chained: bool,
    /// So many operations of which one is timed, by readings that wait; 0 = all or none are.
    one_in: u64,
    /// The operation that is timed next, by its place in the pass or claim under way: 0 where all
    /// are, `u64::MAX` where none is.
    next: u64,
    /// Where the operations begin of which it is the one.
    window: u64,
    /// What it is chosen by.
    chance: u64,
    last: u64,
    /// What a reading adds to an interval between two, nanoseconds; a chained reading is part of
    /// the work.
    own: u64,
    pub histogram: Histogram,
}

impl Meter {
    /// Of a lane that makes so many operations at least, if any.
    pub fn new(clock: Clock, how: Timed, operations: u64) -> Meter {
        let one_in = if let Timed::OneIn(n) = how { n.next_power_of_two().into() } else { 0 };
        let (chained, next) =
            (how == Timed::Chained, if how == Timed::None { u64::MAX } else { 0 });
        let own = if how == Timed::Precise { clock.reading() } else { 0 };
        let last = clock.now();
        let mut meter = Meter {
            clock,
            chained,
            one_in,
            next,
            window: 0,
            chance: last,
            last,
            own,
            histogram: Histogram::new(),
        };
        if one_in > 0 {
            meter.own = meter.nothing();
            // One at least.
            (meter.window, meter.next) = (0, meter.one_of(one_in.min(operations)));
        }
        meter
    }

    /// What is recorded of nothing, by the same calls: the least of many.
    fn nothing(&mut self) -> u64 {
        for _ in 0..64 {
            let start = self.reads();
            self.end(start);
        }
        std::mem::take(&mut self.histogram).pairs().first().map_or(0, |(nanos, _)| *nanos)
    }

    /// By chance: the first of each so many might be the first of every page, or of every pass.
    fn one_of(&mut self, operations: u64) -> u64 {
        self.chance = mix(self.chance);
        self.chance % operations.max(1)
    }

    /// Restarts the chain: the lane begins now.
    pub fn begin(&mut self) {
        self.last = self.clock.now();
    }

    /// The operation that would have been number `from` is number `to`.
    pub fn moved(&mut self, from: u64, to: u64) {
        if self.one_in > 0 {
            // Before the start, where the window has begun in the pass before.
            self.next = to.wrapping_add(self.next.wrapping_sub(from));
            self.window = to.wrapping_add(self.window.wrapping_sub(from));
        }
    }

    /// The start of operation `index`; 0 where it is not timed.
    #[inline(always)]
    pub fn start(&mut self, index: u64) -> u64 {
        if index < self.next { 0 } else { self.reads() }
    }

    /// Not by a `match`, which would become a jump table.
    #[inline(always)]
    fn reads(&mut self) -> u64 {
        if self.chained {
            self.last
        } else if self.one_in == 0 {
            self.clock.now()
        } else {
            // Before the reading, which is not in a call: the way back from there would be timed
            // too.
            self.choose();
            self.clock.alone()
        }
    }

    #[inline(always)]
    pub fn end(&mut self, start: u64) {
        if start == 0 {
            return;
        }
        if self.one_in == 0 {
            let now = self.clock.now();
            self.record(start, now);
            self.last = now;
        } else {
            let now = self.clock.alone();
            self.closes(start, now);
        }
    }

    /// The next one; out of the loop, which stays small.
    #[inline(never)]
    fn choose(&mut self) {
        self.window = self.window.wrapping_add(self.one_in);
        self.next = self.window.wrapping_add(self.one_of(self.one_in));
    }

    #[inline(never)]
    fn closes(&mut self, start: u64, end: u64) {
        self.record(start, end);
    }

    #[inline(always)]
    fn record(&mut self, start: u64, end: u64) {
        self.histogram.record(self.clock.nanos(start, end).saturating_sub(self.own));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operations of `passes` over `quota` that are timed, as (pass, index).
    fn timed(how: Timed, quota: u64, passes: u64) -> Vec<(u64, u64)> {
        let mut meter = Meter::new(Clock::best(), how, quota * passes);
        let mut found = Vec::new();
        for pass in 0..passes {
            for index in 0..quota {
                let start = meter.start(index);
                found.extend((start != 0).then_some((pass, index)));
                meter.end(start);
            }
            meter.moved(quota, 0);
        }
        assert_eq!(meter.histogram.count(), found.len() as u64);
        found
    }

    #[test]
    fn one_of_each_so_many_is_timed_and_not_always_the_same() {
        for (quota, passes) in [(6400, 10), (16, 4000), (1000, 64), (64_000, 1), (1, 64_000)] {
            let found = timed(Timed::OneIn(64), quota, passes);
            let numbers: Vec<u64> =
                found.iter().map(|(pass, index)| pass * quota + index).collect();
            let windows: Vec<u64> = numbers.iter().map(|number| number / 64).collect();
            assert_eq!(windows, (0..quota * passes / 64).collect::<Vec<_>>(), "{quota} x {passes}");
            // As many in each quarter of the 64, and of the pass, where it has quarters: 1000 (250
            // each) with a deviation of 14.
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
    fn what_the_readings_take_is_known_and_taken_out() {
        let mut meter = Meter::new(Clock::best(), Timed::OneIn(1), u64::MAX);
        assert!(meter.own > 0);
        (0..1000).for_each(|index| {
            let start = meter.start(index);
            meter.end(start);
        });
        assert!(
            meter.histogram.pairs()[0].0 < meter.own,
            "{:?} beyond {} ns",
            meter.histogram.pairs()[0],
            meter.own
        );
    }

    #[test]
    fn of_few_operations_one_is_timed_and_of_others_all_or_none() {
        for quota in 1..64 {
            assert_eq!(timed(Timed::OneIn(64), quota, 1).len(), 1, "{quota}");
        }
        assert_eq!(timed(Timed::Chained, 5, 2).len(), 10);
        assert_eq!(timed(Timed::Precise, 5, 2).len(), 10);
        assert_eq!(timed(Timed::None, 5, 2), []);
    }
}
