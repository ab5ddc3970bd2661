//! The worth of one setting: pairs of cells that differ in nothing else, along their block sizes.

use std::collections::HashMap;

use serde::Serialize;

use super::ratio::{Finding, times_as_fast, times_exactly, times_with_interval};
use crate::analysis::groups::group_by_key;
use crate::analysis::why::Devices;
use crate::analysis::{Axis, CellResult};
use crate::catalog::moves_data;
use crate::plan::{Cache, CpuCache, Job, Op};
use crate::record::Trial;
use crate::stats::{Ratio, median, paired};
use crate::units::{join_names, show_bytes};

/// The effect of a setting on the reads of one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// `cache`, `direct` or `cpu-cache`.
    pub axis: Axis,
    /// Its job with a block of 1, and the faster value that the ratios are of: warm, direct, keep.
    pub cell: Job,
    /// Its speed by that with the other value: cold, buffered, flush.
    pub points: Vec<EffectAt>,
    /// Over the pairs of all block sizes; `None` under six pairs.
    pub all: Option<Ratio>,
    /// The CPU, not the device, limits the other value up to this block size.
    #[serde(skip)]
    cpu_to: Option<u64>,
}

/// One block size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EffectAt {
    pub block: u64,
    pub ratio: Ratio,
    /// Bytes of a request that the disk got with the other value: the median of the trials.
    #[serde(skip)]
    requests: Option<u64>,
}

/// Pairs of all block sizes together: the last ones of each.
const MAX_POOLED: usize = 120;

/// A setting with two values.
struct Setting {
    axis: Axis,
    names: [&'static str; 2],
    /// Returns the job with the other value, if it has the first.
    other: fn(&Job) -> Option<Job>,
}

const SETTINGS: [Setting; 3] = [
    Setting {
        axis: Axis::Cache,
        names: ["warm", "cold"],
        other: |job| (job.cache == Cache::Warm).then(|| Job { cache: Cache::Cold, ..job.clone() }),
    },
    Setting {
        axis: Axis::Direct,
        names: ["direct", "buffered"],
        // Cached data says nothing about the device.
        other: |job| job.direct.then(|| Job { direct: false, cache: Cache::Cold, ..job.clone() }),
    },
    Setting {
        axis: Axis::CpuCache,
        names: ["kept", "flushed"],
        other: |job| {
            let flush = || Job { cpu_cache: CpuCache::Flush, ..job.clone() };
            (job.cpu_cache == CpuCache::Keep).then(flush)
        },
    },
];

/// Returns the effects of the settings that the cells have both values of, by setting, then in the
/// order of the plan.
pub fn effects(results: &[CellResult], devices: &Devices) -> Vec<Effect> {
    let reads = results.iter().filter(|of| of.cell.op == Op::Read && moves_data(&of.cell));
    let reads = reads.filter(|of| of.is_sound() && of.cell.mix.is_none());
    let reads: HashMap<&Job, &CellResult> = reads.map(|of| (&of.cell, of)).collect();
    let of = |setting: &Setting| {
        let pairs = results.iter().filter_map(|own| {
            let other = (setting.other)(&own.cell)?;
            Some((*reads.get(&own.cell)?, *reads.get(&other)?))
        });
        effects_of(setting, pairs.collect(), devices)
    };
    SETTINGS.iter().flat_map(of).collect()
}

fn effects_of(
    setting: &Setting,
    pairs: Vec<(&CellResult, &CellResult)>,
    devices: &Devices,
) -> Vec<Effect> {
    let curves = group_by_key(pairs, |(own, _)| Axis::Block.without(&own.cell));
    let effect = |(cell, mut pairs): (Job, Vec<(&CellResult, &CellResult)>)| {
        pairs.sort_by_key(|(own, _)| own.cell.block);
        let point = |(own, other): &(&CellResult, &CellResult)| {
            let ratio = own.ratio_to(other)?;
            Some(EffectAt { block: own.cell.block, ratio, requests: request_bytes(other) })
        };
        let each = (MAX_POOLED / pairs.len()).max(1);
        let rounds = pairs.iter().flat_map(|(own, other)| {
            let rounds = own.pairs_with(other);
            rounds[rounds.len().saturating_sub(each)..].to_vec()
        });
        let rounds: Vec<(f64, f64)> = rounds.collect();
        let by_cpu = pairs.iter().take_while(|(_, other)| devices.is_cpu_limited(other));
        Effect {
            axis: setting.axis,
            cell,
            points: pairs.iter().filter_map(point).collect(),
            all: paired::from_pairs(&rounds),
            cpu_to: by_cpu.last().map(|(own, _)| own.cell.block),
        }
    };
    curves.into_iter().map(effect).collect()
}

/// Returns the bytes of the requests that the disk got, on average.
fn request_bytes(of: &CellResult) -> Option<u64> {
    let bytes = |trial: &Trial| {
        let evidence = &trial.evidence;
        let bytes = evidence.disk_read_bytes? + evidence.disk_write_bytes.unwrap_or(0);
        let requests = evidence.disk_requests.get()?;
        (requests > 0).then(|| bytes as f64 / requests as f64)
    };
    let all: Vec<f64> = of.trials.iter().filter_map(|trial| bytes(trial)).collect();
    median(&all).map(|bytes| bytes as u64)
}

/// Returns a clause for each setting: for the page cache and direct I/O along the block sizes of
/// the first way, for the CPU caches over all block sizes of each way.
pub fn describe_effects(effects: &[Effect]) -> Vec<(Axis, String)> {
    let of = |setting: &Setting| {
        let own: Vec<&Effect> = effects.iter().filter(|of| of.axis == setting.axis).collect();
        let clause = match setting.axis {
            Axis::CpuCache => describe_ways(&own),
            _ => describe_sizes(&own, setting.names),
        };
        Some((setting.axis, clause?))
    };
    SETTINGS.iter().filter_map(of).collect()
}

/// The judgement on a stretch of block sizes: faster, slower, or none.
fn judge(point: &EffectAt) -> Option<Option<bool>> {
    point.ratio.interval()?;
    let differs = Finding::of(&point.ratio) == Finding::Differs;
    Some(differs.then_some(point.ratio.ratio > 1.0))
}

/// Trials that leave room for a larger ratio say nothing of a difference.
const MOST_ALIKE: f64 = 2.0;
/// More stretches than this are no pattern.
const MAX_STRETCHES: usize = 3;

/// Returns `with read, up to 512 B no difference between warm and cold shows (at most 1.2x), as the
/// CPU takes the time; from 4 KiB on warm is 2.1x to 8.2x as fast as cold`
fn describe_sizes(effects: &[&Effect], names: [&str; 2]) -> Option<String> {
    // The answer has the peaks of warm and cold already.
    let least = |of: &Effect| if of.axis == Axis::Cache { 3 } else { 1 };
    let is_known =
        |of: &&&Effect| of.points.iter().filter(|at| judge(at).is_some()).count() >= least(of);
    let effect = effects.iter().find(is_known)?;
    let points: Vec<EffectAt> =
        effect.points.iter().filter(|at| judge(at).is_some()).copied().collect();
    let stretches: Vec<&[EffectAt]> = points.chunk_by(|a, b| judge(a) == judge(b)).collect();
    let (first, last) = (points.first()?.block, points.last()?.block);
    let way = effect.cell.backend.to_string();
    let is_even = |stretch: &[EffectAt]| range_of(stretch).is_ok();
    if effect.axis == Axis::Cache && stretches.len() == 1 && is_even(&points) {
        return None;
    }
    if stretches.len() > MAX_STRETCHES {
        return Some(describe_mixed(&points, &way, names));
    }
    let clause = |stretch: &&[EffectAt]| {
        let (from, to) = (stretch.first()?.block, stretch.last()?.block);
        let place = match (from == first, to == last) {
            (true, false) => format!("up to {}", show_bytes(to)),
            (false, true) => format!("from {} on", show_bytes(from)),
            _ if from == to => format!("at {}", show_bytes(from)),
            _ => format!("from {} to {}", show_bytes(from), show_bytes(to)),
        };
        Some(format!("{place} {}{}", compare(stretch, names), explain(effect, stretch)?))
    };
    let clauses: Vec<String> = stretches.iter().filter_map(clause).collect();
    Some(format!("with {way}, {}", clauses.join("; ")))
}

/// Requests that are this many times the block are read ahead.
const AHEAD: u64 = 2;

/// Returns why a setting makes a difference at these block sizes, or none; empty if the trials do
/// not show it.
fn explain(effect: &Effect, stretch: &[EffectAt]) -> Option<String> {
    let last = stretch.last()?;
    let is_by_cpu = effect.cpu_to.is_some_and(|most| most >= last.block);
    let is_ahead = |at: &EffectAt| at.requests.is_some_and(|bytes| bytes >= AHEAD * at.block);
    Some(match (judge(last)?, effect.axis) {
        (None, _) if is_by_cpu => ", as the CPU takes the time".into(),
        (Some(true), Axis::Direct) if is_by_cpu => {
            ", as the CPU takes the time of buffered reads".into()
        }
        (Some(false), Axis::Direct) if stretch.iter().all(is_ahead) => {
            let most = stretch.iter().filter_map(|at| at.requests).max()?;
            format!(", read ahead in requests of up to {}", show_bytes(most))
        }
        _ => String::new(),
    })
}

/// Returns `warm is 2.1x to 8.2x as fast as cold`, `no difference between warm and cold shows (at
/// most 1.2x)`.
fn compare(stretch: &[EffectAt], [own, other]: [&str; 2]) -> String {
    let faster = stretch.first().and_then(judge).flatten();
    let (fast, slow) = if faster == Some(false) { (other, own) } else { (own, other) };
    match (faster, stretch) {
        (None, _) => {
            let most = stretch.iter().map(|at| at.ratio.max_change()).fold(1.0, f64::max);
            let by = times_exactly(most);
            match most < MOST_ALIKE {
                true => format!("no difference between {own} and {other} shows (at most {by})"),
                false => format!("cannot tell {own} from {other} (up to {by} is possible)"),
            }
        }
        (_, [one]) => times_as_fast((own, other), &one.ratio, ["is", "was"], true),
        _ => {
            let range = range_of(stretch).unwrap_or_else(|range| range);
            format!("{fast} is {range} as fast as {slow}")
        }
    }
}

/// Returns the factor between the two values if it is the same at all sizes, else its range:
/// `2.1x to 8.2x`.
fn range_of(stretch: &[EffectAt]) -> Result<String, String> {
    let by = stretch.iter().map(|at| at.ratio.ratio.max(1.0 / at.ratio.ratio));
    let (low, high) =
        by.fold((f64::INFINITY, 1.0_f64), |(low, high), by| (low.min(by), high.max(by)));
    let [low, high] = [low, high].map(times_exactly);
    if low == high { Ok(high) } else { Err(format!("{low} to {high}")) }
}

fn describe_mixed(points: &[EffectAt], way: &str, names: [&str; 2]) -> String {
    let groups = group_by_key(points.iter().copied(), |at| judge(at).flatten());
    let said = groups.iter().map(|(_, stretch)| {
        format!("at {} of {} block sizes {}", stretch.len(), points.len(), compare(stretch, names))
    });
    format!("with {way}, {}", said.collect::<Vec<_>>().join("; "))
}

/// Ways of one sentence.
const MAX_WAYS: usize = 6;

/// Returns `with the CPU caches kept instead of flushed, warm, 8 MiB: mmap is 1.6x [1.5-1.7] as
/// fast; no difference shows for read and pread (at most 1.1x)`, of warm reads of the smallest
/// span, which the caches can hold.
fn describe_ways(effects: &[&Effect]) -> Option<String> {
    let known: Vec<(&Effect, Ratio)> =
        effects.iter().filter_map(|of| Some((*of, of.all?))).collect();
    let place = |of: &Effect| (of.cell.cache != Cache::Warm, of.cell.span);
    let best = known.iter().map(|(of, _)| place(of)).min()?;
    let own: Vec<&(&Effect, Ratio)> =
        known.iter().filter(|(of, _)| place(of) == best).take(MAX_WAYS).collect();
    let state = &own.first()?.0.cell;
    let (mut clauses, mut same, mut most) = (Vec::new(), Vec::new(), 1.0_f64);
    for (of, ratio) in &own {
        let way = of.cell.backend.to_string();
        if ratio.interval().is_none() || Finding::of(ratio) != Finding::Differs {
            most = most.max(ratio.max_change());
            same.push(way);
            continue;
        }
        let range = times_with_interval(ratio);
        clauses.push(match clauses.is_empty() {
            true => format!("{way} is {range} as fast"),
            false => format!("{way} {range}"),
        });
    }
    let mut said: Vec<String> = Vec::new();
    said.extend((!clauses.is_empty()).then(|| clauses.join(", ")));
    said.extend((!same.is_empty()).then(|| {
        let names = join_names(&same, same.len(), ", ");
        format!("no difference shows for {names} (at most {})", times_exactly(most))
    }));
    let of = match (state.cache, state.span) {
        (Cache::AsIs, 0) => String::new(),
        (cache, 0) => format!(", {cache}"),
        (Cache::AsIs, span) => format!(", {}", show_bytes(span)),
        (cache, span) => format!(", {cache}, {}", show_bytes(span)),
    };
    Some(format!("with the CPU caches kept instead of flushed{of}: {}", said.join("; ")))
}

#[cfg(test)]
mod tests;
