//! Measures what this machine can reach, by bare loops before the first cell; takes up to
//! [`MAX_DURATION`] and the last pass.

use std::sync::RwLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::backend::fold;
use crate::record::Ceilings;
use crate::sys::buffer::{Buffer, copy};
use crate::sys::calls;
use crate::sys::clock::{Clock, monotonic_nanos};
use crate::sys::memory::free_memory;
use crate::sys::usage::RunQueue;
use crate::with_fill;

/// No pass begins later than this; the last one ends some 100 ms after it.
const MAX_DURATION: Duration = Duration::from_millis(400);

/// Passes of each loop; the kinds take turns, so that a disturbance does not hit only one.
const PASSES: usize = 4;

/// Size of the copy destination: a common block size that stays in the L2 cache.
const WINDOW: usize = 128 << 10;

/// Range of the memory that the loops read, bytes: larger than the last-level cache where there is
/// enough.
const MIN_MEMORY: u64 = 32 << 20;
const MAX_MEMORY: u64 = 192 << 20;

/// Measures the ceilings, in up to half a second with up to a quarter of the free memory.
pub fn measure(last_cache: u64) -> Ceilings {
    // Chosen at its first use, which would be within a timed pass.
    fold::compare();
    fold::fastest();
    let begin = Instant::now();
    let threads = thread::available_parallelism().map_or(1, |n| n.get()).min(64);
    let over = memory_size(last_cache);
    let mut ceilings = Ceilings {
        syscall_nanos: Some(syscall_nanos()),
        clock_nanos: Some(clock_nanos()),
        threads: threads as u32,
        over,
        ..Ceilings::default()
    };
    // The same memory serves one thread and, divided, all threads.
    let Some(mut memories) = (0..threads)
        .map(|_| ThreadMemory::new(over as usize / threads))
        .collect::<Option<Vec<_>>>()
    else {
        return ceilings;
    };
    let late = || begin.elapsed() > MAX_DURATION;
    for pass in 0..PASSES {
        // At least one pass of each.
        if pass > 0 && late() {
            break;
        }
        for kind in [LoopKind::Copy, LoopKind::CopyString] {
            keep_best(&mut ceilings.copy, single_thread_rate(&memories, kind));
        }
        keep_best(&mut ceilings.read, single_thread_rate(&memories, LoopKind::Read));
        if threads > 1 {
            for (rate, kind) in
                [(&mut ceilings.copy_all, LoopKind::Copy), (&mut ceilings.read_all, LoopKind::Read)]
            {
                keep_best(rate, all_threads_rate(&mut memories, kind));
            }
        }
    }
    ceilings
}

fn memory_size(last_cache: u64) -> u64 {
    let free = free_memory().unwrap_or(MIN_MEMORY * 4);
    last_cache.saturating_mul(4).clamp(MIN_MEMORY, MAX_MEMORY).min(free / 4).max(1 << 20)
}

/// The buffers of one thread.
struct ThreadMemory {
    source: Buffer,
    window: Buffer,
}

#[derive(Clone, Copy)]
enum LoopKind {
    Copy,
    CopyString,
    Read,
}

impl ThreadMemory {
    fn new(len: usize) -> Option<ThreadMemory> {
        Some(ThreadMemory {
            source: Buffer::new(len.max(WINDOW)).ok()?,
            window: Buffer::new(WINDOW).ok()?,
        })
    }

    fn pass(&self, kind: LoopKind) {
        match kind {
            LoopKind::Copy => copy(&self.source, &self.window, false),
            LoopKind::CopyString => copy(&self.source, &self.window, true),
            LoopKind::Read => {
                std::hint::black_box(fold::buffer(&self.source));
            }
        }
    }
}

/// Returns the bytes per second of this thread over all memory.
fn single_thread_rate(memories: &[ThreadMemory], kind: LoopKind) -> f64 {
    rate(memories, measure_run_time(|| memories.iter().for_each(|memory| memory.pass(kind))))
}

/// Returns the nanoseconds that `work` ran for, without those this thread waited for a CPU.
fn measure_run_time(work: impl FnOnce()) -> u64 {
    let queue = RunQueue::for_this_thread();
    run_time(monotonic_nanos, || queue.nanos().unwrap_or(0), work)
}

/// Takes the time waited off the time passed. The clock is read first and last: a wait between two
/// readings would else be taken off a time that lacks it, and the rest be too short, or nothing.
fn run_time(now: impl Fn() -> u64, waited: impl Fn() -> u64, work: impl FnOnce()) -> u64 {
    let (begin, before) = (now(), waited());
    work();
    let waited = waited().saturating_sub(before);
    (now() - begin).saturating_sub(waited)
}

/// Returns the bytes per second of one thread per memory, until the slowest has ended; 0 where
/// threads cannot start.
fn all_threads_rate(memories: &mut [ThreadMemory], kind: LoopKind) -> f64 {
    let gate = RwLock::new(());
    let work = |memory: &mut ThreadMemory| {
        drop(gate.read());
        measure_run_time(|| memory.pass(kind))
    };
    let times: Option<Vec<u64>> = thread::scope(|scope| {
        let closed = gate.write();
        let spawn = |memory| thread::Builder::new().spawn_scoped(scope, || work(memory)).ok();
        let threads: Vec<_> = memories.iter_mut().map(spawn).collect();
        drop(closed);
        threads.into_iter().map(|thread| thread?.join().ok()).collect()
    });
    times.and_then(|times| times.into_iter().max()).map_or(0.0, |longest| rate(memories, longest))
}

fn rate(memories: &[ThreadMemory], nanos: u64) -> f64 {
    let bytes: usize = memories.iter().map(|memory| memory.source.len()).sum();
    if nanos == 0 { 0.0 } else { bytes as f64 * 1e9 / nanos as f64 }
}

fn keep_best(best: &mut Option<f64>, rate: f64) {
    if rate > 0.0 {
        *best = Some(best.map_or(rate, |best| best.max(rate)));
    }
}

/// Returns the nanoseconds of one getpid(2), which enters the kernel and returns.
pub(super) fn syscall_nanos() -> f64 {
    min_nanos(|count| {
        with_fill!(FILL => for _ in 0..count {
            std::hint::black_box(calls::getpid::<FILL>());
        })
    })
}

/// Returns the nanoseconds of one clock reading.
fn clock_nanos() -> f64 {
    let clock = Clock::best();
    min_nanos(|count| {
        for _ in 0..count {
            std::hint::black_box(clock.now());
        }
    })
}

/// Returns the nanoseconds of one operation, the minimum of several batches of `run`.
fn min_nanos(run: impl Fn(u64)) -> f64 {
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
    use std::cell::Cell;

    use super::*;

    #[test]
    fn every_ceiling_is_measured_and_plausible() {
        let ceilings = measure(1 << 20);
        let (call, clock) = (ceilings.syscall_nanos.unwrap(), ceilings.clock_nanos.unwrap());
        assert!(call > 1.0 && call < 1e6 && clock > 0.1 && clock < 1e5, "{ceilings:?}");
        for rate in [ceilings.copy, ceilings.read] {
            assert!(rate.is_some_and(|rate| rate > 1e7 && rate < 1e13), "{ceilings:?}");
        }
        assert_eq!(ceilings.copy_all.is_some(), ceilings.threads > 1);
        assert_eq!(ceilings.over, MIN_MEMORY.min(ceilings.over));
    }

    #[test]
    fn waits_never_shorten_the_time() {
        // Another program takes the CPU for 50 ns before each reading; the work takes 100.
        let (time, queue) = (Cell::new(0), Cell::new(0));
        let wait = || {
            time.set(time.get() + 50);
            queue.set(queue.get() + 50);
        };
        let read = |value: &Cell<u64>| {
            wait();
            value.get()
        };
        let work = || time.set(time.get() + 100);
        assert!(run_time(|| read(&time), || read(&queue), work) >= 100);
        // The waiting time within the work is left out.
        let work = || {
            wait();
            time.set(time.get() + 100);
        };
        assert_eq!(run_time(|| time.get(), || queue.get(), work), 100);
        assert_eq!(rate(&[], 0), 0.0);
    }

    #[test]
    fn memory_is_bounded_whatever_the_cache() {
        for cache in [0, 1 << 20, 64 << 20, u64::MAX] {
            assert!((1 << 20..=MAX_MEMORY).contains(&memory_size(cache)));
        }
    }
}
