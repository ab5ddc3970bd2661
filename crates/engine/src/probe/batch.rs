//! The time of one batch, and the value computed from it, without the overhead of measuring.
#![allow(unsafe_code)]

use super::error::ProbeError;
use crate::record::Unit;
use crate::sys::clock::Clock;

/// Time and amount of work of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BatchTime {
    /// Nanoseconds between the first and the last clock reading.
    pub nanos: u64,
    /// Operations, or bytes if the unit is in bytes.
    pub amount: f64,
    /// Loop iterations within `nanos` whose overhead is to be subtracted.
    pub loops: u64,
    /// Clock readings within `nanos`; a pair of readings around a batch adds the time of one.
    pub readings: u64,
}

impl BatchTime {
    /// Times `body`, a loop of `count` iterations of one operation each.
    pub fn of_loop(count: u64, body: impl FnOnce()) -> BatchTime {
        let clock = Clock::best();
        let begin = clock.now();
        body();
        let end = clock.now();
        BatchTime {
            nanos: clock.nanos(begin, end),
            amount: count as f64,
            loops: count,
            readings: 1,
        }
    }

    /// Times `body`, which does `amount` operations so expensive that loop overhead is negligible.
    pub fn of_block(amount: f64, body: impl FnOnce()) -> BatchTime {
        BatchTime { amount, loops: 0, ..BatchTime::of_loop(0, body) }
    }

    /// Times `body` as [`of_block`](BatchTime::of_block) does; an error of `body` is the result.
    pub fn of_work(
        amount: f64,
        body: impl FnOnce() -> Result<(), ProbeError>,
    ) -> Result<BatchTime, ProbeError> {
        let mut done = Ok(());
        let batch = BatchTime::of_block(amount, || done = body());
        done.map(|()| batch)
    }

    /// Returns the nanoseconds without the overhead of clock and loop, at least 0.
    pub fn net(&self, costs: &Overhead) -> f64 {
        let spent = self.readings as f64 * costs.clock_nanos + self.loops as f64 * costs.loop_nanos;
        (self.nanos as f64 - spent).max(0.0)
    }

    /// Returns the value in `unit`; `None` if nothing was done or the value is not finite.
    pub fn value(&self, unit: Unit, costs: &Overhead) -> Option<f64> {
        let net = self.net(costs);
        let value = match unit {
            Unit::Nanos => net / self.amount,
            Unit::BytesPerSecond | Unit::PerSecond => self.amount * 1e9 / net,
            Unit::Bytes => self.amount,
        };
        (self.amount > 0.0 && value.is_finite()).then_some(value)
    }
}

/// Measurement overhead on the calling thread and CPU, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Overhead {
    /// One reading of the clock that times batches.
    pub clock_nanos: f64,
    /// One iteration of an empty loop.
    pub loop_nanos: f64,
}

impl Overhead {
    /// Measures both in about 2 ms. Takes the minimum of several batches, since disturbances only
    /// add time.
    pub fn measure() -> Overhead {
        let clock = Clock::best();
        let batch = |count: u64, work: &dyn Fn()| {
            let begin = clock.now();
            work();
            clock.nanos(begin, clock.now()) as f64 / count as f64
        };
        let least = |count, work: &dyn Fn()| {
            (0..9).map(|_| batch(count, work)).min_by(f64::total_cmp).unwrap_or(0.0)
        };
        const READINGS: u64 = 5_000;
        const TURNS: u64 = 200_000;
        Overhead {
            clock_nanos: least(READINGS, &|| {
                for _ in 0..READINGS {
                    std::hint::black_box(clock.now());
                }
            }),
            loop_nanos: least(TURNS, &|| run_empty_loop(TURNS)),
        }
    }
}

/// Runs `count` empty iterations.
#[inline(never)]
pub(super) fn run_empty_loop(count: u64) {
    for _ in 0..count {
        opaque_nop();
    }
}

/// Runs an empty `asm!` block, which the compiler cannot remove from a loop.
#[inline(always)]
pub(super) fn opaque_nop() {
    // SAFETY: the template is empty, so it keeps the promises of its options: no memory, stack or
    // flags are touched.
    unsafe { std::arch::asm!("", options(nomem, nostack, preserves_flags)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overhead_is_subtracted_once() {
        let costs = Overhead { clock_nanos: 20.0, loop_nanos: 0.5 };
        let batch = BatchTime { nanos: 1020, amount: 100.0, loops: 100, readings: 1 };
        assert_eq!(batch.value(Unit::Nanos, &costs), Some(9.5));
        assert_eq!(batch.value(Unit::BytesPerSecond, &costs), Some(100.0 * 1e9 / 950.0));
        assert_eq!(batch.value(Unit::Bytes, &costs), Some(100.0));
        assert_eq!(BatchTime { nanos: 1, ..batch }.value(Unit::Nanos, &costs), Some(0.0));
        // All of the time was clock and loop overhead: the rate would be infinite.
        assert_eq!(BatchTime { nanos: 1, ..batch }.value(Unit::PerSecond, &costs), None);
        assert_eq!(BatchTime { amount: 0.0, ..batch }.value(Unit::Nanos, &costs), None);
    }

    #[test]
    fn loop_costs_less_than_a_reading() {
        let costs = Overhead::measure();
        assert!(
            costs.loop_nanos > 0.0
                && costs.loop_nanos < costs.clock_nanos
                && costs.clock_nanos < 1e5,
            "{costs:?}"
        );
    }
}
