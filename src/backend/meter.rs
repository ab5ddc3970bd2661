//! When an operation is timed, and into what.

use crate::stats::Histogram;
use crate::sys::clock::Clock;

/// Which operations of a trial are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    None,
    /// Every one; the end of one is the start of the next, so one clock reading each.
    Chained,
    /// Every one with a reading before and after: what happens between operations (XOR) is left out.
    Precise,
    /// One in so many (a power of two), with two readings: for operations that are not much dearer than a reading.
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
    /// Operation `index` is timed when `index & mask == phase`: one compare, where a `match` would become a jump table.
    mask: u64,
    phase: u64,
    chained: bool,
    last: u64,
    /// What a reading adds to an interval between two, nanoseconds; a chained reading is part of the work.
    own: u64,
    pub histogram: Histogram,
}

impl Meter {
    pub fn new(clock: Clock, timed: Timed) -> Meter {
        let (mask, phase) = match timed {
            // No index is 1 under an empty mask.
            Timed::None => (0, 1),
            Timed::Chained | Timed::Precise => (0, 0),
            Timed::OneIn(n) => (u64::from(n.next_power_of_two()) - 1, 0),
        };
        let own = if matches!(timed, Timed::Precise | Timed::OneIn(_)) { clock.reading() } else { 0 };
        Meter { clock, mask, phase, chained: timed == Timed::Chained, last: clock.now(), own, histogram: Histogram::new() }
    }

    /// Restarts the chain: the lane begins now.
    pub fn begin(&mut self) {
        self.last = self.clock.now();
    }

    /// The start of operation `index`; 0 where it is not timed.
    #[inline(always)]
    pub fn start(&self, index: u64) -> u64 {
        if index & self.mask != self.phase {
            0
        } else if self.chained {
            self.last
        } else {
            self.clock.now()
        }
    }

    #[inline(always)]
    pub fn end(&mut self, start: u64) {
        if start != 0 {
            let now = self.clock.now();
            self.histogram.record(self.clock.nanos(start, now).saturating_sub(self.own));
            self.last = now;
        }
    }
}
