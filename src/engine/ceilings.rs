//! What this machine can reach: bare loops, at most [`MOST`] long, before the first cell.

use std::sync::RwLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::backend::fold;
use crate::record::Ceilings;
use crate::sys::allowance::free_memory;
use crate::sys::bandwidth::copy;
use crate::sys::buffer::Buffer;
use crate::sys::calls;
use crate::sys::clock::{Clock, monotonic_nanos};
use crate::sys::usage::RunQueue;
use crate::with_fill;

/// No round of all kinds begins later than this; the last one ends some 100 ms after it.
const MOST: Duration = Duration::from_millis(400);

/// Passes of each loop, the kinds in turn, so that a disturbance does not meet one of them only.
const PASSES: usize = 4;

/// What is copied into: a common block size that stays in the second cache.
const WINDOW: usize = 128 << 10;

/// Memory that the loops go over: beyond the last cache where there is room.
const LEAST: u64 = 32 << 20;
const LARGEST: u64 = 192 << 20;

/// Measures; takes up to half a second and, for that time, at most a quarter of the memory that is
/// free.
pub fn measure(last_cache: u64) -> Ceilings {
    let begin = Instant::now();
    let threads = thread::available_parallelism().map_or(1, |n| n.get()).min(64);
    let over = room(last_cache);
    let mut ceilings = Ceilings {
        syscall_nanos: Some(syscall()),
        clock_nanos: Some(clock()),
        threads: threads as u32,
        over,
        ..Ceilings::default()
    };
    // All threads share what one thread goes over: the same memory is needed for both.
    let Some(mut benches) =
        (0..threads).map(|_| Bench::new(over as usize / threads)).collect::<Option<Vec<_>>>()
    else {
        return ceilings;
    };
    let late = || begin.elapsed() > MOST;
    for pass in 0..PASSES {
        // At least one pass of each.
        if pass > 0 && late() {
            break;
        }
        for kind in [Kind::Copy, Kind::CopyString] {
            better(&mut ceilings.copy, one(&benches, kind));
        }
        better(&mut ceilings.read, one(&benches, Kind::Read));
        if threads > 1 {
            for (rate, kind) in
                [(&mut ceilings.copy_all, Kind::Copy), (&mut ceilings.read_all, Kind::Read)]
            {
                better(rate, all(&mut benches, kind));
            }
        }
    }
    ceilings
}

fn room(last_cache: u64) -> u64 {
    let free = free_memory().unwrap_or(LEAST * 4);
    last_cache.saturating_mul(4).clamp(LEAST, LARGEST).min(free / 4).max(1 << 20)
}

/// Memory of one thread.
struct Bench {
    memory: Buffer,
    window: Buffer,
}

#[derive(Clone, Copy)]
enum Kind {
    Copy,
    CopyString,
    Read,
}

impl Bench {
    fn new(len: usize) -> Option<Bench> {
        Some(Bench {
            memory: Buffer::new(len.max(WINDOW)).ok()?,
            window: Buffer::new(WINDOW).ok()?,
        })
    }

    fn pass(&self, kind: Kind) {
        match kind {
            Kind::Copy => copy(&self.memory, &self.window, false),
            Kind::CopyString => copy(&self.memory, &self.window, true),
            Kind::Read => {
                std::hint::black_box(fold::buffer(&self.memory));
            }
        }
    }
}

/// Bytes per second of this thread over all of the memory.
fn one(benches: &[Bench], kind: Kind) -> f64 {
    rate(benches, running(|| benches.iter().for_each(|bench| bench.pass(kind))))
}

/// Nanoseconds that this thread took, without those in which it was ready and another task had its
/// CPU.
fn running(work: impl FnOnce()) -> u64 {
    let queue = RunQueue::of_this_thread();
    let (queued, begin) = (queue.nanos(), monotonic_nanos());
    work();
    let took = monotonic_nanos() - begin;
    took.saturating_sub(queue.since(queued).unwrap_or(0))
}

/// Bytes per second of a thread for each bench, until the slowest has ended; 0 where threads cannot
/// start.
fn all(benches: &mut [Bench], kind: Kind) -> f64 {
    let gate = RwLock::new(());
    let work = |bench: &mut Bench| {
        drop(gate.read());
        running(|| bench.pass(kind))
    };
    let times: Option<Vec<u64>> = thread::scope(|scope| {
        let closed = gate.write();
        let spawn = |bench| thread::Builder::new().spawn_scoped(scope, || work(bench)).ok();
        let threads: Vec<_> = benches.iter_mut().map(spawn).collect();
        drop(closed);
        threads.into_iter().map(|thread| thread?.join().ok()).collect()
    });
    times.and_then(|times| times.into_iter().max()).map_or(0.0, |longest| rate(benches, longest))
}

fn rate(benches: &[Bench], nanos: u64) -> f64 {
    let bytes: usize = benches.iter().map(|bench| bench.memory.len()).sum();
    bytes as f64 * 1e9 / nanos.max(1) as f64
}

fn better(best: &mut Option<f64>, rate: f64) {
    if rate > 0.0 {
        *best = Some(best.map_or(rate, |best| best.max(rate)));
    }
}

/// Nanoseconds of one getpid(2): it enters the kernel and returns.
pub(super) fn syscall() -> f64 {
    least(|count| {
        with_fill!(FILL => for _ in 0..count {
            std::hint::black_box(calls::getpid::<FILL>());
        })
    })
}

/// Nanoseconds of one reading.
fn clock() -> f64 {
    let clock = Clock::best();
    least(|count| {
        for _ in 0..count {
            std::hint::black_box(clock.now());
        }
    })
}

/// The least of several batches, nanoseconds of one.
fn least(run: impl Fn(u64)) -> f64 {
    const COUNT: u64 = 2_000;
    let batch = || {
        let begin = monotonic_nanos();
        run(COUNT);
        (monotonic_nanos() - begin) as f64 / COUNT as f64
    };
    (0..24).map(|_| batch()).min_by(f64::total_cmp).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_there_and_of_a_sane_size() {
        let ceilings = measure(1 << 20);
        let (call, clock) = (ceilings.syscall_nanos.unwrap(), ceilings.clock_nanos.unwrap());
        assert!(call > 1.0 && call < 1e6 && clock > 0.1 && clock < 1e5, "{ceilings:?}");
        for rate in [ceilings.copy, ceilings.read] {
            assert!(rate.is_some_and(|rate| rate > 1e7 && rate < 1e13), "{ceilings:?}");
        }
        assert_eq!(ceilings.copy_all.is_some(), ceilings.threads > 1);
        assert_eq!(ceilings.over, LEAST.min(ceilings.over));
    }

    #[test]
    fn memory_is_bounded_whatever_the_cache() {
        for cache in [0, 1 << 20, 64 << 20, u64::MAX] {
            assert!((1 << 20..=LARGEST).contains(&room(cache)));
        }
    }
}
