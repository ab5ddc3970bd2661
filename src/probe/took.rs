//! What one batch took, and what that makes an operation cost.

use super::Costs;
use crate::record::Unit;
use crate::sys::clock::Clock;

/// What a gauge measured in one batch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Took {
    /// Between the first and the last reading of the clock.
    pub nanos: u64,
    /// Operations, or bytes where the unit is of bytes.
    pub amount: f64,
    /// Turns of the loop that are within `nanos` and not meant to be measured.
    pub loops: u64,
    /// Readings of the clock that are within `nanos`; a pair of readings around a batch leaves one
    /// in it.
    pub readings: u64,
}

impl Took {
    /// `count` turns of a loop around one operation each, timed as a whole.
    pub fn around(count: u64, body: impl FnOnce()) -> Took {
        let clock = Clock::best();
        let begin = clock.now();
        body();
        let end = clock.now();
        Took { nanos: clock.nanos(begin, end), amount: count as f64, loops: count, readings: 1 }
    }

    /// As [`around`](Took::around), for operations so dear that the loop is nothing.
    pub fn whole(amount: f64, body: impl FnOnce()) -> Took {
        Took { amount, loops: 0, ..Took::around(0, body) }
    }

    /// Nanoseconds without the cost of clock and loop; never below 0.
    pub fn net(&self, costs: &Costs) -> f64 {
        let spent = self.readings as f64 * costs.clock_nanos + self.loops as f64 * costs.loop_nanos;
        (self.nanos as f64 - spent).max(0.0)
    }

    /// The value in `unit`; `None` where nothing was done.
    pub fn value(&self, unit: Unit, costs: &Costs) -> Option<f64> {
        let net = self.net(costs);
        let value = match unit {
            Unit::Nanos => net / self.amount,
            Unit::BytesPerSecond | Unit::PerSecond => self.amount * 1e9 / net,
            Unit::Bytes => self.amount,
        };
        (self.amount > 0.0 && value.is_finite()).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_and_loop_are_taken_out_once() {
        let costs = Costs { clock_nanos: 20.0, loop_nanos: 0.5 };
        let took = Took { nanos: 1020, amount: 100.0, loops: 100, readings: 1 };
        assert_eq!(took.value(Unit::Nanos, &costs), Some(9.5));
        assert_eq!(took.value(Unit::BytesPerSecond, &costs), Some(100.0 * 1e9 / 950.0));
        assert_eq!(took.value(Unit::Bytes, &costs), Some(100.0));
        assert_eq!(Took { nanos: 1, ..took }.value(Unit::Nanos, &costs), Some(0.0));
        // All of the time was clock and loop: a rate of that is no number.
        assert_eq!(Took { nanos: 1, ..took }.value(Unit::PerSecond, &costs), None);
        assert_eq!(Took { amount: 0.0, ..took }.value(Unit::Nanos, &costs), None);
    }
}
