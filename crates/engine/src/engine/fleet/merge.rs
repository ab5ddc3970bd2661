//! One trial of what all ranks measured.
//!
//! Bytes and calls are sums, and the time is from the first rank's start to the last one's end, so
//! the throughput is what the whole fleet moved until all was done. Latencies are merged value by
//! value; percentiles are never averaged. What a machine counts for all its processes counts once
//! for each machine.

use std::ops::Range;

use crate::engine::trial_outcome::TrialOutcome;
use crate::engine::trial_parts::join_parts;
use crate::record::{RankShare, Sample};

/// What a rank measured, and the number of its machine.
pub struct OfRank {
    pub node: u32,
    pub outcome: TrialOutcome,
}

/// Merges what the ranks measured, in their order; `None` without any.
pub fn merge(ranks: Vec<OfRank>) -> Option<TrialOutcome> {
    let started = |of: &OfRank| of.outcome.trial.evidence.started;
    let end = |of: &OfRank| started(of).saturating_add(of.outcome.trial.nanos);
    let first = ranks.iter().map(started).min()?;
    let last = ranks.iter().map(end).max()?;
    let last_start = ranks.iter().map(started).max()?;
    let active = last_start..ranks.iter().map(end).min()?;
    let shares = (0..).zip(&ranks).map(|(rank, of)| share(rank, of, first, &active)).collect();
    let samples = merge_samples(&ranks, first);
    let passes = ranks.iter().map(|of| of.outcome.trial.passes).min()?;
    let parts = ranks.iter().map(|of| of.outcome.trial.evidence.parts).max()?;
    let skew = ranks.iter().map(|of| of.outcome.trial.evidence.skew_nanos).max()?;
    let busy = ranks.iter().map(|of| of.outcome.busy).max()?;
    let short = ranks.iter().any(|of| of.outcome.trial.short);
    let unique = ranks.iter().map(|of| of.outcome.trial.evidence.unique_bytes).sum();
    let resident = |of: fn(&OfRank) -> Option<u64>| ranks.iter().map(of).sum::<Option<u64>>();
    let before = resident(|of| of.outcome.trial.resident_before);
    let after = resident(|of| of.outcome.trial.resident_after);
    let mut nodes = Vec::new();
    let mut all: Option<TrialOutcome> = None;
    for OfRank { node, mut outcome } in ranks {
        outcome.samples.clear();
        match &mut all {
            None => all = Some(outcome),
            Some(all) if nodes.contains(&node) => {
                forget_machine(&mut outcome, all);
                join_parts(all, outcome);
            }
            Some(all) => join_parts(all, outcome),
        }
        nodes.push(node);
    }
    let mut all = all?;
    (all.samples, all.busy) = (samples, busy);
    let trial = &mut all.trial;
    (trial.nanos, trial.passes, trial.short) = (last - first, passes, short);
    (trial.resident_before, trial.resident_after) = (before, after);
    // Ranks read other files, or other parts of one.
    trial.xor = None;
    trial.ranks = shares;
    let evidence = &mut trial.evidence;
    (evidence.started, evidence.parts, evidence.unique_bytes) = (first, parts, unique);
    evidence.skew_nanos = skew.max(last_start - first);
    Some(all)
}

/// Returns what a rank did; `active`: when all ranks were at work.
fn share(rank: u32, of: &OfRank, first: u64, active: &Range<u64>) -> RankShare {
    let trial = &of.outcome.trial;
    let between = |done: fn(&Sample) -> u64, all: u64| {
        let until = |time| done_until(of, done, all, time);
        until(active.end).saturating_sub(until(active.start))
    };
    RankShare {
        rank,
        bytes: trial.bytes,
        ops: trial.ops,
        start: trial.evidence.started - first,
        nanos: trial.nanos,
        active_bytes: between(|sample| sample.bytes, trial.bytes),
        active_ops: between(|sample| sample.ops, trial.ops),
        device_bytes: trial.device_bytes,
    }
}

/// Returns how much of its work a rank had done at a time: what its samples counted, in equal
/// speed between two of them.
fn done_until(of: &OfRank, done: fn(&Sample) -> u64, all: u64, time: u64) -> u64 {
    let started = of.outcome.trial.evidence.started;
    let (mut from, mut before) = (0, 0u64);
    let at = time.saturating_sub(started).min(of.outcome.trial.nanos);
    let counted = of.outcome.samples.iter().map(|sample| (sample.at, done(sample)));
    let mut sum = 0u64;
    let points = counted.map(|(at, more)| {
        sum = sum.saturating_add(more);
        (at, sum.min(all))
    });
    for (to, then) in points.chain([(of.outcome.trial.nanos, all)]) {
        if at <= to && to > from {
            let share = (at - from) as f64 / (to - from) as f64;
            return before + ((then - before) as f64 * share) as u64;
        }
        (from, before) = (to.max(from), then.max(before));
    }
    all
}

/// Replaces what the outcome counts of a whole machine by nothing, as another rank of the same one
/// has counted it.
fn forget_machine(outcome: &mut TrialOutcome, counted: &TrialOutcome) {
    let (evidence, counted) = (&mut outcome.trial.evidence, &counted.trial.evidence);
    let nothing = |of: Option<u64>| of.map(|_| 0);
    evidence.disk_read_bytes = nothing(counted.disk_read_bytes);
    evidence.disk_write_bytes = nothing(counted.disk_write_bytes);
    evidence.disk_requests = nothing(counted.disk_requests.get()).into();
    evidence.steal_nanos = nothing(counted.steal_nanos.get()).into();
    for device in &mut evidence.devices {
        device.written = nothing(device.written.get()).into();
        device.flushes = nothing(device.flushes.get()).into();
        device.flush_nanos = nothing(device.flush_nanos.get()).into();
    }
}

/// Adds up the samples of all ranks by the time at which they ended.
fn merge_samples(ranks: &[OfRank], first: u64) -> Vec<Sample> {
    let mut all: Vec<Sample> = Vec::new();
    for of in ranks {
        let late = of.outcome.trial.evidence.started - first;
        let later = |s: &Sample| Sample { at: s.at.saturating_add(late), ..*s };
        all.extend(of.outcome.samples.iter().map(later));
    }
    all.sort_by_key(|sample| sample.at);
    let (mut merged, mut before): (Vec<Sample>, u64) = (Vec::new(), 0);
    for sample in all {
        match merged.last_mut().filter(|last| sample.at - last.at < STEP) {
            Some(last) => {
                last.bytes = last.bytes.saturating_add(sample.bytes);
                last.ops = last.ops.saturating_add(sample.ops);
                last.syscalls = last.syscalls.saturating_add(sample.syscalls);
            }
            None => {
                merged.push(Sample { nanos: sample.at - before, ..sample });
                before = sample.at;
            }
        }
    }
    crate::stats::merge_neighbours(&mut merged, Sample::MAX_PER_TRIAL, Sample::merge);
    merged
}

/// Samples of several ranks within this time are one, nanoseconds: half of the time between two of
/// one rank.
const STEP: u64 = 50_000_000;
