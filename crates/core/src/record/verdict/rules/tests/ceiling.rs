//! For each rule, a cell that triggers it and one that nearly does: ceilings, limits, stalls and
//! layers.

use super::cells::{Example, example};
use crate::plan::{Pattern, Rate};
use crate::record::Severity::{Misleading, Note};
use crate::record::verdict::testing::*;
use crate::record::{Ceilings, Latency, LinkCeiling, Throttle};

/// Sets the link of a cold cell, which reads 256 MiB in 300 ms: 895 MB/s.
fn link(case: &mut Case, bytes_per_second: f64) {
    case.target.link = Some(LinkCeiling { name: "SATA 6.0 Gbps".into(), bytes_per_second });
}

fn memory(case: &mut Case, rate: f64) {
    case.machine.ceilings = Some(Ceilings {
        copy: Some(rate / 2.0),
        read: Some(rate),
        threads: 2,
        ..Ceilings::default()
    });
}

/// Sets bare loops over this many bytes that were slower than the cell.
fn memory_over(case: &mut Case, over: u64) {
    memory(case, 600e6);
    case.machine.ceilings.iter_mut().for_each(|ceilings| ceilings.over = over);
}

/// Limits reads per second, in bytes and operations.
fn throttle(case: &mut Case, bytes: u64, reads: u64) {
    case.target.throttle = Some(Throttle {
        by: "io.max".into(),
        read_bytes: Some(bytes),
        reads: Some(reads),
        ..Throttle::default()
    });
}

/// Sets a mix: half of the bytes are written, limited to `bytes` per second.
fn mixed(case: &mut Case, bytes: u64) {
    (case.job.mix, case.info.mixes) = (Some(50), true);
    case.target.throttle =
        Some(Throttle { by: "io.max".into(), write_bytes: Some(bytes), ..Throttle::default() });
    case.each(|t| t.evidence.written = Some(SPAN / 2));
}

/// Sets the CPU time that the workers used: `busy` of the 300 ms, of which `xor` ms in the XOR.
fn set_cpu_use(case: &mut Case, busy: u64, xor: u64) {
    case.job.xor = true;
    case.each(|t| {
        (t.user_nanos, t.evidence.xor_nanos) = (busy * 1_000_000, (xor * 1_000_000).into())
    });
}

/// Sets 256 operations that took `nanos` each.
fn op_nanos(case: &mut Case, nanos: u64) {
    case.each(|t| t.evidence.lane_nanos = t.ops * nanos);
}

/// Sets the usable memory; the device had to read half of the bytes.
fn partly_cached(case: &mut Case, memory: u64) {
    case.machine.memory = Some(memory);
    case.each(|t| t.device_bytes = Some(SPAN / 2));
}

/// Sets latencies: 1,000 of 100 µs, and `stalls` that take half a second each.
fn stalled(case: &mut Case, stalls: u64) {
    let buckets = vec![(100_000, 1000), (500_000_000, stalls)];
    case.latency = Some(Latency {
        count: 1000 + stalls,
        every: 1,
        p50: Some(100e3),
        buckets: buckets.into_iter().filter(|(_, count)| *count > 0).collect(),
        ..Latency::default()
    });
}

pub static CEILING: &[Example] = &[
    example("stalls", Misleading, direct, |c| stalled(c, 3), |c| stalled(c, 0)),
    // Something below may cache the popular blocks, so that the others seem to stall.
    example(
        "stalls",
        Misleading,
        direct,
        |c| stalled(c, 1),
        |c| {
            c.job.pattern = Pattern::Zipf(990);
            stalled(c, 1)
        },
    ),
    // Readahead makes most operations of a buffered sequential read wait for nothing.
    example(
        "stalls",
        Misleading,
        direct,
        |c| stalled(c, 1),
        |c| {
            c.job.direct = false;
            stalled(c, 1)
        },
    ),
    // At a rate nothing waits between the operations.
    example(
        "stalls",
        Misleading,
        direct,
        |c| {
            c.job.rate = Some(Rate::Operations(100));
            stalled(c, 9)
        },
        |c| {
            c.job.rate = Some(Rate::Operations(100));
            c.each(|trial| trial.nanos = 10_000_000_000);
            stalled(c, 9)
        },
    ),
    example(
        "cpu-bound",
        Misleading,
        direct,
        |c| set_cpu_use(c, 290, 150),
        |c| set_cpu_use(c, 290, 50),
    ),
    example(
        "cpu-bound",
        Misleading,
        cold,
        |c| set_cpu_use(c, 290, 100),
        |c| set_cpu_use(c, 200, 100),
    ),
    example(
        "beyond-memory",
        Misleading,
        warm,
        |c| partly_cached(c, SPAN),
        |c| partly_cached(c, 2 * SPAN),
    ),
    // Others had read it.
    example(
        "beyond-memory",
        Misleading,
        warm,
        |c| partly_cached(c, SPAN),
        |c| c.machine.memory = Some(SPAN),
    ),
    example("timing-dominates", Note, warm, |c| op_nanos(c, 50), |c| op_nanos(c, 200)),
    example("above-link", Misleading, cold, |c| link(c, 600e6), |c| link(c, 890e6)),
    example("above-memory", Note, warm, |c| memory(c, 600e6), |c| memory(c, 800e6)),
    example("above-memory", Note, warm, |c| memory_over(c, SPAN), |c| memory_over(c, SPAN / 2)),
    example(
        "rate-limited",
        Misleading,
        cold,
        |c| throttle(c, 900_000_000, 9),
        |c| throttle(c, 2_000_000_000, 1),
    ),
    example(
        "rate-limited",
        Misleading,
        direct,
        |c| throttle(c, u64::MAX, 850),
        |c| throttle(c, u64::MAX, 1_000_000),
    ),
    // Far above a limit, the bytes did not pass it.
    example(
        "rate-limited",
        Misleading,
        cold,
        |c| throttle(c, 700_000_000, 9),
        |c| throttle(c, 10_000_000, 9),
    ),
    example(
        "rate-limited",
        Misleading,
        direct,
        |c| throttle(c, u64::MAX, 700),
        |c| throttle(c, u64::MAX, 300),
    ),
    example(
        "rate-limited",
        Misleading,
        direct,
        |c| mixed(c, 450_000_000),
        |c| mixed(c, 900_000_000),
    ),
    example(
        "layers",
        Note,
        cold,
        |c| c.target.device = "dm-0 on vda".into(),
        |c| c.target.device = "vda".into(),
    ),
    example(
        "layers",
        Note,
        direct,
        |c| c.target.fs = "btrfs".into(),
        |c| c.target.fs = "xfs".into(),
    ),
    example(
        "layers",
        Note,
        cold,
        |c| (c.target.remote, c.target.fs) = (true, "nfs4".into()),
        |c| c.target.remote = false,
    ),
];
