//! The outcome of a trial, joined from its parts. Where one pass over a small file is too short, a
//! trial consists of several parts, each prepared again outside the timed window.

use serde::{Deserialize, Serialize};

use crate::backend::Commits;
use crate::record::{
    CacheFlush, DeviceCounts, Evidence, LatencyLog, Note, OptU64, Others, Paced, Preparation,
    ReadBack, Sample, Surroundings, Trial, Verified, Visit, Xor,
};
use crate::stats::{Histogram, merge_neighbours};

/// The result of a trial.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TrialOutcome {
    pub trial: Trial,
    /// At a rate, from the intended starts.
    pub histogram: Histogram,
    /// At a rate, the same operations from their real starts.
    pub service: Option<Histogram>,
    /// `None` if the job commits nothing.
    pub commits: Option<Commits>,
    pub samples: Vec<Sample>,
    /// The latencies over time; `None` where none were timed.
    pub log: Option<LatencyLog>,
    /// Time of one operation in one lane, nanoseconds.
    pub per_op: f64,
    /// How long the work itself took, nanoseconds, without the time until the last lane had begun:
    /// that of the longest lane, or longer where lanes took turns on fewer CPUs.
    pub busy: u64,
}

/// Adds the notes that are not there yet: several lanes may have the same.
pub(super) fn add_notes(notes: &mut Vec<Note>, more: Vec<Note>) {
    for note in more {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}

/// Returns the time of one operation in one lane, nanoseconds; 0 without operations.
pub(super) fn nanos_per_op(trial: &Trial) -> f64 {
    if trial.ops == 0 { 0.0 } else { trial.evidence.lane_nanos as f64 / trial.ops as f64 }
}

/// Adds a later part to the parts before it.
pub(super) fn join_parts(all: &mut TrialOutcome, more: TrialOutcome) {
    let before = all.trial.nanos;
    let later = more
        .samples
        .into_iter()
        .map(|sample| Sample { at: sample.at.saturating_add(before), ..sample });
    all.samples.extend(later);
    merge_neighbours(&mut all.samples, Sample::MAX_PER_TRIAL, Sample::merge);
    append_log(&mut all.log, more.log, before);
    all.histogram.merge(&more.histogram);
    if let (Some(all), Some(more)) = (&mut all.service, &more.service) {
        all.merge(more);
    }
    if let Some(more) = &more.commits {
        all.commits.get_or_insert_default().merge(more);
    }
    all.busy = all.busy.saturating_add(more.busy);
    join_trials(&mut all.trial, more.trial);
    all.per_op = nanos_per_op(&all.trial);
}

/// Appends the latencies of a part that began `offset` nanoseconds later.
pub(super) fn append_log(all: &mut Option<LatencyLog>, more: Option<LatencyLog>, offset: u64) {
    match (all, more) {
        (Some(all), Some(more)) => all.append(more, offset),
        (all @ None, more) => *all = more,
        _ => {}
    }
}

/// Adds the figures of a later part, or of another process, to a trial.
pub(super) fn join_trials(all: &mut Trial, more: Trial) {
    let (nanos, folded) = ((all.nanos, more.nanos), all.xor);
    add_figures(all, &more);
    let facts = std::mem::take(&mut all.evidence);
    all.evidence = join_evidence(facts, more.evidence, nanos, folded);
}

fn add_figures(all: &mut Trial, more: &Trial) {
    let sums = [
        (&mut all.bytes, more.bytes),
        (&mut all.ops, more.ops),
        (&mut all.nanos, more.nanos),
        (&mut all.passes, more.passes),
        (&mut all.user_nanos, more.user_nanos),
        (&mut all.system_nanos, more.system_nanos),
        (&mut all.minor_faults, more.minor_faults),
        (&mut all.major_faults, more.major_faults),
        (&mut all.voluntary_switches, more.voluntary_switches),
        (&mut all.involuntary_switches, more.involuntary_switches),
    ];
    for (sum, part) in sums {
        *sum = sum.saturating_add(part);
    }
    for (rank, more) in all.ranks.iter_mut().zip(&more.ranks) {
        rank.bytes = rank.bytes.saturating_add(more.bytes);
        rank.ops = rank.ops.saturating_add(more.ops);
        rank.nanos = rank.nanos.saturating_add(more.nanos);
        rank.active_bytes = rank.active_bytes.saturating_add(more.active_bytes);
        rank.active_ops = rank.active_ops.saturating_add(more.active_ops);
        rank.device_bytes = add_both(rank.device_bytes, more.device_bytes);
    }
    all.syscalls = add_optional(all.syscalls, more.syscalls);
    all.device_bytes = add_both(all.device_bytes, more.device_bytes);
    all.hole_bytes = add_both(all.hole_bytes, more.hole_bytes);
    // A part that read other data than the first has no XOR in common with it.
    all.xor = all.xor.filter(|xor| Some(*xor) == more.xor);
    // The part furthest from the requested state counts: the most cached one of cold parts, the
    // least cached one of warm parts.
    let cold = matches!(more.evidence.preparation, Some(Preparation::Cold { .. }));
    let worst = if cold { u64::max } else { u64::min };
    all.resident_before = all.resident_before.zip(more.resident_before).map(|(a, b)| worst(a, b));
    all.resident_after = more.resident_after;
}

fn join_evidence(
    all: Evidence,
    more: Evidence,
    nanos: (u64, u64),
    folded: Option<Xor>,
) -> Evidence {
    let mean = |a: Option<f64>, b: Option<f64>| {
        let all = nanos.0.saturating_add(nanos.1) as f64;
        if all > 0.0 { Some((a? * nanos.0 as f64 + b? * nanos.1 as f64) / all) } else { None }
    };
    Evidence {
        prepare_nanos: all.prepare_nanos.saturating_add(more.prepare_nanos),
        preparation: less_complete(all.preparation, more.preparation),
        parts: all.parts.saturating_add(more.parts),
        unique_bytes: all.unique_bytes.min(more.unique_bytes),
        lane_bytes: all.lane_bytes.saturating_add(more.lane_bytes),
        planned_bytes: all.planned_bytes.saturating_add(more.planned_bytes),
        overlap_bytes: all.overlap_bytes.max(more.overlap_bytes),
        written: add_both(all.written, more.written),
        timed_ops: all.timed_ops.saturating_add(more.timed_ops),
        timed_nanos: all.timed_nanos.saturating_add(more.timed_nanos),
        lane_nanos: all.lane_nanos.saturating_add(more.lane_nanos),
        turn_nanos: all.turn_nanos.saturating_add(more.turn_nanos),
        xor_nanos: add_optional(all.xor_nanos, more.xor_nanos),
        achieved_depth: mean(all.achieved_depth, more.achieved_depth),
        skew_nanos: all.skew_nanos.saturating_add(more.skew_nanos),
        write_bytes: add_optional(all.write_bytes, more.write_bytes),
        cached_nanos: add_optional(all.cached_nanos, more.cached_nanos),
        // A sum: each part begins by writing the dirty pages of the one before back, untimed.
        unwritten_bytes: add_optional(all.unwritten_bytes, more.unwritten_bytes),
        disk_read_bytes: add_both(all.disk_read_bytes, more.disk_read_bytes),
        disk_write_bytes: add_both(all.disk_write_bytes, more.disk_write_bytes),
        disk_requests: add_optional(all.disk_requests, more.disk_requests),
        devices: add_devices(all.devices, more.devices),
        disk_depth: mean(all.disk_depth, more.disk_depth),
        steal_nanos: add_optional(all.steal_nanos, more.steal_nanos),
        queued_nanos: add_optional(all.queued_nanos, more.queued_nanos),
        cpu_cache: all.cpu_cache.zip(more.cpu_cache).map(|(a, b)| less_flushed(a, b)),
        residency: all.residency.or(more.residency),
        read_back: join_read_back((all.read_back, more.read_back), folded),
        verified: join_verified(all.verified, more.verified),
        others: join_others(all.others, more.others),
        surroundings: join_surroundings(all.surroundings, more.surroundings, nanos.0),
        paced: join_paced(all.paced, more.paced),
        neighbour: join_visits(all.neighbour, more.neighbour),
        below: all.below.zip(more.below).map(|(all, more)| Box::new(all.join(&more))),
        notes: join_notes(all.notes, more.notes),
        ended_by_time: all.ended_by_time || more.ended_by_time,
        // The start of the trial, and the state at that time.
        started: all.started,
        overran: all.overran,
        prepared: all.prepared,
        visited: all.visited,
        first: all.first,
        rounds: all.rounds,
        clock: all.clock,
        stopped: all.stopped,
        huge_page_cache: all.huge_page_cache,
    }
}

fn join_notes(mut all: Vec<Note>, more: Vec<Note>) -> Vec<Note> {
    add_notes(&mut all, more);
    all
}

/// Returns the last of two that were read back, or the first that differs.
fn join_read_back(
    (first, last): (Option<ReadBack>, Option<ReadBack>),
    folded: Option<Xor>,
) -> Option<ReadBack> {
    let (first, last) = first.zip(last)?;
    Some(if folded.is_some_and(|xor| first.matches(xor)) { last } else { first })
}

/// Joins the verified parts; a part that was not read back leaves the trial incomplete.
fn join_verified(all: Option<Box<Verified>>, more: Option<Box<Verified>>) -> Option<Box<Verified>> {
    let mut all = all?;
    match more {
        Some(more) => all.join(*more),
        None => all.written = all.written.max(all.bytes.saturating_add(1)),
    }
    Some(all)
}

/// Joins what the parts saw of others; one that saw none adds nothing.
fn join_others(all: Option<Box<Others>>, more: Option<Box<Others>>) -> Option<Box<Others>> {
    match (all, more) {
        (Some(mut all), Some(more)) => {
            all.join(&more);
            Some(all)
        }
        (all, more) => all.or(more),
    }
}

/// Joins what happened around the parts, of which the later one began after `offset` nanoseconds.
fn join_surroundings(
    all: Option<Box<Surroundings>>,
    more: Option<Box<Surroundings>>,
    offset: u64,
) -> Option<Box<Surroundings>> {
    let Some(more) = more else { return all };
    let mut all = all.unwrap_or_default();
    all.join(*more, offset);
    Some(all)
}

/// Joins how the parts kept their pace.
fn join_paced(all: Option<Box<Paced>>, more: Option<Box<Paced>>) -> Option<Box<Paced>> {
    let (mut all, more) = (all?, more?);
    all.join(&more);
    Some(all)
}

/// Joins the work of a neighbour during the parts.
fn join_visits(all: Option<Box<Visit>>, more: Option<Box<Visit>>) -> Option<Box<Visit>> {
    let (mut all, more) = (all?, more?);
    all.join(&more);
    Some(all)
}

fn add_devices(mut all: Vec<DeviceCounts>, more: Vec<DeviceCounts>) -> Vec<DeviceCounts> {
    all.retain(|counts| more.iter().any(|other| other.device == counts.device));
    for counts in &mut all {
        let Some(other) = more.iter().find(|other| other.device == counts.device) else { continue };
        counts.written = add_optional(counts.written, other.written);
        counts.flushes = add_optional(counts.flushes, other.flushes);
        counts.flush_nanos = add_optional(counts.flush_nanos, other.flush_nanos);
    }
    all
}

fn add_both(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a.saturating_add(b))
}

fn add_optional(a: OptU64, b: OptU64) -> OptU64 {
    add_both(a.get(), b.get()).into()
}

/// Returns the preparation that is further from its goal.
fn less_complete(a: Option<Preparation>, b: Option<Preparation>) -> Option<Preparation> {
    match (a?, b?) {
        (Preparation::Cold { left, .. }, worst @ Preparation::Cold { left: more, .. })
            if more > left =>
        {
            Some(worst)
        }
        (Preparation::Warm { resident }, worst @ Preparation::Warm { resident: less })
            if less < resident =>
        {
            Some(worst)
        }
        (first, _) => Some(first),
    }
}

/// Returns the flush that slowed down loads less.
fn less_flushed(a: CacheFlush, b: CacheFlush) -> CacheFlush {
    fn slowdown(flush: &CacheFlush) -> f64 {
        flush.after_nanos / flush.before_nanos
    }
    if slowdown(&b) < slowdown(&a) { b } else { a }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// Returns a result of nothing.
    pub fn outcome() -> TrialOutcome {
        TrialOutcome {
            trial: Trial::default(),
            histogram: Histogram::new(),
            service: None,
            commits: None,
            samples: Vec::new(),
            log: None,
            per_op: 0.0,
            busy: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(nanos: u64, left: u64, xor: u32) -> TrialOutcome {
        let evidence = Evidence {
            parts: 1,
            unique_bytes: 4096,
            unwritten_bytes: 1024.into(),
            lane_nanos: nanos,
            started: left,
            preparation: Some(Preparation::Cold { left, mapped_by: vec![] }),
            disk_depth: Some(nanos as f64),
            steal_nanos: 5.into(),
            queued_nanos: nanos.into(),
            ..Evidence::default()
        };
        let trial = Trial {
            bytes: 4096,
            ops: 2,
            nanos,
            passes: 1,
            syscalls: 3.into(),
            minor_faults: 7,
            xor: Some(Xor(xor)),
            device_bytes: Some(4096),
            resident_before: Some(left),
            evidence,
            ..Trial::default()
        };
        let samples = vec![Sample { at: nanos, nanos, bytes: 4096, ops: 2, syscalls: 3 }];
        TrialOutcome { trial, samples, busy: nanos, ..testing::outcome() }
    }

    #[test]
    fn parts_add_up_with_worst_preparation() {
        let mut all = outcome(100, 0, 9);
        join_parts(&mut all, outcome(300, 8, 9));
        join_parts(&mut all, outcome(100, 4, 9));
        let trial = &all.trial;
        assert_eq!(
            (trial.bytes, trial.ops, trial.nanos, trial.passes, trial.minor_faults),
            (12288, 6, 500, 3, 21)
        );
        assert_eq!(
            (trial.syscalls.get(), trial.device_bytes, trial.resident_before, trial.xor),
            (Some(9), Some(12288), Some(8), Some(Xor(9)))
        );
        let facts = &trial.evidence;
        assert_eq!(
            (facts.unique_bytes, facts.lane_nanos, facts.started, facts.steal_nanos.get()),
            (4096, 500, 0, Some(15))
        );
        assert_eq!(
            (facts.parts, facts.unwritten_bytes.get(), facts.queued_nanos.get()),
            (3, Some(3072), Some(500))
        );
        assert_eq!(facts.preparation, Some(Preparation::Cold { left: 8, mapped_by: vec![] }));
        assert!((facts.disk_depth.unwrap() - 220.0).abs() < 1e-9);
        assert_eq!(all.samples.iter().map(|s| s.at).collect::<Vec<_>>(), [100, 400, 500]);
        assert!((all.per_op - 500.0 / 6.0).abs() < 1e-9);
        join_parts(&mut all, outcome(100, 4, 1));
        assert_eq!(all.trial.xor, None);
    }

    #[test]
    fn equal_notes_are_kept_once() {
        let mut notes = Vec::new();
        for step in [7, 7, 9] {
            add_notes(&mut notes, vec![Note::CallsUnknown, Note::CoarseClock(step)]);
        }
        assert_eq!(notes, [Note::CallsUnknown, Note::CoarseClock(7), Note::CoarseClock(9)]);
    }
}
