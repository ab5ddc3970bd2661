//! Sentences about probes whose figures are made up.

use super::*;
use crate::plan::ProbeCell;
use crate::session::SummaryOf;
use crate::stats::Summary;

fn probe(id: &str, params: &[(&'static str, Param)], nanos: f64) -> ProbeResult {
    let value = Summary::of(&[nanos]).map(|summary| SummaryOf { summary, unit: "ns" });
    let cell = ProbeCell::new(id, params.iter().cloned());
    let (unit, cycles, estimate, error) = (Some(Unit::Nanos), None, None, None);
    ProbeResult { cell, trials: vec![], unit, value, cycles, estimate, reference: vec![], warnings: vec![], error, evidence: vec![] }
}

fn said(probes: &[ProbeResult]) -> Vec<String> {
    let cache = |level, kind: &str, size| CacheLevel { level, kind: kind.into(), size, ..CacheLevel::default() };
    let caches =
        vec![cache(1, "data", 32 << 10), cache(1, "instruction", 32 << 10), cache(2, "unified", 1 << 20), cache(3, "unified", 16 << 20)];
    remarks(probes, &Host { caches, ..Host::default() })
}

fn calls(cost: impl Fn(u64) -> f64) -> Vec<ProbeResult> {
    (0..8).map(|n| probe("call", &[("arguments", n.into())], cost(n))).collect()
}

#[test]
fn nothing_is_said_of_what_was_not_measured() {
    assert!(said(&[]).is_empty());
    assert!(said(&[probe("call", &[("arguments", 0.into())], 1.0)]).is_empty());
}

#[test]
fn a_system_call_is_worth_its_procedure_calls() {
    let getpid = probe("syscall", &[("call", "getpid".into()), ("path", "inline".into())], 150.0);
    let call = probe("call", &[("arguments", 0.into())], 1.5);
    assert_eq!(said(&[getpid, call]), ["A system call (150 ns) is worth 100 procedure calls (1.50 ns)."]);
}

#[test]
fn the_price_of_an_argument_is_the_slope_where_it_is_sure() {
    assert_eq!(said(&calls(|n| 1.0 + 0.25 * n as f64)), ["Each argument of a call adds 0.25 ns."]);
    assert_eq!(said(&calls(|n| if n % 2 == 0 { 1.0 } else { 2.0 })), ["An argument of a call adds nothing that can be told from noise."]);
    assert_eq!(said(&calls(|_| 1.0)), ["An argument of a call adds nothing that can be told from noise."]);
}

#[test]
fn the_steps_of_the_latency_have_the_names_of_caches() {
    let nanos = |bits: u32| match bits {
        ..=15 => 1.5,
        16..=20 => 4.5,
        21..=23 => 18.0,
        24 => 45.0,
        _ => 100.0,
    };
    let mut probes: Vec<ProbeResult> = (12..=30).map(|bits| probe("latency", &[("bytes", (1u64 << bits).into())], nanos(bits))).collect();
    // Another stride is another curve.
    probes.push(probe("latency", &[("bytes", 4096.into()), ("stride", 64.into())], 1000.0));
    let text = "A load takes: L1d to 32 KiB 1.50 ns, L2 to 1 MiB 4.50 ns, L3 to 8 MiB 18.0 ns, memory 100 ns.";
    assert_eq!(said(&probes), [text]);
}

#[test]
fn the_reach_of_the_tlb_is_told_in_pages() {
    let cost = |pages: u64| if pages <= 64 { 1.2 } else { 4.0 };
    let probes: Vec<ProbeResult> =
        (3..=12).map(|bits| 1u64 << bits).map(|pages| probe("tlb", &[("pages", pages.into())], cost(pages))).collect();
    assert_eq!(said(&probes), ["A load from each of so many pages takes: 64 pages 1.20 ns, 4096 pages 4.00 ns."]);
}
