//! One trial: prepare, run, and write down what happened with the evidence of it.

use std::time::Duration;

use super::cells::{Amount, Cell};
use super::control::Cut;
use super::error::Failure;
use super::foreign;
use super::observe::{self, Cached, Counters};
use super::prepare::{Ready, prepare};
use super::target::Bench;
use super::way::Way;
use super::workers::{self, LaneDone, Ran, Spec, Watch};
use crate::backend::meter::Timed;
use crate::peer;
use crate::plan::{Cache, CpuCache, Job, Moves, Op, Pattern, Sync};
use crate::record::{CacheFlush, Evidence, Note, Prepared, Sample, Trial, Xor};
use crate::stats::Histogram;
use crate::sys::clock::monotonic_nanos;
use crate::sys::cpu_cache;
use crate::sys::memory::Memory;

/// Where and when a trial runs.
pub(super) struct Stage<'a> {
    pub bench: &'a Bench,
    /// CLOCK_MONOTONIC at the start of the run.
    pub origin: u64,
    /// Seed of this trial's random offsets.
    pub seed: u64,
    /// Whether to end the trial now, and how.
    pub cut: &'a dyn Fn() -> Option<Cut>,
    /// Ends the trial so long after its lanes began.
    pub limit: Option<Duration>,
}

/// A trial that ran.
pub(super) struct Took {
    pub trial: Trial,
    pub histogram: Histogram,
    pub samples: Vec<Sample>,
    /// Time of one operation in one lane, nanoseconds.
    pub per_op: f64,
    /// How long the work itself took, without the time until the last lane had begun: that of the longest lane, or
    /// longer where lanes took turns on fewer CPUs.
    pub busy: u64,
}

pub(super) fn run(stage: &Stage, cell: &Cell, amount: &Amount, sample: &mut Watch) -> Result<Took, Failure> {
    let (bench, job) = (stage.bench, &cell.job);
    let began = monotonic_nanos();
    let ready = prepare(bench, job, &|| (stage.cut)().is_some())?;
    let prepared = monotonic_nanos();
    let done = match cell.way {
        Way::Backend(_) => job.clone(),
        Way::Peer(_) => peer::whole_blocks(job),
    };
    let spec = Spec {
        way: cell.way,
        target: bench.target.clone(),
        count: amount.count.min(done.blocks()),
        job: done,
        passes: amount.passes,
        seed: stage.seed,
        timed: amount.timed,
        limit: stage.limit,
    };
    let huge_page_cache = Memory::now().ok().and_then(|m| m.file_huge_pages);
    let (mut before, mut flushed) = (Counters::default(), None);
    let mut at_go = || {
        flushed = (job.cpu_cache == CpuCache::Flush).then(|| flush(bench, job, &ready));
        before = Counters::now(&bench.file, bench.device);
    };
    let ran = match cell.way {
        Way::Backend(backend) => workers::run(&spec, backend, &mut at_go, stage.cut, sample)?,
        Way::Peer(peer) => {
            let expected = Duration::from_nanos(amount.nanos);
            foreign::run(peer, &spec, &bench.file, expected, &mut at_go, stage.cut, sample)?
        }
    };
    let after = Counters::now(&bench.file, bench.device);
    let cached_after = observe::cached(&bench.file, job.span, job.cache != Cache::AsIs);
    let evidence = Evidence {
        prepared: prepared.saturating_sub(stage.origin),
        prepare_nanos: prepared - began,
        huge_page_cache: huge_page_cache.into(),
        cpu_cache: flushed.flatten(),
        ..Evidence::default()
    };
    Ok(written_down(stage, &spec, ran, (&before, &after), (ready, cached_after), evidence))
}

fn written_down(
    stage: &Stage,
    spec: &Spec,
    ran: Ran,
    (before, after): (&Counters, &Counters),
    (ready, cached_after): (Ready, Option<Cached>),
    mut evidence: Evidence,
) -> Took {
    let Ran { mut lanes, samples } = ran;
    let mut histogram = Histogram::new();
    for lane in &mut lanes {
        if let Some(own) = lane.tally.histogram.take() {
            histogram.merge(&own);
        }
        evidence.notes.extend(std::mem::take(&mut lane.tally.notes));
    }
    evidence.notes.dedup();
    let mut trial = counted(&lanes, spec);
    if evidence.notes.contains(&Note::CallsUnknown) {
        trial.syscalls = None.into();
    }
    let turns = (trial.user_nanos + trial.system_nanos) / workers::cpus();
    let busy = lanes.iter().map(|l| l.end - l.start).max().unwrap_or(0).max(turns);
    lane_evidence(&lanes, spec, &mut evidence, stage.origin);
    evidence.timed_ops = histogram.count();
    evidence.timed_nanos = (histogram.mean() * histogram.count() as f64) as u64;
    after.tell(before, spec.job.op, trial.nanos, &mut evidence);
    evidence.residency = ready.cached.or(cached_after).map(|c| c.method);
    evidence.unwritten_bytes = cached_after.and_then(|c| c.unwritten).filter(|_| spec.job.op == Op::Write).into();
    evidence.xor_nanos = (!spec.job.xor || spec.timed == Timed::Chained).then_some(0).into();
    trial.device_bytes = after.device_bytes(before);
    // In which order another program jumped is not known.
    let whole = !lanes.iter().any(|l| l.tally.rest > 0 || l.share.quota < l.share.blocks);
    let known = whole || !spec.way.info().is_peer() || spec.job.pattern == Pattern::Seq;
    trial.hole_bytes = hole_bytes(stage.bench, &lanes).filter(|bytes| known || *bytes == 0);
    trial.resident_before = ready.cached.map(|c| c.resident);
    trial.resident_after = cached_after.map(|c| c.resident);
    let proved = ready.cached.is_some() || ready.reached == Prepared::AsIs;
    evidence.preparation = proved.then_some(ready.reached);
    trial.evidence = evidence;
    let per_op = if trial.ops == 0 { 0.0 } else { trial.evidence.lane_nanos as f64 / trial.ops as f64 };
    Took { trial, histogram, samples, per_op, busy }
}

/// Empties the CPU caches when every lane is open; `None` where that cannot be shown.
fn flush(bench: &Bench, job: &Job, ready: &Ready) -> Option<CacheFlush> {
    // Mapping what is not in memory would read it.
    let resident = job.cache == Cache::Warm || ready.cached.is_some_and(|c| c.resident >= job.span);
    let found = cpu_cache::flush(resident.then_some((&bench.file, job.span)).filter(|_| !job.direct)).ok()?;
    Some(CacheFlush { before_nanos: found.before, after_nanos: found.after, flushed_bytes: found.bytes })
}

/// The figures of the trial: sums over its lanes.
fn counted(lanes: &[LaneDone], spec: &Spec) -> Trial {
    let sum = |of: fn(&LaneDone) -> u64| lanes.iter().map(of).sum::<u64>();
    let start = lanes.iter().map(|l| l.start).min().unwrap_or(0);
    let end = lanes.iter().map(|l| l.end).max().unwrap_or(0);
    let short = lanes.iter().any(|l| l.tally.passes < spec.passes && l.share.quota > 0);
    let whole = spec.count >= spec.job.blocks();
    // Later passes cancel out in pairs; the first one is kept apart, and a cut pass has no XOR of its own.
    let seen = spec.way.info().moves == Moves::Data && spec.job.mix.is_none();
    let folded = (spec.job.xor && seen && !short).then(|| Xor(lanes.iter().fold(0, |all, l| all ^ l.tally.folds[0])));
    Trial {
        bytes: sum(|l| l.tally.bytes),
        ops: sum(|l| l.tally.ops),
        syscalls: sum(|l| l.tally.syscalls).into(),
        nanos: end - start,
        passes: if whole { lanes.iter().filter(|l| l.share.quota > 0).map(|l| l.tally.passes).min().unwrap_or(0) } else { 0 },
        xor: folded,
        user_nanos: sum(|l| l.usage.user_nanos),
        system_nanos: sum(|l| l.usage.system_nanos),
        minor_faults: sum(|l| l.usage.minor_faults),
        major_faults: sum(|l| l.usage.major_faults),
        voluntary_switches: sum(|l| l.usage.voluntary_switches),
        involuntary_switches: sum(|l| l.usage.involuntary_switches),
        short,
        ..Trial::default()
    }
}

fn lane_evidence(lanes: &[LaneDone], spec: &Spec, evidence: &mut Evidence, origin: u64) {
    let starts = || lanes.iter().map(|l| l.start);
    let start = starts().min().unwrap_or(0);
    let synced = spec.job.op == Op::Write && spec.job.sync == Sync::End && !spec.job.direct;
    evidence.cached_nanos = lanes.iter().map(|l| l.ran).max().filter(|_| synced).map(|ran| ran.saturating_sub(start)).into();
    evidence.started = start.saturating_sub(origin);
    evidence.skew_nanos = starts().max().unwrap_or(0) - start;
    // A lane without a block is not at work; many of them would outweigh one operation.
    evidence.lane_nanos = lanes.iter().filter(|l| l.share.quota > 0).map(|l| l.ran - l.start).sum();
    evidence.lane_bytes = lanes.iter().map(|l| l.tally.bytes).sum();
    let moves = spec.way.info().moves_bytes();
    for lane in lanes {
        let pass = pass_bytes(lane, 0, lane.share.quota);
        let rest = pass_bytes(lane, lane.tally.passes, lane.tally.rest);
        let first = if lane.tally.passes > 0 { pass } else { rest };
        evidence.unique_bytes += if moves { first } else { 0 };
        evidence.planned_bytes += if moves { pass * lane.tally.passes + rest } else { 0 };
    }
    evidence.written = spec.job.mix.map(|_| lanes.iter().map(written).sum());
    evidence.overlap_bytes = overlap(lanes);
    let (flying, waits) = lanes.iter().fold((0, 0), |all, l| (all.0 + l.tally.flying.0, all.1 + l.tally.flying.1));
    evidence.achieved_depth = (waits > 0).then(|| flying as f64 / waits as f64);
}

/// Bytes of the first `ops` operations of a pass: all blocks are whole but the span's last.
fn pass_bytes(lane: &LaneDone, pass: u64, ops: u64) -> u64 {
    let share = &lane.share;
    if ops == share.blocks {
        let range = share.range();
        return range.end - range.start;
    }
    let odd = !share.span.is_multiple_of(share.block) && share.range().end == share.span;
    let mut bytes = ops * share.block;
    if odd && visits_last(lane, pass, ops) {
        bytes = bytes - share.block + share.span % share.block;
    }
    bytes
}

/// Bytes that a lane wrote where reads and writes are mixed: which operations did is known beforehand.
fn written(lane: &LaneDone) -> u64 {
    let whole: u64 = (0..lane.tally.passes).map(|pass| lane.share.written(pass, u64::MAX)).sum();
    whole + lane.share.written(lane.tally.passes, lane.tally.rest)
}

/// Whether the first `ops` operations of a pass, not all of them, come to the lane's last block.
fn visits_last(lane: &LaneDone, pass: u64, ops: u64) -> bool {
    let share = &lane.share;
    match share.pattern {
        Pattern::Seq => false,
        Pattern::Reverse => ops > 0,
        Pattern::Stride(_) | Pattern::Random => {
            let last = (share.first + share.blocks - 1) * share.block;
            let mut seen = false;
            share.replay(pass, ops, |offset, _| seen |= offset == last);
            seen
        }
    }
}

fn overlap(lanes: &[LaneDone]) -> u64 {
    let mut ranges: Vec<_> = lanes.iter().map(|l| l.share.range()).filter(|r| !r.is_empty()).collect();
    ranges.sort_by_key(|r| r.start);
    ranges.windows(2).map(|w| w[0].end.min(w[1].end).saturating_sub(w[1].start)).sum()
}

/// Bytes of the operations that lay in holes: whole passes from the map, a cut one by replaying its offsets.
fn hole_bytes(bench: &Bench, lanes: &[LaneDone]) -> Option<u64> {
    let extents = bench.extents.as_ref().filter(|e| e.method != crate::sys::extents::ExtentMethod::Assumed)?;
    if extents.hole_bytes() == 0 {
        return Some(0);
    }
    let mut bytes = 0;
    for lane in lanes {
        let replayed = |pass, ops| {
            let mut bytes = 0;
            lane.share.replay(pass, ops, |offset, len| bytes += extents.hole_bytes_in(offset..offset + len));
            bytes
        };
        for pass in 0..lane.tally.passes {
            let whole = lane.share.quota == lane.share.blocks;
            bytes += if whole { extents.hole_bytes_in(lane.share.range()) } else { replayed(pass, lane.share.quota) };
        }
        bytes += replayed(lane.tally.passes, lane.tally.rest);
    }
    Some(bytes)
}

/// The job's count where calibration does not choose it.
pub(super) fn fixed_count(job: &Job) -> Option<u64> {
    job.count.map(|count| if count == 0 { job.blocks() } else { count.min(job.blocks()) })
}
