//! `sweep`: every combination of the requested axes.

use std::collections::HashSet;
use std::time::Duration;

use super::kind::{Cells, Experiment, PlanRequest};
use super::plan_error::{MAX_CELLS, PlanError};
use super::refusal::refusal;
use crate::plan::{
    Backends, Cache, Choice, CpuCache, DefaultFor, FilePer, Info, Job, JobOption, JobValue, Moves,
    Op, Opened, Plan, Range, Rates, Settings, Skipped, Sync, TargetSpec, Writes, nearest,
    target_values,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "sweep",
    about: "all combinations of backends, block sizes, cache states, threads, depths, counts and \
            spans",
    picks: false,
    needs_file: true,
    cells,
};

pub(super) fn cells(settings: &Settings, request: &PlanRequest) -> Result<Cells, PlanError> {
    let backends = backends(settings, request.infos)?;
    let axes = axes(settings, request)?;
    let buffered_too = settings.direct.as_ref().is_some_and(|both| both.len() > 1);
    let (mut cells, mut skipped, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    let plain = Job { count: None, ..Job::plain(Choice::plain(""), Op::Read) };
    for job in cross(plain, &axes) {
        let Some((_, info)) = backends.iter().find(|(choice, _)| *choice == job.backend) else {
            continue;
        };
        let job = sensible(info, job);
        // Where both kinds of I/O are measured, warm belongs to buffered I/O.
        let is_moot = buffered_too && job.direct && job.cache == Cache::Warm;
        if is_moot || !seen.insert(job.clone()) {
            continue;
        }
        match refusal(info, &job, request) {
            None => cells.push(job),
            Some(reason) => skipped.push(Skipped { cell: job, reason }),
        }
    }
    Ok((cells, skipped))
}

/// Returns the longest trial time with which calibration and `rounds` rounds fit in the budget,
/// along with `starts`, the start-up time of peers in one round. `fixed`: more rounds than these
/// are not made. `verified` is the share of the cells that are read back.
pub(super) fn trial_time(
    cells: usize,
    (budget, kept): (Duration, Duration),
    starts: Duration,
    rounds: u32,
    fixed: bool,
    verified: f64,
) -> Duration {
    let spare = |starts: Duration| budget.saturating_sub(starts).as_secs_f64();
    // Peers start once to calibrate, and once per round.
    let time = fit_trial_time(
        spare(starts * 2),
        spare(starts.saturating_mul(rounds.saturating_add(1)).saturating_add(kept)),
        cells,
        FIRST_ROUND + verified,
        later_trials(cells, rounds, fixed, verified),
    );
    time.max(MIN_TRIAL_TIME)
}

/// Returns the trial time that fits a budget, in seconds: `one` for the first trials of `cells`, or
/// `all` for these and `later` trials. `first` is the cost of a first trial with its calibration,
/// in trial times. Where the trials of `all` would be shorter than [`MIN_REPEATED_TIME`], fewer are
/// preferred.
pub fn fit_trial_time(one: f64, all: f64, cells: usize, first: f64, later: f64) -> Duration {
    let once = one / (cells as f64 * first);
    let repeated = all / (cells as f64 * first + later * LATER_ROUND);
    let time = repeated.max(once.min(MIN_REPEATED_TIME.as_secs_f64()));
    Duration::from_millis((time * 1000.0) as u64)
}

/// A trial is not shortened below this time to make room for more trials.
pub const MIN_REPEATED_TIME: Duration = Duration::from_millis(50);

/// Minimum of a trial time that is fitted to the budget.
pub const MIN_TRIAL_TIME: Duration = Duration::from_millis(1);

/// The time of one cell in the first round, in trial times: calibration, preparation and one trial.
pub const FIRST_ROUND: f64 = 2.0;

/// The time of one cell in a later round, in trial times: preparation and a trial, which takes up
/// to an eighth more than the trial time.
pub const LATER_ROUND: f64 = 1.35;

/// How much slower a machine may become during a run whose least number of rounds still fits:
/// shared ones change by a third within a minute. What is left over makes more rounds.
const MAX_SLOWDOWN: f64 = 1.3;

/// Returns the cost of the rounds after the first, in trials that read nothing back. `verified` is
/// the share of cells that do: it takes about as long as writing. `fixed`: no rounds are added.
pub fn later_trials(cells: usize, rounds: u32, fixed: bool, verified: f64) -> f64 {
    let cost = (1.0 + verified / LATER_ROUND) * if fixed { 1.0 } else { MAX_SLOWDOWN };
    cells as f64 * f64::from(rounds.saturating_sub(1)) * cost
}

/// Returns the share of the cells whose data is read back.
pub fn verified_share(verify: bool, cells: &[Job]) -> f64 {
    let writes = cells.iter().filter(|job| verify && job.op == Op::Write).count();
    writes as f64 / cells.len().max(1) as f64
}

/// Returns the values of every axis, the fastest-varying one last: block sizes, so that a table
/// reads downwards as a curve. Several targets vary before the syncs.
///
/// # Errors
/// Values are invalid in every combination.
fn axes(settings: &Settings, request: &PlanRequest) -> Result<Vec<Vec<JobValue>>, PlanError> {
    let size = request.target.size();
    let mut spans = spans(settings, request.allowed).unwrap_or_else(|| vec![size]);
    for span in spans.iter_mut().filter(|span| **span == Range::FREE) {
        if !request.target.is_ours() || request.targets > 1 {
            return Err(PlanError::FreeOfNone);
        }
        *span = size;
    }
    let mut all = Settings { size: Some(Range::list(&spans)), ..usual(settings, request.infos) };
    if all.latency_target.is_some() {
        all.rate.get_or_insert_with(Rates::ladder);
    }
    check(&all, &request.target)?;
    let mut options: Vec<&JobOption> =
        JobOption::all().filter(|option| option.turn.is_some()).collect();
    options.sort_by_key(|option| option.turn);
    let mut axes: Vec<Vec<JobValue>> = Vec::new();
    for option in options {
        if option.name == "sync" && request.targets > 1 {
            axes.push(target_values(request.targets));
        }
        axes.extend(option.values(&all, request.infos));
    }
    let combinations = axes.iter().fold(1u64, |all, axis| all.saturating_mul(axis.len() as u64));
    if combinations > MAX_CELLS {
        return Err(PlanError::TooMany(combinations));
    }
    let mut blocks = all.block_size.iter().flat_map(|range| &range.values);
    match blocks.find(|block| **block > Job::MAX_BLOCK) {
        Some(block) => Err(PlanError::HugeBlock(*block)),
        None => Ok(axes),
    }
}

/// Rejects values that are invalid in every combination.
fn check(all: &Settings, target: &TargetSpec) -> Result<(), PlanError> {
    let has_zero = |range: &Option<Range>| range.iter().any(|range| range.values.contains(&0));
    let reads = all.op != Some(Op::Write);
    if target.size() == 0 {
        return Err(PlanError::Empty);
    }
    if has_zero(&all.size) {
        return Err(PlanError::NoSpan);
    }
    if has_zero(&all.block_size) {
        return Err(PlanError::NoBlock);
    }
    if reads && all.sync.as_deref() != Some(&[Sync::None]) {
        return Err(PlanError::SyncRead);
    }
    if reads && all.writes.as_deref() != Some(&[Writes::Overwrite]) {
        return Err(PlanError::AppendRead);
    }
    let is_list = !target.listed().is_empty();
    if reads && !is_list && all.file_per.as_deref() != Some(&[FilePer::Run]) {
        return Err(PlanError::OwnFilesRead);
    }
    if !is_list && all.opened.as_deref() != Some(&[Opened::Before]) {
        return Err(PlanError::OpenedOfOne);
    }
    if reads && all.mix.is_some() {
        return Err(PlanError::MixRead);
    }
    if all.direct.as_deref() == Some(&[true]) && all.cache.as_deref() == Some(&[Cache::Warm]) {
        return Err(PlanError::WarmDirect);
    }
    Ok(())
}

/// Returns every combination of the values.
fn cross(plain: Job, axes: &[Vec<JobValue>]) -> Vec<Job> {
    axes.iter().fold(vec![plain], |jobs, axis| {
        jobs.iter().flat_map(|job| axis.iter().map(|value| value.put_in(job))).collect()
    })
}

/// Returns the requested spans, given as sizes or as shares of the `allowed` memory; `None` is the
/// whole file.
pub fn spans(settings: &Settings, allowed: u64) -> Option<Vec<u64>> {
    // A multiple of a huge page, so that every common block size divides it.
    const SPAN_UNIT: u64 = 2 << 20;
    let share = |percent: &u64| {
        (u128::from(allowed) * u128::from(*percent) / 100).min(1 << 62) as u64 / SPAN_UNIT
            * SPAN_UNIT
    };
    let shares = || {
        settings
            .memory_share
            .as_ref()
            .map(|shares| shares.values.iter().map(share).filter(|span| *span > 0).collect())
    };
    settings.size.as_ref().map(|sizes| sizes.values.clone()).or_else(shares)
}

/// Default block sizes.
const DEFAULT_BLOCKS: [u64; 4] = [4096, 32 << 10, 256 << 10, 2 << 20];

/// Returns the backends to use if none is named.
fn usual_backends(settings: &Settings, infos: &[&'static Info]) -> Vec<Choice> {
    let work = if settings.mix.is_some() {
        DefaultFor::Mix
    } else {
        settings.op.unwrap_or_else(|| usual_op(settings, [])).into()
    };
    let usual = infos.iter().filter(|info| info.default_for.contains(&work));
    usual.map(|info| Choice::plain(info.id)).collect()
}

fn usual_op(settings: &Settings, backends: impl IntoIterator<Item = &'static Info>) -> Op {
    if settings.mix.is_some() || settings.writes.is_some() || settings.file_per.is_some() {
        return Op::Write;
    }
    let mut backends = backends.into_iter().peekable();
    let only_seek = backends.peek().is_some() && backends.all(|info| info.ops == [Op::Seek]);
    if only_seek { Op::Seek } else { Op::Read }
}

/// Returns these settings completed by the defaults of a sweep, for a front end that shows the
/// effective choices.
pub fn usual(settings: &Settings, infos: &[&'static Info]) -> Settings {
    let mut all = settings.clone();
    let resolved = backends(settings, infos).unwrap_or_default();
    let op =
        *all.op.get_or_insert_with(|| usual_op(settings, resolved.iter().map(|(_, info)| *info)));
    let direct = *all.direct.get_or_insert_with(|| vec![false]) == [true];
    all.backend.get_or_insert_with(|| {
        Backends::These(resolved.into_iter().map(|(choice, _)| choice).collect())
    });
    all.block_size.get_or_insert_with(|| Range::list(&DEFAULT_BLOCKS));
    all.cache.get_or_insert_with(|| default_caches(op, direct));
    for option in JobOption::all() {
        if let (Some(value), None) = (option.usual, all.text(option.name)) {
            // A test sets them all.
            let _ = all.set(option.name, value);
        }
    }
    all
}

fn default_caches(op: Op, direct: bool) -> Vec<Cache> {
    if direct || op == Op::Write { vec![Cache::AsIs] } else { vec![Cache::Cold, Cache::Warm] }
}

fn backends(
    settings: &Settings,
    infos: &[&'static Info],
) -> Result<Vec<(Choice, &'static Info)>, PlanError> {
    let choices = match &settings.backend {
        Some(backends) => backends.choices(infos),
        None => usual_backends(settings, infos),
    };
    let mut resolved = Vec::new();
    for choice in choices {
        let info = infos
            .iter()
            .find(|i| i.id == choice.id)
            .ok_or_else(|| nearest("backend", &choice.id, infos.iter().map(|i| i.id)))?;
        choice.check(info)?;
        let described = info.of(&choice);
        resolved.push((choice.normalize(info), described));
    }
    Ok(resolved)
}

/// Returns the job with settings that do not affect its backend set to neutral values, so that it
/// is one cell instead of several.
pub(super) fn sensible(info: &Info, mut job: Job) -> Job {
    // Among reads a seek shows the cost of a call; among writes it was not requested.
    if job.op == Op::Read && info.ops == [Op::Seek] {
        job.op = Op::Seek;
    }
    if info.moves() == Moves::Nothing {
        // A backend that only maps and touches a file still depends on the cache state.
        job.cache = if info.cached { job.cache } else { Cache::AsIs };
        job.direct = false;
        job.xor = false;
        job.sync = Sync::None;
        job.mix = None;
        job.cpu_cache = CpuCache::Keep;
        job.writes = Writes::Overwrite;
        job.file_per = FilePer::Run;
        job.opened = Opened::Before;
        // A call that needs no file costs the same on any target.
        job.target = job.target.filter(|_| info.cached);
    }
    if !job.sync.follows_writes() {
        job.sync_every = 1;
    }
    if job.threads == 1 {
        job.file_per = FilePer::Run;
    }
    if job.starts_fresh() {
        // A file that was never written has no cache state.
        job.cache = Cache::AsIs;
    }
    job
}

/// The overhead of a peer per trial, for loading, starting and exiting: some milliseconds for dd,
/// 0.3 to 0.5 s for fio.
pub const PEER_START: Duration = Duration::from_millis(400);

/// Returns the start-up time of all peers in one round.
pub(super) fn starts(cells: &[Job]) -> Duration {
    let peers = cells.iter().filter(|cell| cell.backend.peer).count();
    PEER_START * u32::try_from(peers).unwrap_or(u32::MAX)
}

/// Returns the expected duration of a round after the first.
pub(super) fn round_time(plan: &Plan) -> Duration {
    let cost = LATER_ROUND + verified_share(plan.verify, &plan.cells);
    one_of_each(plan).mul_f64(cost) + starts(&plan.cells)
}

/// Returns the time of one trial of each cell.
fn one_of_each(plan: &Plan) -> Duration {
    let times = plan.cells.iter().map(|job| job.trial_time(plan.trial_time.low));
    // A search tries one rate in twenty.
    if plan.latency_target.is_some() {
        return plan.trial_time.low.mul_f64(plan.cells.len() as f64 / 20.0).min(LONGEST);
    }
    times.fold(Duration::ZERO, Duration::saturating_add).min(LONGEST)
}

/// No sum of times overflows when it is multiplied.
const LONGEST: Duration = Duration::from_secs(1 << 40);

/// Returns how many trials of each cell fit into the budget, if the plan fixes no number; the run
/// ends earlier where intervals are narrow.
pub(super) fn expected_trials(plan: &Plan) -> u32 {
    let cost = FIRST_ROUND + verified_share(plan.verify, &plan.cells);
    let first = one_of_each(plan).mul_f64(cost) + starts(&plan.cells) * 2;
    let later = plan.budget.saturating_sub(first).as_secs_f64();
    let rounds = 1.0 + (later / round_time(plan).as_secs_f64().max(1e-9)).floor();
    (rounds as u32).min(plan.most_rounds())
}

/// Returns the expected seconds of all trials of a file.
pub(super) fn trial_seconds(plan: &Plan) -> f64 {
    let cost = 1.3 + verified_share(plan.verify, &plan.cells);
    let once = one_of_each(plan).as_secs_f64() * cost;
    // All but one of the methods to pick from are only tried.
    let rounds = f64::from(if plan.pick { 1 } else { plan.rounds() });
    once * (rounds + 1.5) + starts(&plan.cells).as_secs_f64() * (rounds + 1.0)
}

/// Returns the expected seconds of all batches of probes.
pub(super) fn probe_seconds(plan: &Plan) -> f64 {
    // Each batch of a probe is prepared again, and the first one is calibrated.
    let probes = plan.trial_time.low.as_secs_f64() * 1.5 * plan.probes.len() as f64;
    probes * (f64::from(plan.probe_rounds()) + 1.5)
}

/// Returns the cells of a sweep of writes.
pub(super) fn write_cells(settings: &Settings, request: &PlanRequest) -> Result<Cells, PlanError> {
    let settings = Settings { op: settings.op.or(Some(Op::Write)), ..settings.clone() };
    cells(&settings, request)
}
