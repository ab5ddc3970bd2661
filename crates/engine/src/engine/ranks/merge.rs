//! Merges the measurements of all ranks into one trial.
//!
//! Bytes and calls are sums, and the time is from the first rank's start to the last one's end, so
//! the throughput is what all ranks moved until the last was done. Latencies are merged value by
//! value; percentiles are never averaged. What a machine counts for all its processes counts once
//! for each machine.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::backend::Commits;
use crate::engine::trial_parts::{TrialOutcome, append_log, join_trials, nanos_per_op};
use crate::record::{Evidence, LatencyLog, OptU64, Preparation, RankShare, Sample, Trial};
use crate::stats::Histogram;

/// The merged latencies of all ranks, and the other figures of each: a thousand histograms do not
/// fit the caches.
#[derive(Default)]
pub struct Merger {
    histogram: Histogram,
    commits: Option<Commits>,
    /// The latencies over time, from the start of the first rank that was added.
    log: Option<LatencyLog>,
    ranks: Vec<RankTrial>,
    busy: u64,
}

/// The trial of one rank, without latencies.
struct RankTrial {
    /// The number of its kernel.
    kernel: u32,
    /// The largest error of its clock against that of rank 0, nanoseconds.
    clock_error: u64,
    trial: Trial,
    samples: Vec<Sample>,
}

impl RankTrial {
    fn started(&self) -> u64 {
        self.trial.evidence.started
    }

    fn end(&self) -> u64 {
        self.started().saturating_add(self.trial.nanos)
    }
}

impl Merger {
    /// Adds the outcome of the next rank.
    pub fn add(&mut self, kernel: u32, clock_error: u64, outcome: TrialOutcome) {
        let TrialOutcome { mut trial, histogram, commits, samples, log, busy, .. } = outcome;
        // Ranks start together, so that none is early by a whole interval.
        let began = self.ranks.first().map_or(0, RankTrial::started);
        append_log(&mut self.log, log, trial.evidence.started.saturating_sub(began));
        self.histogram.merge(&histogram);
        if let Some(commits) = &commits {
            self.commits.get_or_insert_default().merge(commits);
        }
        self.busy = self.busy.max(busy);
        for bad in trial.evidence.verified.iter_mut().flat_map(|of| &mut of.first) {
            bad.rank = Some(self.ranks.len() as u32);
        }
        self.ranks.push(RankTrial { kernel, clock_error, trial, samples });
    }

    /// Returns the trial of all ranks; `None` without any.
    pub fn finish(self) -> Option<TrialOutcome> {
        let Merger { histogram, commits, log, ranks, busy } = self;
        let first = ranks.iter().map(RankTrial::started).min()?;
        let last = ranks.iter().map(RankTrial::end).max()?;
        let last_start = ranks.iter().map(RankTrial::started).max()?;
        let active = last_start..ranks.iter().map(RankTrial::end).min()?;
        let shares = (0..).zip(&ranks).map(|(rank, of)| share(rank, of, first, &active)).collect();
        let samples = merge_samples(&ranks, first);
        let mut trial = join(ranks)?;
        trial.nanos = last - first;
        trial.ranks = shares;
        // Ranks read other files, or other parts of one.
        trial.xor = None;
        trial.evidence.started = first;
        trial.evidence.skew_nanos = trial.evidence.skew_nanos.max(last_start - first);
        let per_op = nanos_per_op(&trial);
        Some(TrialOutcome { trial, histogram, service: None, commits, samples, log, per_op, busy })
    }
}

/// Joins the trials of the ranks; all that is not a sum over them follows.
fn join(ranks: Vec<RankTrial>) -> Option<Trial> {
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
    let mut kernels: BTreeMap<u32, MachineCounters> = BTreeMap::new();
    let mut all: Option<Trial> = None;
    for RankTrial { kernel, mut trial, .. } in ranks {
        kernels.entry(kernel).or_default().keep_rest(&mut trial.evidence);
        match &mut all {
            None => all = Some(trial),
            Some(all) => join_trials(all, trial),
        }
    }
    let mut all = all?;
    all.passes = passes;
    all.short = short;
    all.resident_before = before;
    all.resident_after = after;
    let evidence = &mut all.evidence;
    evidence.parts = parts;
    evidence.unique_bytes = unique;
    evidence.skew_nanos = skew;
    evidence.preparation = preparation;
    Some(all)
}

/// Returns the share of a rank; all ranks worked during `active`.
fn share(rank: u32, of: &RankTrial, first: u64, active: &Range<u64>) -> RankShare {
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

/// Returns the work that a rank had done by `time`, interpolated linearly between its samples.
fn done_until(of: &RankTrial, done: fn(&Sample) -> u64, all: u64, time: u64) -> u64 {
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
fn merge_samples(ranks: &[RankTrial], first: u64) -> Vec<Sample> {
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

/// Counters of one machine, which all of its ranks see, each from its own start to its own end: the
/// most that any of them has seen so far.
#[derive(Debug, Default)]
struct MachineCounters {
    disk_read: u64,
    disk_write: u64,
    requests: u64,
    steal: u64,
    /// By name: bytes written, flushes and their time.
    devices: BTreeMap<String, [u64; 3]>,
}

impl MachineCounters {
    /// Leaves in the evidence of a rank only what no earlier rank of this machine has seen.
    fn keep_rest(&mut self, evidence: &mut Evidence) {
        evidence.disk_read_bytes = rest(&mut self.disk_read, evidence.disk_read_bytes);
        evidence.disk_write_bytes = rest(&mut self.disk_write, evidence.disk_write_bytes);
        evidence.disk_requests = rest_of(&mut self.requests, evidence.disk_requests);
        evidence.steal_nanos = rest_of(&mut self.steal, evidence.steal_nanos);
        for own in &mut evidence.devices {
            let most = self.devices.entry(own.device.clone()).or_default();
            let counters = [&mut own.written, &mut own.flushes, &mut own.flush_nanos];
            for (most, own) in most.iter_mut().zip(counters) {
                *own = rest_of(most, *own);
            }
        }
    }
}

/// Returns the part of a counter above the most that was seen, which it then becomes.
fn rest(most: &mut u64, own: Option<u64>) -> Option<u64> {
    let own = own?;
    let more = own.saturating_sub(*most);
    *most = own.max(*most);
    Some(more)
}

fn rest_of(most: &mut u64, own: OptU64) -> OptU64 {
    rest(most, own.get()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::DeviceCounts;

    #[test]
    fn last_rank_has_seen_all() {
        let mut counted = MachineCounters::default();
        let mut seen = Vec::new();
        for (bytes, flushes) in [(100, 3), (250, 2), (180, 9)] {
            let mut evidence = Evidence::default();
            let device = DeviceCounts {
                device: "vda".into(),
                written: bytes.into(),
                flushes: flushes.into(),
                ..DeviceCounts::default()
            };
            evidence.disk_write_bytes = Some(bytes);
            evidence.devices = vec![device];
            counted.keep_rest(&mut evidence);
            seen.push((evidence.disk_write_bytes, evidence.devices[0].flushes.get()));
            assert_eq!(evidence.disk_read_bytes, None, "unknown stays unknown");
        }
        assert_eq!(seen, [(Some(100), Some(3)), (Some(150), Some(0)), (Some(0), Some(6))]);
    }
}
