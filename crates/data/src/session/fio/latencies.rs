//! Latencies of cells, from the latencies that fio reports for jobs.

use std::collections::BTreeMap;

use super::output::{Times, sum};
use crate::record::{CommitTimes, Latency};

/// The latencies of each job and run of a cell.
#[derive(Default)]
pub struct Parts {
    /// Latency of reads or writes.
    pub blocks: Vec<Times>,
    /// Latency of the calls that make the writes durable.
    pub syncs: Vec<Times>,
}

impl Parts {
    /// Returns the latency of an operation. A sync that follows a write is a part of it; as it is
    /// apart in fio's figures, only the mean is known then.
    pub fn latency(&self, commits: bool) -> Option<Latency> {
        let blocks = merge(&self.blocks);
        if !commits {
            return blocks;
        }
        let (blocks, syncs) = (blocks?, merge(&self.syncs)?);
        let each = syncs.count as f64 / blocks.count as f64;
        Some(Latency {
            count: blocks.count,
            mean: blocks.mean + each * syncs.mean,
            ..both(&blocks, &syncs)
        })
    }

    /// Returns the times of commits of `writes` each.
    pub fn commits(&self, writes: u32) -> Option<CommitTimes> {
        let (blocks, syncs) = (merge(&self.blocks)?, merge(&self.syncs)?);
        let total = Latency {
            count: syncs.count,
            mean: f64::from(writes) * blocks.mean + syncs.mean,
            ..both(&blocks, &syncs)
        };
        Some(CommitTimes { total, write: (writes == 1).then_some(blocks), sync: Some(syncs) })
    }
}

/// Returns the sum of two latencies, of which only a lower bound of the maximum is known.
fn both(one: &Latency, other: &Latency) -> Latency {
    Latency { every: 1, max: one.max.max(other.max), ..Latency::default() }
}

/// Returns fio's own percentiles of one job. Percentiles of several jobs cannot be added up, but
/// their bins, means and maxima can.
fn merge(parts: &[Times]) -> Option<Latency> {
    let sound =
        |of: &&Times| of.count() > 0 && of.mean.is_finite() && of.max.is_finite() && of.mean >= 0.0;
    let parts: Vec<&Times> = parts.iter().filter(sound).collect();
    let count = sum(parts.iter().map(|of| of.count()));
    let mut bins = BTreeMap::<u64, u64>::new();
    for (at, count) in parts.iter().flat_map(|of| &of.bins) {
        let Ok(at) = at.parse() else { continue };
        let bin = bins.entry(at).or_default();
        *bin = bin.saturating_add(*count);
    }
    let binned = parts.iter().all(|of| !of.bins.is_empty());
    let at = |percent: f64| {
        let at = match parts[..] {
            [of] => printed(of, percent),
            _ if binned => in_bins(&bins, percent),
            _ => None,
        };
        at.filter(|nanos| nanos.is_finite() && carries(count, percent))
    };
    let [p50, p90, p99, p999] = [50.0, 90.0, 99.0, 99.9].map(at);
    let total: f64 = parts.iter().map(|of| of.mean * of.count() as f64).sum();
    let max = parts.iter().map(|of| of.max).fold(0.0, f64::max);
    let buckets = if binned { bins.into_iter().collect() } else { Vec::new() };
    let mean = total / count as f64;
    let none = Latency::default();
    (count > 0).then_some(Latency {
        count,
        every: 1,
        mean,
        p50,
        p90,
        p99,
        p999,
        max,
        buckets,
        ..none
    })
}

/// Returns a percentile that fio prints.
fn printed(of: &Times, percent: f64) -> Option<f64> {
    let is_it = |name: &str| name.parse::<f64>().is_ok_and(|own| (own - percent).abs() < 1e-6);
    of.percentile.iter().find(|(name, _)| is_it(name)).map(|(_, value)| *value)
}

/// Returns a percentile from bins.
fn in_bins(bins: &BTreeMap<u64, u64>, percent: f64) -> Option<f64> {
    let wanted = sum(bins.values().copied()) as f64 * percent / 100.0;
    let mut below = 0.0;
    let found = bins.iter().find(|(_, some)| {
        below += **some as f64;
        below >= wanted
    });
    found.map(|(at, _)| *at as f64)
}

/// Returns whether a percentile is supported: ten operations must lie above it; the median needs
/// one.
fn carries(count: u64, percent: f64) -> bool {
    percent == 50.0 && count > 0 || count as f64 * (100.0 - percent) / 100.0 >= 9.999
}
