//! Runs one trial: prepares it, runs its lanes, and collects the result with its evidence.

use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::around::Around;
use super::below::Layers;
use super::cells::{Amount, Cell};
use super::control::Cut;
use super::coverage::{Coverage, hole_bytes, overlap, trial_coverage};
use super::error::Failure;
use super::executor::Executor;
use super::observe::{self, Cached, Counters};
use super::pace_of_lanes::pace_of;
use super::pace_record::{is_complete, merge_paced};
use super::peer_trial;
use super::prepare::{Ready, Scope, prepare};
use super::target::OpenTarget;
use super::trial_parts::{TrialOutcome, add_notes, join_parts, nanos_per_op};
use super::verify::{drop_below, failure as read_back_failure, read_back, verify};
use super::workers::{self, LaneResult, LaneResults, Spec, Watch};
use crate::backend::access_pattern::Place;
use crate::backend::meter::Timed;
use crate::backend::{Commits, written_block};
use crate::facts::BlockDevice;
use crate::peer;
use crate::plan::{Cache, CpuCache, Job, Moves, Op, Pattern, Sync};
use crate::record::{
    CacheFlush, Evidence, Note, Preparation, ReadBack, Sample, SampleParts, Trial, Visit, Xor,
};
use crate::stats::Histogram;
use crate::sys::clock::monotonic_nanos;
use crate::sys::cpu_cache;
use crate::sys::io_users::IoUsers;
use crate::sys::memory::Memory;

/// Where and when a trial runs.
#[derive(Clone, Copy)]
pub(super) struct TrialStage<'a> {
    pub open_target: &'a OpenTarget,
    /// CLOCK_MONOTONIC at the start of the run.
    pub origin: u64,
    /// Seed of this trial's random offsets.
    pub seed: u64,
    /// Returns whether to end the trial now, and how.
    pub cut: &'a dyn Fn() -> Option<Cut>,
    /// Ends the trial this long after its lanes began.
    pub limit: Option<Duration>,
    /// The trial is over when `limit` is, however much work is left.
    pub ends_by_time: bool,
    /// It is over earlier if it is steady over rounds of this length.
    pub steady: Option<Duration>,
    /// It is complete whenever it ends.
    pub watched: bool,
    /// Reports pieces of this many intervals of its log while it runs.
    pub piece: Option<u32>,
    /// The first block to use and the one after the last; `None` = all.
    pub part: Option<(u64, u64)>,
    /// The file is prepared already: neither prepared here nor examined.
    pub is_prepared: bool,
    /// The role of this process among several ranks.
    pub role: RankRole<'a>,
    /// Counts the work of the neighbour since it began; `None` without one.
    pub neighbour: &'a dyn Fn() -> Result<Option<Visit>, Failure>,
}

/// The role of a process in a trial of several ranks; the default is that of one process alone.
#[derive(Clone, Copy, Default)]
pub(super) struct RankRole<'a> {
    /// All ranks, at the rank that runs the trial.
    pub together: Option<&'a dyn Together>,
    /// When the budget ends, for ranks that cannot see it.
    pub deadline: Option<Instant>,
    /// Waits until all ranks start, once the lanes of this one are ready; returns whether they do.
    pub meet: Option<&'a dyn Fn() -> bool>,
    /// The part of a shared file that belongs to this process.
    pub place: Option<Place>,
    /// Another process prepares what belongs to the machine.
    pub is_led: bool,
}

impl<'a> TrialStage<'a> {
    /// Returns the stage of one process that works on all of a file.
    pub fn new(
        open_target: &'a OpenTarget,
        origin: u64,
        seed: u64,
        cut: &'a dyn Fn() -> Option<Cut>,
    ) -> TrialStage<'a> {
        TrialStage {
            open_target,
            origin,
            seed,
            cut,
            limit: None,
            ends_by_time: false,
            steady: None,
            watched: false,
            piece: None,
            part: None,
            is_prepared: false,
            role: RankRole::default(),
            neighbour: &|| Ok(None),
        }
    }

    /// Returns the part of each file that a job works on.
    fn window(&self, job: &Job) -> Range<u64> {
        match (self.role.place, self.part) {
            // Strided blocks interleave, so one process prepares the file.
            (Some(place), _) if place.strided && self.role.is_led => 0..0,
            (Some(place), _) => place.window(job.span),
            (None, Some((first, end))) => {
                first * job.block..end.saturating_mul(job.block).min(job.span)
            }
            (None, None) => 0..job.bytes_per_file(),
        }
    }

    /// Returns the start and end of the bytes that only this trial reads.
    fn visited(&self, job: &Job) -> Option<(u64, u64)> {
        let Range { start, end } = self.window(job);
        self.part.is_some().then_some((start, end))
    }

    /// Returns the part of the preparation that this process does.
    fn scope(&self, job: &Job) -> Scope {
        Scope { part: self.window(job), leads: !self.role.is_led }
    }
}

/// Several processes that run the same part of a trial at the same time.
pub(super) trait Together {
    /// Runs it on all of them as [`run_part_alone`] does on one, and merges the outcomes.
    fn run_part(
        &self,
        stage: &TrialStage,
        work: PartWork,
        sample: &mut Watch,
    ) -> Result<TrialOutcome, Failure>;
}

/// The work of a part of a trial.
#[derive(Clone, Copy)]
pub(super) struct PartWork<'a> {
    pub cell: &'a Cell,
    pub amount: &'a Amount,
    /// With all its evidence.
    pub observed: bool,
}

/// Runs a trial: all its parts, joined to one result.
pub(super) fn run(
    stage: &TrialStage,
    cell: &Cell,
    amount: &Amount,
    sample: &mut Watch,
) -> Result<TrialOutcome, Failure> {
    let work = PartWork { cell, amount, observed: true };
    let mut outcome = run_part(stage, work, sample)?;
    for _ in 1..amount.parts {
        if outcome.trial.short || (stage.cut)().is_some() {
            break;
        }
        let before = outcome.trial.nanos;
        let mut later = |s: Sample, parts: SampleParts| {
            let log = parts.log.map(|log| log.delay(before));
            sample(Sample { at: s.at.saturating_add(before), ..s }, SampleParts { log, ..parts })
        };
        match run_part(stage, work, &mut later) {
            // The result of the parts before it is complete without it.
            Err(Failure::Stopped) => break,
            Ok(more) if more.trial.short && !overran(before + more.trial.nanos, amount) => break,
            more => {
                let more = more?;
                let short = more.trial.short;
                join_parts(&mut outcome, more);
                outcome.trial.short = short;
            }
        }
    }
    Ok(outcome)
}

/// Returns whether a trial that was cut after `nanos` ran long enough beyond its plan to show a
/// slow cell.
pub(super) fn overran(nanos: u64, amount: &Amount) -> bool {
    const MIN_OVERRUN: u64 = 5;
    amount.nanos > 0 && nanos / MIN_OVERRUN >= amount.nanos
}

/// Runs a step of a calibration that cannot be a trial: prepared like one, but without evidence,
/// which would take longer to collect than the step.
pub(super) fn run_unobserved(
    stage: &TrialStage,
    cell: &Cell,
    amount: &Amount,
    sample: &mut Watch,
) -> Result<TrialOutcome, Failure> {
    run_part(stage, PartWork { cell, amount, observed: false }, sample)
}

fn run_part(
    stage: &TrialStage,
    work: PartWork,
    sample: &mut Watch,
) -> Result<TrialOutcome, Failure> {
    match stage.role.together {
        Some(ranks) => ranks.run_part(stage, work, sample),
        None => run_part_alone(stage, work, sample),
    }
}

/// Prepares the file and runs the work once, in this process.
pub(super) fn run_part_alone(
    stage: &TrialStage,
    work: PartWork,
    sample: &mut Watch,
) -> Result<TrialOutcome, Failure> {
    let PartWork { cell, amount, observed } = work;
    let (open_target, job) = (stage.open_target.for_job(&cell.job), &cell.job);
    let began = monotonic_nanos();
    let watched = observed && !stage.is_prepared;
    let (mut layers, notes) = open_target.layers(job, stage.window(job), watched);
    let ready = make_ready(stage, job, observed, layers.as_mut())?;
    let layers = if watched { layers } else { None };
    let prepared = monotonic_nanos();
    let spec = make_spec(stage, cell, amount);
    let files = open_target.files(job);
    let devices = if job.commits() { open_target.facts.devices.as_slice() } else { &[] };
    let huge_page_cache = observed.then(|| Memory::now().ok()?.file_huge_pages).flatten();
    let counters = || read_counters(observed, &files, open_target.device, devices);
    let (mut before, mut flushed, mut opened, mut below) = <(Counters, _, _, _)>::default();
    let mut at_go = || {
        flushed = (job.cpu_cache == CpuCache::Flush).then(|| flush_cpu_caches(stage, job, &ready));
        opened = watched.then(|| measure_opened(stage, job)).flatten();
        below = layers.as_ref().map(|layers| layers.now(false));
        before = counters();
        stage.role.meet.is_none_or(|meet| meet())
    };
    let others = watches_others(stage, amount, watched).then(IoUsers::now);
    let neighbour = (stage.neighbour)()?;
    let alone = others.as_ref().filter(|_| neighbour.is_none());
    let mut around = Around::begin(open_target, job, amount, alone);
    let ran = run_watched(stage, work, &spec, &mut around, &mut at_go, sample)?;
    let after = counters();
    let neighbour = (stage.neighbour)()?.zip(neighbour).map(|(now, then)| now.since(&then));
    let below = layers.zip(below).map(|(layers, then)| Box::new(layers.counts_since(job, &then)));
    let ready = Ready { cached: opened.or(ready.cached), ..ready };
    let parts = || open_target.parts(job, &stage.window(job));
    let may_disturb = job.cache != Cache::AsIs;
    let cached_after = watched.then(|| observe::measure_cached(&parts(), may_disturb)).flatten();
    let stop = || !observed || (stage.cut)().is_some();
    let ground = || drop_below(open_target, &stop);
    let evidence = Evidence {
        others: observe::list_others(others, &before, &after),
        surroundings: around.and_then(Around::into_found),
        verified: verify(&files, open_target.data, &spec, &ran.lanes, &ground, &stop)?
            .map(Box::new),
        prepared: prepared.saturating_sub(stage.origin),
        prepare_nanos: prepared - began,
        parts: 1,
        huge_page_cache: huge_page_cache.into(),
        neighbour: neighbour.map(Box::new),
        cpu_cache: flushed.flatten(),
        below,
        notes,
        visited: stage.visited(job),
        ..Evidence::default()
    };
    let counters = (&before, &after);
    let cached = (ready, cached_after);
    collect_result((stage, open_target), &spec, ran, counters, cached, evidence)
}

/// Runs the lanes, or another program, and reads what happens around them.
fn run_watched(
    stage: &TrialStage,
    PartWork { cell, amount, .. }: PartWork,
    spec: &Spec,
    around: &mut Option<Around>,
    at_go: &mut dyn FnMut() -> bool,
    sample: &mut Watch,
) -> Result<LaneResults, Failure> {
    let mut sample = |s: Sample, parts: SampleParts| {
        sample(s, parts);
        around.iter_mut().for_each(|around| around.read(s.at));
    };
    let expected = Duration::from_nanos(amount.nanos);
    let file = &stage.open_target.for_job(&cell.job).file;
    match cell.executor {
        Executor::Backend(backend) => workers::run(spec, backend, at_go, stage.cut, &mut sample),
        Executor::Peer(peer) => {
            peer_trial::run(peer, spec, file, expected, at_go, stage.cut, &mut sample)
        }
    }
}

/// Returns whether to list the processes that use disks before and after the work: not where that
/// would take long next to it, nor among ranks, which are such processes.
fn watches_others(stage: &TrialStage, amount: &Amount, watched: bool) -> bool {
    const MIN_NANOS: u64 = 20_000_000;
    let target = stage.open_target;
    let on_disk = target.device.is_some() && !target.facts.network && !target.facts.fuse;
    watched && on_disk && stage.role.meet.is_none() && !(1..MIN_NANOS).contains(&amount.nanos)
}

/// Reads the counters, if the work is observed.
fn read_counters(
    observed: bool,
    files: &[&File],
    device: Option<(u64, u64)>,
    below: &[BlockDevice],
) -> Counters {
    if observed { Counters::now(files, device, below) } else { Counters::default() }
}

/// Prepares the file, unless it is prepared or only its state would be measured.
fn make_ready(
    stage: &TrialStage,
    job: &Job,
    observed: bool,
    layers: Option<&mut Layers>,
) -> Result<Ready, Failure> {
    let unprepared = !observed && job.cache == Cache::AsIs && job.op != Op::Write;
    let (target, cut) = (stage.open_target.for_job(job), || (stage.cut)().is_some());
    let ready = if stage.is_prepared || unprepared {
        Ready { reached: Preparation::AsIs, cached: None }
    } else {
        prepare(target, job, &stage.scope(job), layers, &cut)?
    };
    match target.replacement() {
        Some(why) => Err(Failure::Cell(why)),
        None => Ok(ready),
    }
}

/// Measures the cached bytes once all lanes have opened a file of a program or a server, since
/// opening may drop it; `None` for other files.
fn measure_opened(stage: &TrialStage, job: &Job) -> Option<Cached> {
    let target = stage.open_target.for_job(job);
    let is_remote = target.facts.network || target.facts.fuse;
    let parts = || target.parts(job, &stage.window(job));
    let measure = || observe::measure_cached(&parts(), false);
    is_remote.then(measure).flatten()
}

fn make_spec(stage: &TrialStage, cell: &Cell, amount: &Amount) -> Spec {
    let job = match cell.executor {
        Executor::Backend(_) => cell.job.clone(),
        Executor::Peer(_) => peer::round_to_blocks(&cell.job),
    };
    // Counts the trials of all runs of this process, calibrations included.
    static TRIALS: AtomicU32 = AtomicU32::new(0);
    let mut target = stage.open_target.for_job(&cell.job).target.clone();
    target.stamps = target.stamps.map(|stamps| stamps.of_trial(TRIALS.fetch_add(1, Relaxed)));
    Spec {
        executor: cell.executor,
        target,
        count: amount.count.min(job.blocks()),
        job,
        passes: amount.passes,
        seed: stage.seed,
        timed: amount.timed,
        limit: stage.limit,
        part: stage.part.map(|(first, end)| first..end),
        place: stage.role.place,
        cpus: cell.cpus.clone(),
        ends_by_time: stage.ends_by_time,
        steady: stage.steady,
        watched: stage.watched,
        piece: stage.piece,
        pace: pace_of(&cell.job, amount, stage.seed),
    }
}

fn collect_result(
    (stage, open_target): (&TrialStage, &OpenTarget),
    spec: &Spec,
    ran: LaneResults,
    (before, after): (&Counters, &Counters),
    (ready, cached_after): (Ready, Option<Cached>),
    mut evidence: Evidence,
) -> Result<TrialOutcome, Failure> {
    let LaneResults { mut lanes, samples, log, timed_out, rounds, notes: slept } = ran;
    let (service, commits, notes) = merge_lanes(&mut lanes, &spec.job);
    add_notes(&mut evidence.notes, notes);
    evidence.notes.extend(slept);
    let coverage = trial_coverage(&lanes, spec);
    let mut trial = sum_lanes(&lanes, &coverage, spec, timed_out);
    if evidence.notes.contains(&Note::CallsUnknown) {
        trial.syscalls = None.into();
    }
    let turns = (trial.user_nanos + trial.system_nanos) / spec.cpus();
    let busy = lanes.iter().map(|l| l.end - l.start).max().unwrap_or(0).max(turns);
    fill_lane_evidence(&lanes, &coverage, spec, &mut evidence, stage.origin);
    evidence.timed_ops = service.count();
    evidence.timed_nanos = (service.mean() * service.count() as f64) as u64;
    let response = fill_pace(&mut lanes, &mut evidence, spec.count.saturating_mul(spec.passes));
    after.fill_evidence(before, &spec.job, trial.nanos, &mut evidence);
    evidence.residency = ready.cached.or(cached_after).map(|c| c.method);
    evidence.unwritten_bytes =
        cached_after.and_then(|c| c.unwritten).filter(|_| spec.job.op == Op::Write).into();
    evidence.rounds = rounds.map(Box::new);
    evidence.ended_by_time = timed_out && spec.ends_by_time;
    evidence.xor_nanos = (!spec.job.xor || spec.timed == Timed::Chained).then_some(0).into();
    trial.device_bytes = after.device_bytes(before);
    // The order of another program's jumps is unknown.
    let whole = !lanes.iter().any(|l| l.tally.rest > 0 || l.share.quota < l.share.blocks);
    let known = whole || !spec.executor.info().is_peer() || spec.job.pattern == Pattern::Seq;
    trial.hole_bytes =
        hole_bytes(&coverage, &open_target.all_extents()).filter(|bytes| known || *bytes == 0);
    trial.resident_before = ready.cached.map(|c| c.resident);
    trial.resident_after = cached_after.map(|c| c.resident);
    let proved = ready.cached.is_some() || ready.reached == Preparation::AsIs;
    evidence.preparation = proved.then_some(ready.reached);
    if let Some(size) = after.size().filter(|size| spec.job.appends() && *size != trial.bytes) {
        evidence.notes.push(Note::FileChanged(format!(
            "its size is {size} bytes, but {} bytes were written",
            trial.bytes
        )));
    }
    if spec.job.appends() && trial.xor.is_some() {
        evidence.read_back = read_appended_back(stage, open_target, spec, &lanes)?;
    }
    trial.evidence = evidence;
    let per_op = nanos_per_op(&trial);
    let (histogram, service) = match response {
        Some(response) => (response, Some(service)),
        None => (service, None),
    };
    Ok(TrialOutcome { trial, histogram, service, commits, samples, log, per_op, busy })
}

/// Records how the pace was kept; returns the response times, if there is a rate.
fn fill_pace(lanes: &mut [LaneResult], evidence: &mut Evidence, planned: u64) -> Option<Histogram> {
    let (paced, response) = merge_paced(lanes, planned)?;
    evidence.paced = Some(Box::new(paced));
    // Waits that end for the next start would be counted as often as those for an operation.
    let flying = evidence.timed_nanos as f64 / evidence.lane_nanos.max(1) as f64;
    evidence.achieved_depth = evidence.achieved_depth.map(|_| flying);
    response
}

/// Merges the records of the lanes: the times of operations and of commits, and notes.
fn merge_lanes(lanes: &mut [LaneResult], job: &Job) -> (Histogram, Option<Commits>, Vec<Note>) {
    let (mut histogram, mut notes) = (Histogram::new(), Vec::new());
    let mut commits: Option<Commits> = None;
    for lane in lanes {
        if let Some(of_lane) = lane.tally.histogram.take() {
            histogram.merge(&of_lane);
        }
        if let Some(of_lane) = lane.tally.commits.take() {
            commits.get_or_insert_default().merge(&of_lane);
        }
        add_notes(&mut notes, std::mem::take(&mut lane.tally.notes));
    }
    // Each write that waits by itself is a commit; in a mix, its time cannot be separated from that
    // of reads.
    if commits.is_none() && job.commits() && job.mix.is_none() {
        commits = Some(Commits { total: histogram.clone(), ..Commits::default() });
    }
    (histogram, commits, notes)
}

/// Reads appended data back. Blocks that differ from each other are compared only by their XOR.
fn read_appended_back(
    stage: &TrialStage,
    open_target: &OpenTarget,
    spec: &Spec,
    lanes: &[LaneResult],
) -> Result<Option<ReadBack>, Failure> {
    // Which lane wrote a block of a file that they share is unknown.
    let own = spec.job.has_own_files();
    let alike = spec.target.content.is_none() && spec.target.stamps.is_none();
    let one = alike && (own || spec.job.threads == 1);
    let stop = || (stage.cut)().is_some();
    let mut sum = ReadBack { xor: Xor(0), other_blocks: 0 };
    for (lane, file) in (0..).zip(open_target.files(&spec.job)) {
        let wrote = lanes.iter().filter(|l| !own || l.lane == lane);
        let bytes = wrote.map(|l| l.tally.bytes).sum();
        let block = one.then(|| written_block(&spec.job, lane)).transpose();
        let found = block.and_then(|block| read_back(file, block.as_deref(), bytes, &stop));
        let found = found.map_err(|error| read_back_failure("pread(2)", &error))?;
        let Some(found) = found else { return Ok(None) };
        sum.xor.0 ^= found.xor.0;
        sum.other_blocks += found.other_blocks;
    }
    Ok(Some(sum))
}

/// Flushes the CPU caches once every lane is open; `None` if that cannot be shown to have
/// worked.
fn flush_cpu_caches(stage: &TrialStage, job: &Job, ready: &Ready) -> Option<CacheFlush> {
    let open_target = stage.open_target.for_job(job);
    // Mapping a file that is not in memory would read it.
    let resident = !job.makes_files()
        && open_target.target.listed.is_empty()
        && stage.role.place.is_none()
        && (job.cache == Cache::Warm || ready.cached.is_some_and(|c| c.resident >= job.span));
    let found = cpu_cache::flush(
        resident.then_some((&*open_target.file, job.span)).filter(|_| !job.direct),
    )
    .ok()?;
    Some(CacheFlush {
        before_nanos: found.before,
        after_nanos: found.after,
        flushed_bytes: found.bytes,
    })
}

/// Sums the figures of the lanes.
fn sum_lanes(lanes: &[LaneResult], coverage: &[Coverage], spec: &Spec, timed_out: bool) -> Trial {
    let sum = |of: fn(&LaneResult) -> u64| lanes.iter().map(of).sum::<u64>();
    let start = lanes.iter().map(|l| l.start).min().unwrap_or(0);
    let end = lanes.iter().map(|l| l.end).max().unwrap_or(0);
    let passes = coverage.iter().filter_map(Coverage::passes).min();
    let by_pace = spec.has_rate() && is_complete(lanes);
    // One that looks for a steady state, or watches, is a measurement whenever it ends.
    let in_time = by_pace || spec.ends_by_time && timed_out;
    let complete = in_time || spec.steady.is_some() || spec.watched;
    let short = !complete && passes.is_some_and(|passes| passes < spec.passes);
    // Operations that draw their blocks do not pass over the file.
    let whole =
        spec.part.is_none() && spec.count >= spec.job.blocks() && !spec.job.pattern.is_drawn();
    // Later passes cancel out in pairs, so the XOR is that of the first one; a cut pass has none.
    let seen = spec.info().moves() == Moves::Data && spec.job.mix.is_none();
    let first = !by_pace || passes.is_none_or(|passes| passes > 0);
    let folded = (spec.job.xor && seen && !short && first)
        .then(|| Xor(lanes.iter().fold(0, |all, l| all ^ l.tally.folds[0])));
    Trial {
        bytes: sum(|l| l.tally.bytes),
        ops: sum(|l| l.tally.ops),
        syscalls: sum(|l| l.tally.syscalls).into(),
        nanos: end - start,
        passes: if whole { passes.unwrap_or(0) } else { 0 },
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

fn fill_lane_evidence(
    lanes: &[LaneResult],
    coverage: &[Coverage],
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
    // Lanes without blocks do no work; the start of many would outweigh one operation.
    evidence.lane_nanos = lanes.iter().filter(|l| l.share.quota > 0).map(|l| l.ran - l.start).sum();
    evidence.turn_nanos = lanes.iter().map(|l| l.tally.turn_nanos).sum();
    evidence.queued_nanos = lanes.iter().map(|l| l.queued).sum::<Option<u64>>().into();
    evidence.lane_bytes = lanes.iter().map(|l| l.tally.bytes).sum();
    if spec.info().moves_bytes() {
        let bytes: Vec<(u64, u64)> = coverage.iter().map(Coverage::bytes).collect();
        evidence.planned_bytes = bytes.iter().map(|(all, _)| all).sum();
        evidence.unique_bytes = bytes.iter().map(|(_, unique)| unique).sum();
    }
    evidence.written = spec.job.mix.map(|_| coverage.iter().map(Coverage::written_bytes).sum());
    if !spec.job.has_own_files() && spec.target.listed.is_empty() {
        evidence.overlap_bytes = overlap(coverage);
    }
    let (flying, waits) = lanes
        .iter()
        .fold((0, 0), |all, l| (all.0 + l.tally.in_flight.0, all.1 + l.tally.in_flight.1));
    evidence.achieved_depth = (waits > 0).then(|| flying as f64 / waits as f64);
}

/// Returns the job's count where calibration does not choose it.
pub(super) fn fixed_count(job: &Job) -> Option<u64> {
    job.count.map(|count| if count == 0 { job.blocks() } else { count.min(job.blocks()) })
}
