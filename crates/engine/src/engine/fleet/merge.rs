//! One trial of what all ranks measured.
//!
//! Bytes and calls are sums, and the time is from the first rank's start to the last one's end, so
//! the throughput is what the whole fleet moved until all was done. Latencies are merged value by
//! value; percentiles are never averaged. What a machine counts for all its processes counts once
//! for each machine.

use std::collections::BTreeMap;
use std::ops::Range;

use super::machine::Counted;
use crate::backend::Commits;
use crate::engine::trial_outcome::TrialOutcome;
use crate::engine::trial_parts::join_trials;
use crate::record::{Preparation, RankShare, Sample, Trial};
use crate::stats::Histogram;

/// What a rank measured, and the number of its kernel.
pub struct OfRank {
    pub kernel: u32,
    /// How exactly the time of its clock is known on that of rank 0, nanoseconds.
    pub clock_error: u64,
    pub outcome: TrialOutcome,
}

/// The merged latencies of all ranks, and what else each measured: a thousand histograms are not
/// kept beside each other.
#[derive(Default)]
pub struct Merger {
    histogram: Histogram,
    commits: Option<Commits>,
    ranks: Vec<Rest>,
    busy: u64,
}

/// What a rank measured beside latencies.
struct Rest {
    kernel: u32,
    clock_error: u64,
    trial: Trial,
    samples: Vec<Sample>,
}

impl Rest {
    fn started(&self) -> u64 {
        self.trial.evidence.started
    }

    fn end(&self) -> u64 {
        self.started().saturating_add(self.trial.nanos)
    }
}

impl Merger {
    /// Adds what the next rank measured.
    pub fn add(&mut self, of: OfRank) {
        let TrialOutcome { trial, histogram, commits, samples, busy, .. } = of.outcome;
        self.histogram.merge(&histogram);
        if let Some(commits) = &commits {
            self.commits.get_or_insert_default().merge(commits);
        }
        self.busy = self.busy.max(busy);
        let OfRank { kernel, clock_error, .. } = of;
        let mut trial = trial;
        for bad in trial.evidence.verified.iter_mut().flat_map(|of| &mut of.first) {
            bad.rank = Some(self.ranks.len() as u32);
        }
        self.ranks.push(Rest { kernel, clock_error, trial, samples });
    }

    /// Returns the trial of all ranks; `None` without any.
    pub fn finish(self) -> Option<TrialOutcome> {
        let Merger { histogram, commits, ranks, busy } = self;
        let first = ranks.iter().map(Rest::started).min()?;
        let last = ranks.iter().map(Rest::end).max()?;
        let last_start = ranks.iter().map(Rest::started).max()?;
        let active = last_start..ranks.iter().map(Rest::end).min()?;
        let shares = (0..).zip(&ranks).map(|(rank, of)| share(rank, of, first, &active)).collect();
        let samples = merge_samples(&ranks, first);
        let mut trial = join(ranks)?;
        (trial.nanos, trial.ranks) = (last - first, shares);
        // Ranks read other files, or other parts of one.
        trial.xor = None;
        trial.evidence.started = first;
        trial.evidence.skew_nanos = trial.evidence.skew_nanos.max(last_start - first);
        let per_op = match trial.ops {
            0 => 0.0,
            ops => trial.evidence.lane_nanos as f64 / ops as f64,
        };
        Some(TrialOutcome { trial, histogram, commits, samples, per_op, busy })
    }
}

/// Joins the trials of the ranks; all that is not a sum over them follows.
fn join(ranks: Vec<Rest>) -> Option<Trial> {
    let trials = || ranks.iter().map(|of| &of.trial);
    let evidence = || trials().map(|trial| &trial.evidence);
    let passes = trials().map(|trial| trial.passes).min()?;
    let parts = evidence().map(|of| of.parts).max()?;
    let skew = evidence().map(|of| of.skew_nanos).max()?;
    let short = trials().any(|trial| trial.short);
    let unique = evidence().map(|of| of.unique_bytes).sum();
    let preparation = evidence().map(|of| of.preparation.clone()).reduce(add_preparations)?;
    let resident = |of: fn(&Trial) -> Option<u64>| trials().map(of).sum::<Option<u64>>();
    let before = resident(|trial| trial.resident_before);
    let after = resident(|trial| trial.resident_after);
    let mut kernels: BTreeMap<u32, Counted> = BTreeMap::new();
    let mut all: Option<Trial> = None;
    for Rest { kernel, mut trial, .. } in ranks {
        kernels.entry(kernel).or_default().keep_rest(&mut trial.evidence);
        match &mut all {
            None => all = Some(trial),
            Some(all) => join_trials(all, trial),
        }
    }
    let mut all = all?;
    (all.passes, all.short) = (passes, short);
    (all.resident_before, all.resident_after) = (before, after);
    let evidence = &mut all.evidence;
    (evidence.parts, evidence.unique_bytes, evidence.skew_nanos) = (parts, unique, skew);
    evidence.preparation = preparation;
    Some(all)
}

/// Returns what a rank did; `active`: when all ranks were at work.
fn share(rank: u32, of: &Rest, first: u64, active: &Range<u64>) -> RankShare {
    let trial = &of.trial;
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
        unique_bytes: trial.evidence.unique_bytes,
        hole_bytes: trial.hole_bytes,
        written: trial.evidence.written,
        resident_before: trial.resident_before,
        clock_error: of.clock_error,
    }
}

/// Adds up what the ranks prepared.
fn add_preparations(all: Option<Preparation>, more: Option<Preparation>) -> Option<Preparation> {
    Some(match (all?, more?) {
        (
            Preparation::Cold { left, mut mapped_by },
            Preparation::Cold { left: more, mapped_by: others },
        ) => {
            mapped_by.extend(others);
            mapped_by.dedup();
            Preparation::Cold { left: left.saturating_add(more), mapped_by }
        }
        (Preparation::Warm { resident }, Preparation::Warm { resident: more }) => {
            Preparation::Warm { resident: resident.saturating_add(more) }
        }
        (all, _) => all,
    })
}

/// Returns how much of its work a rank had done at a time: what its samples counted, in equal
/// speed between two of them.
fn done_until(of: &Rest, done: fn(&Sample) -> u64, all: u64, time: u64) -> u64 {
    let started = of.started();
    let (mut from, mut before) = (0, 0u64);
    let at = time.saturating_sub(started).min(of.trial.nanos);
    let counted = of.samples.iter().map(|sample| (sample.at, done(sample)));
    let mut sum = 0u64;
    let points = counted.map(|(at, more)| {
        sum = sum.saturating_add(more);
        (at, sum.min(all))
    });
    for (to, then) in points.chain([(of.trial.nanos, all)]) {
        if at <= to && to > from {
            let share = (at - from) as f64 / (to - from) as f64;
            return before + ((then - before) as f64 * share) as u64;
        }
        (from, before) = (to.max(from), then.max(before));
    }
    all
}

/// Adds up the samples of all ranks by the time at which they ended.
fn merge_samples(ranks: &[Rest], first: u64) -> Vec<Sample> {
    let mut all: Vec<Sample> = Vec::new();
    for of in ranks {
        let late = of.started() - first;
        let later = |s: &Sample| Sample { at: s.at.saturating_add(late), ..*s };
        all.extend(of.samples.iter().map(later));
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
