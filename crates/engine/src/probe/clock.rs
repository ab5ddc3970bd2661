//! `clock`: the cost of reading a clock, and its resolution.

use std::hint::black_box;

use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamRow, ParamSource, ProbeContext, ProbeError,
    param_rows,
};
use crate::record::Estimate;
use crate::sys::clock::{
    counter, counter_ordered, counter_picos, has_ordered_counter, monotonic_nanos, nanos_of,
};

param_rows! {
    /// Expected cycles of one reading.
    SOURCES: [ClockSource];
    "counter" => ClockSource::Counter, (18.0, 40.0), "one microcoded instruction";
    "counter-ordered" => ClockSource::Ordered, (25.0, 70.0),
        "the same, and a wait for all earlier instructions";
    "monotonic" => ClockSource::Kernel(libc::CLOCK_MONOTONIC), (35.0, 110.0),
        "an ordered reading, a call into the vDSO and a multiplication";
    "coarse" => ClockSource::Kernel(libc::CLOCK_MONOTONIC_COARSE), (8.0, 40.0),
        "a call into the vDSO and two loads, without reading the counter";
    "thread" => ClockSource::Kernel(libc::CLOCK_THREAD_CPUTIME_ID), (200.0, 1500.0),
        "a system call, and the scheduler's accounting";
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ClockSource {
    Counter,
    Ordered,
    Kernel(libc::clockid_t),
}

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let resolution = source.mark("part", "resolution", true)?;
    Some(Box::new(ClockCell { source: source.row("source", SOURCES)?, resolution }))
}

/// The clock, and whether its resolution is measured rather than the time of a reading.
struct ClockCell {
    source: &'static ParamRow<ClockSource>,
    resolution: bool,
}

impl KnownCell for ClockCell {
    fn check(&self, _: &ProbeContext) -> Result<(), String> {
        match self.source.value {
            ClockSource::Ordered if !has_ordered_counter() => Err("this CPU has no rdtscp".into()),
            ClockSource::Counter | ClockSource::Ordered
                if self.resolution && counter_picos(1).is_none() =>
            {
                Err("the CPU's counter is not a reliable clock on this machine".into())
            }
            _ => Ok(()),
        }
    }

    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        let ParamRow { value, range, why, .. } = self.source;
        if !self.resolution {
            return context.estimate_cycles(range.0, range.1, why);
        }
        let (low, high, reason) = match value {
            ClockSource::Kernel(libc::CLOCK_MONOTONIC_COARSE) => {
                (1e6, 10e6, "one tick of the kernel's timer: 1000, 250 or 100 per second")
            }
            ClockSource::Kernel(libc::CLOCK_THREAD_CPUTIME_ID) => {
                (1.0, 1500.0, "a clock in nanoseconds; two readings are a system call apart")
            }
            ClockSource::Counter | ClockSource::Ordered => (
                // It counts at most as fast as the CPU runs.
                context.cycle().map_or(0.2, |cycle| cycle.min(1.0)),
                40.0,
                "one step of a counter, or the cycles between two readings",
            ),
            _ => (
                1.0,
                40.0,
                "a counter at its own frequency, or at the hypervisor's; two readings are some \
                 cycles apart",
            ),
        };
        Some(Estimate { low, high, reason: reason.into() })
    }

    fn open(&self, _: &ProbeContext) -> Opened {
        fn each(count: u64, read: impl Fn() -> u64) -> BatchTime {
            BatchTime::of_loop(count, || {
                for _ in 0..count {
                    black_box(read());
                }
            })
        }
        let clock = self.source.value;
        if self.resolution {
            return Ok(Box::new(ClockStep(clock)));
        }
        Ok(Box::new(move |count| {
            Ok(match clock {
                ClockSource::Counter => each(count, counter),
                ClockSource::Ordered => each(count, counter_ordered),
                ClockSource::Kernel(clock) => each(count, move || nanos_of(clock)),
            })
        }))
    }
}

/// Finds the smallest step between two readings that differ.
struct ClockStep(ClockSource);

/// Nanoseconds to wait for a step: long enough for a clock with 10 ms ticks, short enough for one
/// that has stopped.
const STEP_TIMEOUT_NANOS: u64 = 50_000_000;

fn find_smallest_step(count: u64, read: impl Fn() -> u64) -> Option<u64> {
    let begin = monotonic_nanos();
    let (mut least, mut steps, mut turn, mut before) = (None, 0, 0u64, read());
    while steps < count {
        let now = read();
        if now > before {
            least = Some(least.unwrap_or(u64::MAX).min(now - before));
            steps += 1;
        }
        before = now;
        turn += 1;
        if turn.is_multiple_of(1024) && monotonic_nanos() - begin > STEP_TIMEOUT_NANOS {
            break;
        }
    }
    least
}

impl Gauge for ClockStep {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let least = match self.0 {
            ClockSource::Counter => find_smallest_step(count, counter).and_then(counter_picos),
            ClockSource::Ordered => {
                find_smallest_step(count, counter_ordered).and_then(counter_picos)
            }
            ClockSource::Kernel(clock) => {
                find_smallest_step(count, || nanos_of(clock)).map(|nanos| nanos * 1000)
            }
        };
        // A step may be shorter than a nanosecond, so it is in picoseconds and the amount is 1000.
        let nanos = least
            .ok_or_else(|| ProbeError::Missing("the clock did not advance for 50 ms".into()))?;
        Ok(BatchTime { nanos, amount: 1000.0, ..BatchTime::default() })
    }

    fn max_batch(&self) -> u64 {
        4096
    }
}
