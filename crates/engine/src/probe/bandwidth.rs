//! `bandwidth`: memory read, write and copy throughput of one thread and of all CPUs.
#![allow(unsafe_code)]

use std::hint::black_box;
use std::io;
use std::sync::RwLock;
use std::thread;

use super::map::Map;
use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamRow, ParamSource, ProbeContext, ProbeError,
    param_rows,
};
use crate::record::{Estimate, Unit};
use crate::sys::clock::monotonic_nanos;
use crate::sys::threads::Affinity;

param_rows! {
    /// Expected bytes per second of one thread.
    OPS: MemoryOp;
    "read" => Read, (5e9, 40e9), "10-20 cache lines of 64 bytes in flight at 60-100 ns each";
    "write" => Write, (4e9, 40e9), "like read, but each line is often read before it is written";
    "copy" => Copy, (3e9, 20e9), "each byte is read and written: about half of read";
}

/// Maximum working set; a larger one would not be slower.
const MAX_BYTES: u64 = 256 << 20;

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let one_and_all = |context: &ProbeContext, _| match context.cpus.len() as u64 {
        0 | 1 => vec![1],
        all => vec![1, all],
    };
    let threads = source.number_among("threads", Some(1), &one_and_all)?;
    let op = source.row("op", OPS)?;
    if !(1..=1024).contains(&threads) {
        return None;
    }
    Some(Box::new(MemoryBandwidth { op, threads: threads as usize }))
}

struct MemoryBandwidth {
    op: &'static ParamRow<MemoryOp>,
    threads: usize,
}

impl KnownCell for MemoryBandwidth {
    fn unit(&self) -> Unit {
        Unit::BytesPerSecond
    }

    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        if self.threads > context.cpus.len().max(1) {
            return Err(format!("this process may use only {} CPUs", context.cpus.len()));
        }
        context.check_memory(working_set_bytes(context))
    }

    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        let (estimate, threads) = (self.op.as_estimate()?, self.threads);
        let reason = if threads > 1 {
            format!("{}; more with {threads} threads, up to the memory limit", estimate.reason)
        } else {
            estimate.reason
        };
        Some(Estimate { high: estimate.high * threads as f64, reason, ..estimate })
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let threads = self.threads;
        let each = (working_set_bytes(context) as usize / threads).next_multiple_of(1 << 16);
        let parts =
            (0..threads).map(|_| Map::anonymous(each, true)).collect::<Result<Vec<_>, _>>()?;
        let cpus = if threads > 1 { context.cpus.clone() } else { Vec::new() };
        // Touched by the threads that use it: the first touch decides the NUMA node of a page.
        match parts.as_slice() {
            [part] => part.touch(),
            parts => _ = run_together(parts, &cpus, &Map::touch)?,
        }
        Ok(Box::new(MemoryPasses { op: self.op.value, parts, cpus, context: context.clone() }))
    }
}

/// Returns four times the size of the last-level cache, within bounds, for all threads together.
fn working_set_bytes(context: &ProbeContext) -> u64 {
    context.host.last_cache().saturating_mul(4).clamp(32 << 20, MAX_BYTES)
}

struct MemoryPasses {
    op: MemoryOp,
    parts: Vec<Map>,
    /// One per thread; empty for the calling thread only.
    cpus: Vec<usize>,
    context: ProbeContext,
}

impl Gauge for MemoryPasses {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let bytes: usize = self.parts.iter().map(|part| bytes_per_pass(self.op, part.len())).sum();
        let amount = bytes as f64 * count as f64;
        let work = |part: &Map| {
            (0..count)
                .take_while(|_| !self.context.is_stopping())
                .for_each(|_| run_pass(self.op, part))
        };
        let batch = match self.parts.as_slice() {
            [part] => BatchTime::of_block(amount, || work(part)),
            parts => BatchTime {
                nanos: run_together(parts, &self.cpus, &work)?,
                amount,
                ..BatchTime::default()
            },
        };
        self.context.check_stop().map(|()| batch)
    }

    fn max_batch(&self) -> u64 {
        1 << 16
    }
}

/// Runs `work` on a thread per part and returns the nanoseconds from the first start to the last
/// end.
fn run_together(
    parts: &[Map],
    cpus: &[usize],
    work: &(impl Fn(&Map) + Sync),
) -> Result<u64, ProbeError> {
    let gate = RwLock::new(());
    let one = |part: &Map, cpu: Option<&usize>| {
        let pinned = cpu.map_or(Ok(()), |cpu| Affinity::only(*cpu).apply());
        drop(gate.read());
        let begin = monotonic_nanos();
        work(part);
        pinned.map(|()| (begin, monotonic_nanos()))
    };
    let times: io::Result<Vec<(u64, u64)>> = thread::scope(|scope| {
        let closed = gate.write();
        let spawn = |(at, part)| {
            thread::Builder::new().spawn_scoped(scope, {
                let one = &one;
                move || one(part, cpus.get(at))
            })
        };
        let threads: Vec<_> = parts.iter().enumerate().map(spawn).collect();
        drop(closed);
        threads
            .into_iter()
            .map(|thread| thread?.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())))
            .collect()
    });
    let times = times.map_err(ProbeError::in_call("a thread on each CPU"))?;
    let (begin, end) =
        (times.iter().map(|(begin, _)| *begin).min(), times.iter().map(|(_, end)| *end).max());
    Ok(end.unwrap_or(0).saturating_sub(begin.unwrap_or(0)))
}

/// Returns the bytes counted for one pass over `len` bytes.
fn bytes_per_pass(op: MemoryOp, len: usize) -> usize {
    if op == MemoryOp::Copy { len / 2 } else { len }
}

fn run_pass(op: MemoryOp, part: &Map) {
    let (start, len) = (part.address(0), part.len());
    // SAFETY: all accesses are within the mapping, which only this thread uses; the halves of a
    // copy do not overlap.
    unsafe {
        match op {
            MemoryOp::Read => {
                black_box(sum(std::slice::from_raw_parts(start.cast::<u64>(), len / 8)));
            }
            MemoryOp::Write => std::ptr::write_bytes(start, black_box(0x5a), len),
            MemoryOp::Copy => std::ptr::copy_nonoverlapping(start, start.add(len / 2), len / 2),
        }
    }
    black_box(start);
}

/// Sums all words with the widest loads this CPU supports.
fn sum(words: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2, which the function is compiled for, was detected just before.
        return unsafe { sum_wide(words) };
    }
    add(words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_wide(words: &[u64]) -> u64 {
    add(words)
}

/// Sums in 32 independent accumulators, so that no addition waits for another.
#[inline(always)]
fn add(words: &[u64]) -> u64 {
    let (chunks, rest) = words.as_chunks::<32>();
    let mut sums = [0u64; 32];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
    }
    sums.iter().chain(rest).fold(0, |all, word| all.wrapping_add(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_are_added_up() {
        for len in [0, 1, 31, 32, 33, 1000] {
            let words: Vec<u64> = (0..len).map(|n| n * 0x9e37_79b9).collect();
            assert_eq!(sum(&words), words.iter().sum::<u64>());
        }
    }

    #[test]
    fn copy_and_write_fill_their_ranges() {
        let map = Map::anonymous(1 << 16, false).unwrap();
        (0..map.len()).for_each(|at| map.store(at, (at % 251) as u8));
        run_pass(MemoryOp::Copy, &map);
        let half = map.len() / 2;
        assert!((0..half).all(|at| map.load(at) == map.load(half + at)));
        run_pass(MemoryOp::Write, &map);
        assert!((0..map.len()).all(|at| map.load(at) == 0x5a));
    }
}
