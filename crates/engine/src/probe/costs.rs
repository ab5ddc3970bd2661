//! Measurement overhead: subtracted from every value, and shown next to it.

use super::empty_loop::run_empty_loop;
use crate::sys::clock::Clock;

/// Measurement overhead on the calling thread and CPU, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Costs {
    /// One reading of the clock that times batches.
    pub clock_nanos: f64,
    /// One iteration of an empty loop.
    pub loop_nanos: f64,
}

impl Costs {
    /// Measures both in about 2 ms. Takes the minimum of several batches, since disturbances only
    /// add time.
    pub fn measure() -> Costs {
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
        Costs {
            clock_nanos: least(READINGS, &|| {
                for _ in 0..READINGS {
                    std::hint::black_box(clock.now());
                }
            }),
            loop_nanos: least(TURNS, &|| run_empty_loop(TURNS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_costs_less_than_a_reading() {
        let costs = Costs::measure();
        assert!(
            costs.loop_nanos > 0.0
                && costs.loop_nanos < costs.clock_nanos
                && costs.clock_nanos < 1e5,
            "{costs:?}"
        );
    }
}
