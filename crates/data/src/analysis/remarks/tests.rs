//! Sentences about probes with invented figures.

use super::*;
use crate::analysis::SummaryOf;
use crate::plan::ProbeCell;
use crate::record::{Estimate, Severity, Warning};
use crate::stats::Summary;

fn probe(id: &str, params: &[(&'static str, Param)], nanos: f64) -> ProbeResult {
    let value = Summary::from_values(&[nanos]).map(|summary| SummaryOf { summary, unit: "ns" });
    let cell = ProbeCell::new(id, params.iter().cloned());
    let (unit, cycles, estimate, error) = (Some(Unit::Nanos), None, None, None);
    ProbeResult {
        cell,
        trials: vec![],
        unit,
        value,
        cycles,
        estimate,
        reference: vec![],
        warnings: vec![],
        error,
        skipped: false,
        evidence: vec![],
    }
}

fn said(probes: &[ProbeResult]) -> Vec<String> {
    let cache = |level, kind: &str, size| CacheLevel {
        level,
        kind: kind.into(),
        size,
        ..CacheLevel::default()
    };
    let caches = vec![
        cache(1, "data", 32 << 10),
        cache(1, "instruction", 32 << 10),
        cache(2, "unified", 1 << 20),
        cache(3, "unified", 16 << 20),
    ];
    remarks(probes, &Host { caches, ..Host::default() })
}

fn calls(cost: impl Fn(u64) -> f64) -> Vec<ProbeResult> {
    (0..8).map(|n| probe("call", &[("arguments", n.into())], cost(n))).collect()
}

#[test]
fn unmeasured_probes_get_no_remark() {
    assert!(said(&[]).is_empty());
    assert!(said(&[probe("call", &[("arguments", 0.into())], 1.0)]).is_empty());
}

#[test]
fn system_calls_cost_procedure_calls() {
    let getpid = probe("syscall", &[("call", "getpid".into()), ("path", "inline".into())], 150.0);
    let call = probe("call", &[("arguments", 0.into())], 1.5);
    assert_eq!(
        said(&[getpid, call]),
        ["A system call (150 ns) costs as much as 100 function calls (1.50 ns)."]
    );
}

#[test]
fn what_failed_says_nothing() {
    let getpid = probe("syscall", &[("call", "getpid".into()), ("path", "inline".into())], 150.0);
    let failed =
        |of: ProbeResult| ProbeResult { error: Some("killed in its third round".into()), ..of };
    assert!(said(&[getpid, failed(probe("call", &[("arguments", 0.into())], 1.5))]).is_empty());
    assert!(
        said(&calls(|n| 1.0 + n as f64).into_iter().map(failed).collect::<Vec<_>>()).is_empty()
    );
}

#[test]
fn sure_slopes_price_an_argument() {
    assert_eq!(said(&calls(|n| 1.0 + 0.25 * n as f64)), ["Each argument adds 0.25 ns to a call."]);
    assert_eq!(
        said(&calls(|n| if n % 2 == 0 { 1.0 } else { 2.0 })),
        ["Another argument adds no measurable time to a call."]
    );
    assert_eq!(said(&calls(|_| 1.0)), ["Another argument adds no measurable time to a call."]);
}

#[test]
fn latency_steps_are_named_by_caches() {
    fn nanos(bits: u32) -> f64 {
        match bits {
            ..=15 => 1.5,
            16..=20 => 4.5,
            21..=23 => 18.0,
            24 => 45.0,
            _ => 100.0,
        }
    }
    let mut probes: Vec<ProbeResult> = (12..=30)
        .map(|bits| probe("latency", &[("bytes", (1u64 << bits).into())], nanos(bits)))
        .collect();
    // Another stride makes another curve.
    probes.push(probe("latency", &[("bytes", 4096.into()), ("stride", 64.into())], 1000.0));
    let text = "A load takes, by the size of the data: 1.50 ns up to 32 KiB (L1d), 4.50 ns up to 1 MiB (L2), 18.0 ns up to 8 MiB (L3), 100 ns up to 1 GiB (memory).";
    assert_eq!(said(&probes), [text]);
}

#[test]
fn tlb_reach_is_in_pages() {
    fn cost(pages: u64) -> f64 {
        if pages <= 64 { 1.2 } else { 4.0 }
    }
    let probes: Vec<ProbeResult> = (3..=12)
        .map(|bits| 1u64 << bits)
        .map(|pages| probe("tlb", &[("pages", pages.into())], cost(pages)))
        .collect();
    assert_eq!(
        said(&probes),
        [
            "A load takes, by the number of pages touched: 1.20 ns up to 64 pages, 4.00 ns up to 4096 pages."
        ]
    );
}

fn read(id: &str, pattern: &'static str, bytes: u64, cold: bool, nanos: f64) -> ProbeResult {
    let all = [("pattern", pattern.into()), ("bytes", bytes.into()), ("cold", true.into())];
    probe(id, &all[..if cold { 3 } else { 2 }], nanos)
}

#[test]
fn the_largest_shared_size_is_compared() {
    let far = [(1890, 80e3), (11390, 601e3), (1 << 20, 9e6)]
        .map(|(bytes, nanos)| read("remote-read", "seq", bytes, false, nanos));
    let near = [(1890, 58e3), (11390, 276e3), (2 << 20, 1e6)]
        .map(|(bytes, nanos)| read("file-read", "seq", bytes, false, nanos));
    assert!(said(&far).is_empty() && said(&near).is_empty());
    let both: Vec<ProbeResult> = far.into_iter().chain(near).collect();
    assert_eq!(
        said(&both),
        [
            "The network penalty for 11.1 KiB in sequential order, read before: 325 µs more, 2.2 times (601 µs remote, 276 µs local)."
        ]
    );
    // Cold and random make separate curves.
    let cold = [
        read("remote-read", "random", 4096, true, 5e6),
        read("file-read", "random", 4096, true, 6e6),
    ];
    assert_eq!(
        said(&cold),
        [
            "The network penalty for 4 KiB in random order, not cached here: none (5.00 ms remote, 6.00 ms local)."
        ]
    );
    let mixed = [
        read("remote-read", "random", 4096, true, 5e6),
        read("file-read", "random", 4096, false, 1e6),
    ];
    assert!(said(&mixed).is_empty());
}

#[test]
fn devices_and_crowds_are_ratios() {
    let sizes = [64 << 10, 1 << 20, 16 << 20]
        .map(|bytes| read("file-read", "seq", bytes, false, bytes as f64 / 4.0));
    let cold = [(64 << 10, 1e6), (1 << 20, 524_288.0)]
        .map(|(bytes, nanos)| read("file-read", "seq", bytes, true, nanos));
    let random = [read("file-read", "random", 1 << 20, true, 262_144.0 * 50.0)];
    let all: Vec<ProbeResult> = sizes.into_iter().chain(cold).chain(random).collect();
    assert_eq!(
        said(&all),
        [
            "In these few batches, reading a 1 MiB file from the device took 2.0 times as long as from the cache, and 50.0 times in random order."
        ]
    );
    let scattered = all.into_iter().map(|mut probe| {
        let one = probe.value.unwrap().summary.median;
        let values: Vec<f64> = (0..9).map(|n| one * (0.96 + 0.01 * f64::from(n))).collect();
        probe.value =
            Summary::from_values(&values).map(|summary| SummaryOf { summary, unit: "ns" });
        probe
    });
    assert_eq!(
        said(&scattered.collect::<Vec<_>>()),
        [
            "Reading a 1 MiB file from the device takes 2.0 times [1.9-2.1] as long as from the cache, and 50.0 times [48.1-52.0] in random order."
        ]
    );
    fn crowd(counts: &[u64]) -> Vec<ProbeResult> {
        counts
            .iter()
            .map(|count| {
                probe("contention", &[("processes", (*count).into())], 1000.0 * *count as f64)
            })
            .collect()
    }
    assert_eq!(
        said(&crowd(&[1, 2, 4])),
        [
            "In these few batches, with 4 processes reading at once, a block took 4.0 times as long as with one."
        ]
    );
    assert!(said(&crowd(&[1])).is_empty() && said(&crowd(&[2, 4])).is_empty());
}

#[test]
fn far_steps_have_no_cache_name() {
    fn step(first: u32, at: u32, last: u32) -> Vec<String> {
        let nanos = |bits| if bits <= at { 20.0 } else { 160.0 };
        let probes: Vec<ProbeResult> = (first..=last)
            .map(|bits| probe("latency", &[("bytes", (1u64 << bits).into())], nanos(bits)))
            .collect();
        said(&probes)
    }
    // It begins at 16 MiB, which still fits the L3 cache.
    assert_eq!(
        step(21, 23, 28),
        [
            "A load takes, by the size of the data: 20.0 ns up to 8 MiB (L3), 160 ns up to 256 MiB (memory)."
        ]
    );
    // If its middle is within the cache and its end is not, it has both names.
    assert_eq!(
        step(18, 20, 26),
        [
            "A load takes, by the size of the data: 20.0 ns up to 1 MiB (L2), 160 ns up to 64 MiB (L3 and memory)."
        ]
    );
}

#[test]
fn the_file_cache_has_a_size() {
    let bytes = |bound: bool| {
        let mut found = probe("file-cache", &[], f64::from(256 << 20));
        found.unit = Some(Unit::Bytes);
        let reason = "all free memory, 22 GiB, may hold file data; 256 MiB is tried".into();
        found.estimate = Some(Estimate { low: 0.0, high: 1.0, reason });
        found.warnings.extend(bound.then(|| Warning {
            id: "at-least".into(),
            severity: Severity::Misleading,
            message: "a lower bound".into(),
            evidence: String::new(),
            remedy: "".into(),
        }));
        said(&[found]).remove(0)
    };
    let reason = " (all free memory, 22 GiB, may hold file data; 256 MiB is tried).";
    let least = "The page cache holds at least 256 MiB, all that was tried";
    assert_eq!(bytes(true), format!("{least}{reason}"));
    assert_eq!(bytes(false), format!("The page cache holds 256 MiB{reason}"));
    let again = |nanos: &[f64]| {
        let one = |(n, nanos): (u32, &f64)| {
            probe("file-cache", &[("bytes", (1_u64 << (30 + n)).into())], *nanos)
        };
        said(&(0..).zip(nanos).map(one).collect::<Vec<_>>())
    };
    assert_eq!(
        again(&[380.0, 420.0, 9000.0]),
        [
            "A file of 2 GiB is read again in 420 ns per 4 KiB, one of 4 GiB in 9.00 µs: the page cache holds between 2 GiB and 4 GiB."
        ]
    );
    assert_eq!(
        again(&[380.0, 420.0]),
        [
            "A file of 2 GiB is read again in 420 ns per 4 KiB, as fast as smaller ones: the page cache holds at least 2 GiB."
        ]
    );
}

#[test]
fn labs_have_a_figure() {
    let figure = |probes: &[ProbeResult]| {
        let found = lab_figure(probes, &Host::default())?;
        Some((found.title, found.beside))
    };
    let getpid =
        || probe("syscall", &[("call", "getpid".into()), ("path", "inline".into())], 150.0);
    let call = probe("call", &[("arguments", 0.into())], 1.5);
    let said = vec!["100 function calls (1.50 ns each)".to_string()];
    assert_eq!(figure(&[call, getpid()]), Some(("a system call takes".into(), said)));
    let load = |size: u64| probe("latency", &[("bytes", size.into())], 80.0);
    let title = |probes: &[ProbeResult]| figure(probes).unwrap().0;
    assert_eq!(title(&[load(4096), load(1 << 30)]), "a load takes, anywhere in 1 GiB");
    let trip = probe("rtt", &[("by", "tcp".into()), ("bytes", 56.into())], 9e3);
    assert_eq!(title(&[trip]), "a round trip takes, tcp, 56 B");
    let flush = |size: u64| probe("fsync", &[("bytes", size.into())], 1e6);
    let waits = "a write of 4 KiB takes until the device has it";
    assert_eq!(title(&[flush(0), flush(4096)]), waits);
    assert_eq!(figure(&[probe("fork", &[], 1e5)]), None);
}
