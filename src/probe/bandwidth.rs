//! `bandwidth`: memory read, written and copied, by one thread and by all.
#![allow(unsafe_code)]

use std::hint::black_box;
use std::io;
use std::sync::RwLock;
use std::thread;

use super::known::{Known, has_only, number};
use super::map::Map;
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::{Estimate, Unit};
use crate::sys::clock::monotonic_nanos;
use crate::sys::threads::Affinity;

pub(super) struct Bandwidth;

static INFO: ProbeInfo = ProbeInfo {
    id: "bandwidth",
    group: Group::Memory,
    title: "memory bandwidth",
    about: "bytes per second read, written and copied, by one thread and by all CPUs together",
    doc: "Goes through memory that is larger than the last cache: read adds up all words, write fills, copy copies one half to the other. \
          A byte that is copied counts once, though it is read and written. One thread is limited by how many lines it can have under way, \
          all threads together by the memory itself. A plain write first reads the line that it fills, unless the CPU sees that all of \
          it will be written, so write and copy lie below read. Memory is on huge pages where the kernel gives them.",
    makes_files: false,
    params: &[],
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Op {
    Read,
    Write,
    Copy,
}

/// Bytes per second of one thread.
const OPS: &[Known<Op>] = &[
    Known {
        name: "read",
        what: Op::Read,
        range: (5e9, 40e9),
        why: "10-20 lines of 64 bytes under way at 60-100 ns each",
    },
    Known {
        name: "write",
        what: Op::Write,
        range: (4e9, 40e9),
        why: "as read, and each line is often read before it is written",
    },
    Known {
        name: "copy",
        what: Op::Copy,
        range: (3e9, 20e9),
        why: "each byte is read and written: about half",
    },
];

/// More would not be slower.
const MOST: u64 = 256 << 20;

fn parts(cell: &ProbeCell) -> Option<(&'static Known<Op>, usize)> {
    let op = Known::of(OPS, cell, "op")?;
    match number(cell, "threads") {
        Some(threads @ 2..=1024) if has_only(cell, &["op", "threads"]) => {
            Some((op, threads as usize))
        }
        None if has_only(cell, &["op"]) => Some((op, 1)),
        _ => None,
    }
}

impl Probe for Bandwidth {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        let one = OPS.iter().map(|op| ProbeCell::new(INFO.id, [("op", op.name.into())]));
        let threads = site.cpus.len() as u64;
        let all = OPS.iter().filter(|_| threads > 1).map(|op| {
            ProbeCell::new(INFO.id, [("op", op.name.into()), ("threads", threads.into())])
        });
        one.chain(all).collect()
    }

    fn unit(&self, _: &ProbeCell) -> Unit {
        Unit::BytesPerSecond
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        match parts(cell) {
            Some((_, threads)) if threads > site.cpus.len().max(1) => {
                Err(format!("this process may use {} CPUs", site.cpus.len()))
            }
            Some(_) => site.has_memory(beyond_caches(site)),
            None => Ok(()),
        }
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        let (op, threads) = parts(cell)?;
        let estimate = op.as_it_is()?;
        let reason = if threads > 1 {
            format!("{}; more with {threads} threads, until memory is the limit", estimate.reason)
        } else {
            estimate.reason
        };
        Some(Estimate { high: estimate.high * threads as f64, reason, ..estimate })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let (op, threads) = parts(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        self.check(cell, site).map_err(ProbeError::Missing)?;
        let each = (beyond_caches(site) as usize / threads).next_multiple_of(1 << 16);
        let parts =
            (0..threads).map(|_| Map::anonymous(each, true)).collect::<Result<Vec<_>, _>>()?;
        let cpus = if threads > 1 { site.cpus.clone() } else { Vec::new() };
        // By those who use it: memory lies at the node of the CPU that touched it first.
        match parts.as_slice() {
            [part] => part.touch(),
            parts => _ = together(parts, &cpus, &Map::touch)?,
        }
        Ok(Box::new(Passes { op: op.what, parts, cpus, site: site.clone() }))
    }
}

/// Four times the last cache, of which threads have a part each.
fn beyond_caches(site: &Site) -> u64 {
    site.host.last_cache().saturating_mul(4).clamp(32 << 20, MOST)
}

struct Passes {
    op: Op,
    parts: Vec<Map>,
    /// One for each thread; empty: this thread alone.
    cpus: Vec<usize>,
    site: Site,
}

impl Gauge for Passes {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let bytes: usize = self.parts.iter().map(|part| worked(self.op, part.len())).sum();
        let amount = bytes as f64 * count as f64;
        let work = |part: &Map| {
            (0..count).take_while(|_| !self.site.stopping()).for_each(|_| pass(self.op, part))
        };
        let took = match self.parts.as_slice() {
            [part] => Took::whole(amount, || work(part)),
            parts => Took { nanos: together(parts, &self.cpus, &work)?, amount, ..Took::default() },
        };
        self.site.go_on().map(|()| took)
    }

    fn most(&self) -> u64 {
        1 << 16
    }
}

/// Nanoseconds from the first start to the last end, of a thread for each part.
fn together(
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
    let times = times.map_err(ProbeError::of("a thread on each CPU"))?;
    let (begin, end) =
        (times.iter().map(|(begin, _)| *begin).min(), times.iter().map(|(_, end)| *end).max());
    Ok(end.unwrap_or(0).saturating_sub(begin.unwrap_or(0)))
}

/// Bytes that a pass counts.
fn worked(op: Op, len: usize) -> usize {
    if op == Op::Copy { len / 2 } else { len }
}

fn pass(op: Op, part: &Map) {
    let (start, len) = (part.at(0), part.len());
    // SAFETY: all within the mapping, which is this thread's alone; the halves of a copy do not
    // overlap.
    unsafe {
        match op {
            Op::Read => {
                black_box(sum(std::slice::from_raw_parts(start.cast::<u64>(), len / 8)));
            }
            Op::Write => std::ptr::write_bytes(start, black_box(0x5a), len),
            Op::Copy => std::ptr::copy_nonoverlapping(start, start.add(len / 2), len / 2),
        }
    }
    black_box(start);
}

/// All words added up, by the widest loads that this machine has.
fn sum(words: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has what the function is compiled for.
        return unsafe { sum_wide(words) };
    }
    add(words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_wide(words: &[u64]) -> u64 {
    add(words)
}

/// Eight sums side by side, so that no add waits for another.
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
    fn a_copy_copies_one_half_and_a_write_fills_all() {
        let map = Map::anonymous(1 << 16, false).unwrap();
        (0..map.len()).for_each(|at| map.store(at, (at % 251) as u8));
        pass(Op::Copy, &map);
        let half = map.len() / 2;
        assert!((0..half).all(|at| map.load(at) == map.load(half + at)));
        pass(Op::Write, &map);
        assert!((0..map.len()).all(|at| map.load(at) == 0x5a));
    }
}
