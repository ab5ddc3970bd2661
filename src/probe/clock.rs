//! `clock`: what reading a clock costs, and the smallest step that it shows.

use std::hint::black_box;

use super::known::{Known, has_only, text};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;
use crate::sys::clock::{
    counter, counter_ordered, counter_picos, has_ordered_counter, monotonic_nanos, nanos_of,
};

pub(super) struct Clocks;

static INFO: ProbeInfo = ProbeInfo {
    id: "clock",
    group: Group::Cpu,
    title: "clock reading",
    about: "reading a clock, and the smallest step that it shows",
    doc: "Reads one clock again and again, and subtracts the loop around it. The CPU's counter (rdtsc, cntvct) is read by one instruction; \
          ordered (rdtscp, isb) it first waits for everything before it. CLOCK_MONOTONIC reads the same counter in the vDSO, a piece of \
          kernel code in every process, and adds the kernel's base; the coarse one returns what the last timer tick left there, and the \
          CPU time of the thread has to ask the kernel. The resolution is the least difference between two readings that differ. \
          Whatever is measured by a clock is uncertain by one reading and one step: batches are made long for this reason.",
    makes_files: false,
    params: &[],
};

/// Cycles of one reading.
const SOURCES: &[Known<Source>] = &[
    Known {
        name: "counter",
        what: Source::Counter,
        range: (18.0, 40.0),
        why: "one instruction that is made of many inside",
    },
    Known {
        name: "counter-ordered",
        what: Source::Ordered,
        range: (25.0, 70.0),
        why: "the same, which also waits for what stands before it",
    },
    Known {
        name: "monotonic",
        what: Source::Kernel(libc::CLOCK_MONOTONIC),
        range: (35.0, 110.0),
        why: "an ordered reading, a call into the vDSO and a multiplication",
    },
    Known {
        name: "coarse",
        what: Source::Kernel(libc::CLOCK_MONOTONIC_COARSE),
        range: (8.0, 40.0),
        why: "a call into the vDSO and two loads; no counter is read",
    },
    Known {
        name: "thread",
        what: Source::Kernel(libc::CLOCK_THREAD_CPUTIME_ID),
        range: (200.0, 1500.0),
        why: "a system call, and the scheduler's books",
    },
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    Counter,
    Ordered,
    Kernel(libc::clockid_t),
}

fn source(cell: &ProbeCell) -> Option<&'static Known<Source>> {
    Known::of(SOURCES, cell, "source")
}

fn is_resolution(cell: &ProbeCell) -> bool {
    text(cell, "part") == Some("resolution")
}

impl Probe for Clocks {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        let cost =
            SOURCES.iter().map(|known| ProbeCell::new(INFO.id, [("source", known.name.into())]));
        let part = |name: &'static str| {
            ProbeCell::new(INFO.id, [("source", name.into()), ("part", "resolution".into())])
        };
        cost.chain(SOURCES.iter().map(|known| part(known.name))).collect()
    }

    fn check(&self, cell: &ProbeCell, _: &Site) -> Result<(), String> {
        match source(cell).map(|known| known.what) {
            Some(Source::Ordered) if !has_ordered_counter() => Err("this CPU has no rdtscp".into()),
            Some(Source::Counter | Source::Ordered)
                if is_resolution(cell) && counter_picos(1).is_none() =>
            {
                Err("the CPU's counter is no sound clock here".into())
            }
            _ => Ok(()),
        }
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let known = source(cell)?;
        if !is_resolution(cell) {
            return known.in_cycles(site);
        }
        let estimate =
            |low, high, reason: &str| Some(Estimate { low, high, reason: reason.into() });
        match known.what {
            Source::Kernel(libc::CLOCK_MONOTONIC_COARSE) => {
                estimate(1e6, 10e6, "one tick of the kernel's timer: 1000, 250 or 100 a second")
            }
            Source::Kernel(libc::CLOCK_THREAD_CPUTIME_ID) => {
                estimate(1.0, 1500.0, "it counts nanoseconds; two readings are a system call apart")
            }
            _ => estimate(
                1.0,
                40.0,
                "a counter at its own rate, or at that of the hypervisor; two readings are some cycles apart",
            ),
        }
    }

    fn open(&self, cell: &ProbeCell, _: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let known = source(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        match is_resolution(cell) {
            false if has_only(cell, &["source"]) => Ok(Box::new(Reading(known.what))),
            true if has_only(cell, &["source", "part"]) => Ok(Box::new(Step(known.what))),
            _ => Err(ProbeError::unknown(cell)),
        }
    }
}

/// The cost of a reading.
struct Reading(Source);

impl Gauge for Reading {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        fn each(count: u64, read: impl Fn() -> u64) -> Took {
            Took::around(count, || {
                for _ in 0..count {
                    black_box(read());
                }
            })
        }
        Ok(match self.0 {
            Source::Counter => each(count, counter),
            Source::Ordered => each(count, counter_ordered),
            Source::Kernel(clock) => each(count, move || nanos_of(clock)),
        })
    }
}

/// The least step between two readings that differ.
struct Step(Source);

/// A clock that steps once in 10 ms is waited for, one that stands still is not.
const PATIENCE: u64 = 50_000_000;

fn least_step(count: u64, read: impl Fn() -> u64) -> Option<u64> {
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
        if turn.is_multiple_of(1024) && monotonic_nanos() - begin > PATIENCE {
            break;
        }
    }
    least
}

impl Gauge for Step {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let least = match self.0 {
            Source::Counter => least_step(count, counter).and_then(counter_picos),
            Source::Ordered => least_step(count, counter_ordered).and_then(counter_picos),
            Source::Kernel(clock) => {
                least_step(count, || nanos_of(clock)).map(|nanos| nanos * 1000)
            }
        };
        // A step may be less than a nanosecond: it is told as a thousand of them.
        let nanos =
            least.ok_or_else(|| ProbeError::Missing("the clock stood still for 50 ms".into()))?;
        Ok(Took { nanos, amount: 1000.0, ..Took::default() })
    }

    fn most(&self) -> u64 {
        4096
    }
}
