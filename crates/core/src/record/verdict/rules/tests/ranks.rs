//! For each rule about ranks, a cell that triggers it and one that nearly does.

use super::cells::{Example, example};
use crate::record::RankShare;
use crate::record::Severity::{Misleading, Note, Wrong};
use crate::record::verdict::testing::*;

/// Divides the work among ranks; `cached` bytes of each part are in the cache before.
fn ranks(case: &mut Case, cached: &[u64]) {
    let count = cached.len() as u64;
    let share = |(rank, cached): (usize, &u64)| RankShare {
        rank: rank as u32,
        bytes: SPAN / count,
        ops: SPAN / MIB / count,
        unique_bytes: SPAN / count,
        device_bytes: Some(SPAN / count - cached),
        resident_before: Some(*cached),
        ..RankShare::default()
    };
    case.each(|t| t.ranks = cached.iter().enumerate().map(share).collect());
}

/// Divides the work between two ranks, of which one is done so long before the other, nanoseconds.
fn late(case: &mut Case, nanos: u64) {
    ranks(case, &[0, 0]);
    case.each(|t| {
        t.ranks[0].nanos = t.nanos - nanos;
        t.ranks[1].nanos = t.nanos;
    });
}

/// Divides the work between two ranks, of which each takes half of the time, and the second starts
/// so long after the first, nanoseconds.
fn apart(case: &mut Case, nanos: u64) {
    ranks(case, &[0, 0]);
    case.each(|t| {
        t.ranks.iter_mut().for_each(|rank| rank.nanos = t.nanos / 2);
        (t.ranks[1].start, t.evidence.skew_nanos) = (nanos, nanos);
    });
}

/// Has two ranks with this many threads together, each bound to two CPUs.
fn bound(case: &mut Case, threads: u32) {
    ranks(case, &[0, 0]);
    (case.job.threads, case.machine.rank_cpus) = (threads, Some(2));
}

pub static RANKS: &[Example] = &[
    example("own-cache", Wrong, cold, |c| ranks(c, &[0, SPAN / 8]), |c| ranks(c, &[0, MIB])),
    example("own-cache", Misleading, asis, |c| ranks(c, &[SPAN / 2, 0]), |c| ranks(c, &[0, 0])),
    example("straggler", Note, cold, |c| late(c, 120_000_000), |c| late(c, 20_000_000)),
    // One that starts late is as quick as the other.
    example("straggler", Note, cold, |c| late(c, 120_000_000), |c| apart(c, 120_000_000)),
    example("uneven-start", Misleading, cold, |c| apart(c, 200_000_000), |c| apart(c, 100_000_000)),
    example("bound", Note, cold, |c| bound(c, 6), |c| bound(c, 4)),
];
