//! One trial: prepare, run, and write down what happened with the evidence of it.

use std::ops::Range;
use std::time::Duration;

use super::cells::{Amount, Cell};
use super::control::Cut;
use super::error::Failure;
use super::foreign;
use super::observe::{self, Cached, Counters};
use super::parts;
use super::prepare::{Ready, prepare};
use super::read_back::read_back;
use super::target::Bench;
use super::visited::{Visited, hole_bytes, overlap, visited};
use super::way::Way;
use super::workers::{self, LaneDone, Ran, Spec, Watch};
use crate::backend::meter::Timed;
use crate::backend::written_block;
use crate::peer;
use crate::plan::{Cache, CpuCache, Job, Moves, Op, Pattern, Sync};
use crate::record::{CacheFlush, Evidence, Note, Preparation, Sample, Trial, Xor};
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
    /// The blocks that are used, of a file that was prepared before.
    pub part: Option<Range<u64>>,
}

/// A trial that ran.
pub(super) struct Took {
    pub trial: Trial,
    pub histogram: Histogram,
    pub samples: Vec<Sample>,
    /// Time of one operation in one lane, nanoseconds.
    pub per_op: f64,
    /// How long the work itself took, without the time until the last lane had begun: that of the
    /// longest lane, or longer where lanes took turns on fewer CPUs.
    pub busy: u64,
}

/// A trial: all its parts one after the other, as one.
pub(super) fn run(
    stage: &Stage,
    cell: &Cell,
    amount: &Amount,
    sample: &mut Watch,
) -> Result<Took, Failure> {
    let mut took = part(stage, cell, amount, sample)?;
    for _ in 1..amount.parts {
        if took.trial.short || (stage.cut)().is_some() {
            break;
        }
        let before = took.trial.nanos;
        let mut later =
            |of: Sample, lanes| sample(Sample { at: of.at.saturating_add(before), ..of }, lanes);
        match part(stage, cell, amount, &mut later) {
            // What the parts before it found holds without it.
            Err(Failure::Stopped) => break,
            Ok(more) if more.trial.short => break,
            more => parts::join(&mut took, more?),
        }
    }
    Ok(took)
}

/// One preparation and the work after it.
fn part(stage: &Stage, cell: &Cell, amount: &Amount, sample: &mut Watch) -> Result<Took, Failure> {
    let (bench, job) = (stage.bench.of_job(&cell.job), &cell.job);
    let began = monotonic_nanos();
    let ready = match stage.part {
        None => prepare(bench, job, &|| (stage.cut)().is_some())?,
        Some(_) => Ready { reached: Preparation::AsIs, cached: None },
    };
    if let Some(why) = bench.replaced() {
        return Err(Failure::Cell(why));
    }
    let prepared = monotonic_nanos();
    let done = match cell.way {
        Way::Backend(_) => job.clone(),
        Way::Peer(_) => peer::round_to_blocks(job),
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
        part: stage.part.clone(),
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
    let whole = stage.part.is_none();
    let cached_after =
        whole.then(|| observe::cached(&bench.file, job.span, job.cache != Cache::AsIs)).flatten();
    let evidence = Evidence {
        prepared: prepared.saturating_sub(stage.origin),
        prepare_nanos: prepared - began,
        parts: 1,
        huge_page_cache: huge_page_cache.into(),
        cpu_cache: flushed.flatten(),
        ..Evidence::default()
    };
    Ok(written_down((stage, bench), &spec, ran, (&before, &after), (ready, cached_after), evidence))
}

fn written_down(
    (stage, bench): (&Stage, &Bench),
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
        add(&mut evidence.notes, std::mem::take(&mut lane.tally.notes));
    }
    let visited = visited(&lanes, spec);
    let mut trial = counted(&lanes, &visited, spec);
    if evidence.notes.contains(&Note::CallsUnknown) {
        trial.syscalls = None.into();
    }
    let turns = (trial.user_nanos + trial.system_nanos) / workers::cpus();
    let busy = lanes.iter().map(|l| l.end - l.start).max().unwrap_or(0).max(turns);
    lane_evidence(&lanes, &visited, spec, &mut evidence, stage.origin);
    evidence.timed_ops = histogram.count();
    evidence.timed_nanos = (histogram.mean() * histogram.count() as f64) as u64;
    after.tell(before, &spec.job, trial.nanos, &mut evidence);
    evidence.residency = ready.cached.or(cached_after).map(|c| c.method);
    evidence.unwritten_bytes =
        cached_after.and_then(|c| c.unwritten).filter(|_| spec.job.op == Op::Write).into();
    evidence.xor_nanos = (!spec.job.xor || spec.timed == Timed::Chained).then_some(0).into();
    trial.device_bytes = after.device_bytes(before);
    // In which order another program jumped is not known.
    let whole = !lanes.iter().any(|l| l.tally.rest > 0 || l.share.quota < l.share.blocks);
    let known = whole || !spec.way.info().is_peer() || spec.job.pattern == Pattern::Seq;
    trial.hole_bytes =
        hole_bytes(&visited, bench.extents.as_ref()).filter(|bytes| known || *bytes == 0);
    trial.resident_before = ready.cached.map(|c| c.resident);
    trial.resident_after = cached_after.map(|c| c.resident);
    let proved = ready.cached.is_some() || ready.reached == Preparation::AsIs;
    evidence.preparation = proved.then_some(ready.reached);
    if let Some(size) = after.size().filter(|size| spec.job.appends() && *size != trial.bytes) {
        evidence.notes.push(Note::FileChanged(format!(
            "its size is {size} bytes, and {} were written to it",
            trial.bytes
        )));
    }
    if spec.job.appends() && trial.xor.is_some() {
        let back = |block: Vec<u8>| {
            read_back(&bench.file, &block, trial.bytes, &|| (stage.cut)().is_some())
        };
        evidence.read_back = written_block(&spec.job).and_then(back).ok().flatten();
    }
    trial.evidence = evidence;
    let per_op =
        if trial.ops == 0 { 0.0 } else { trial.evidence.lane_nanos as f64 / trial.ops as f64 };
    Took { trial, histogram, samples, per_op, busy }
}

/// Each note once: lanes that have several would repeat them in turn.
pub(super) fn add(notes: &mut Vec<Note>, more: Vec<Note>) {
    for note in more {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}

/// Empties the CPU caches when every lane is open; `None` where that cannot be shown.
fn flush(bench: &Bench, job: &Job, ready: &Ready) -> Option<CacheFlush> {
    // Mapping what is not in memory would read it.
    let resident = !job.appends()
        && (job.cache == Cache::Warm || ready.cached.is_some_and(|c| c.resident >= job.span));
    let found =
        cpu_cache::flush(resident.then_some((&*bench.file, job.span)).filter(|_| !job.direct))
            .ok()?;
    Some(CacheFlush {
        before_nanos: found.before,
        after_nanos: found.after,
        flushed_bytes: found.bytes,
    })
}

/// The figures of the trial: sums over its lanes.
fn counted(lanes: &[LaneDone], visited: &[Visited], spec: &Spec) -> Trial {
    let sum = |of: fn(&LaneDone) -> u64| lanes.iter().map(of).sum::<u64>();
    let start = lanes.iter().map(|l| l.start).min().unwrap_or(0);
    let end = lanes.iter().map(|l| l.end).max().unwrap_or(0);
    let passes = visited.iter().filter_map(Visited::passes).min();
    let short = passes.is_some_and(|passes| passes < spec.passes);
    let whole = spec.part.is_none() && spec.count >= spec.job.blocks();
    // Later passes cancel out in pairs; the first one is kept apart, and a cut pass has no XOR of
    // its own.
    let seen = spec.way.info().moves() == Moves::Data && spec.job.mix.is_none();
    let folded = (spec.job.xor && seen && !short)
        .then(|| Xor(lanes.iter().fold(0, |all, l| all ^ l.tally.folds[0])));
    Trial {
        bytes: sum(|l| l.tally.bytes),
        ops: sum(|l| l.tally.ops),
        syscalls: sum(|l| l.tally.syscalls).into(),
        nanos: end - start,
        passes: passes.filter(|_| whole).unwrap_or(0),
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

fn lane_evidence(
    lanes: &[LaneDone],
    visited: &[Visited],
    spec: &Spec,
    evidence: &mut Evidence,
    origin: u64,
) {
    let starts = || lanes.iter().map(|l| l.start);
    let start = starts().min().unwrap_or(0);
    let synced = spec.job.op == Op::Write && spec.job.sync == Sync::End && !spec.job.direct;
    evidence.cached_nanos = lanes
        .iter()
        .map(|l| l.ran)
        .max()
        .filter(|_| synced)
        .map(|ran| ran.saturating_sub(start))
        .into();
    evidence.started = start.saturating_sub(origin);
    evidence.skew_nanos = starts().max().unwrap_or(0) - start;
    // A lane without a block is not at work; many of them would outweigh one operation.
    evidence.lane_nanos = lanes.iter().filter(|l| l.share.quota > 0).map(|l| l.ran - l.start).sum();
    evidence.queued_nanos = lanes.iter().map(|l| l.queued).sum::<Option<u64>>().into();
    evidence.lane_bytes = lanes.iter().map(|l| l.tally.bytes).sum();
    if spec.way.info().moves_bytes() {
        let bytes: Vec<(u64, u64)> = visited.iter().map(Visited::bytes).collect();
        evidence.planned_bytes = bytes.iter().map(|(all, _)| all).sum();
        evidence.unique_bytes = bytes.iter().map(|(_, unique)| unique).sum();
    }
    evidence.written = spec.job.mix.map(|_| visited.iter().map(Visited::written).sum());
    evidence.overlap_bytes = overlap(visited);
    let (flying, waits) =
        lanes.iter().fold((0, 0), |all, l| (all.0 + l.tally.flying.0, all.1 + l.tally.flying.1));
    evidence.achieved_depth = (waits > 0).then(|| flying as f64 / waits as f64);
}

/// The job's count where calibration does not choose it.
pub(super) fn fixed_count(job: &Job) -> Option<u64> {
    job.count.map(|count| if count == 0 { job.blocks() } else { count.min(job.blocks()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_lanes_note_stands_once() {
        let mut notes = Vec::new();
        for step in [7, 7, 9] {
            add(&mut notes, vec![Note::CallsUnknown, Note::CoarseClock(step)]);
        }
        assert_eq!(notes, [Note::CallsUnknown, Note::CoarseClock(7), Note::CoarseClock(9)]);
    }
}
