//! Experiments: rules that turn settings into a plan. They are pure functions, listed once in
//! [`EXPERIMENTS`].

mod budget_reach;
mod calls;
mod choices;
mod describe;
mod fast;
mod in_ranks;
mod kind;
mod lab;
mod plan_error;
mod refusal;
mod schedule;
mod search;
mod settling;
mod sweep;

pub use budget_reach::{
    DiskRate, DiskSpeed, MissedCells, estimate, expected_trials, predict_missed, round_time,
};
pub use calls::CALLS;
pub use choices::Choices;
pub use describe::{OtherCells, describes, excluding_option, settings_of};
pub use kind::{AvailableProbes, Cells, Experiment, Offer, PlanRequest, Proposed};
pub use lab::requested_probes;
pub use plan_error::{MAX_CELLS, PlanError};
pub use schedule::{order_of_pairs, order_of_round, shuffled_indexes, twins, variant_index};
pub use search::{FoundRate, RateSearch, TriedRate};
pub use settling::{Measurements, Settling, asks_for_time};
pub use sweep::{
    FIRST_ROUND, LATER_ROUND, MIN_REPEATED_TIME, MIN_TRIAL_TIME, PEER_START, fit_trial_time,
    later_trials, spans, usual, verified_share,
};

use std::collections::HashSet;
use std::time::Duration;

use crate::plan::{
    Axis, Cache, Choice, Cold, CpuCache, CpuList, Fresh, Job, JobOption, MeasureCeilings, Op, Part,
    Plan, Preset, ProbeCell, Resolved, Settings, Skipped, StopCondition, TrialTime, Unknown, Until,
    Variant, nearest,
};
use crate::units::short_bytes;

/// The experiment whose reports show the counts that calibration found.
pub const MEASURE: &str = "measure";
/// The experiment whose answer is about commits.
pub const COMMIT: &str = "commit";
/// The experiment that first times opening and reading the file after each cache-drop level.
pub const LEVELS: &str = "levels";

/// All experiments, in display order.
pub static EXPERIMENTS: &[Experiment] = &[
    sweep::EXPERIMENT,
    Experiment {
        id: MEASURE,
        about: "like sweep; reports how many operations take the trial time, for every block size",
        ..sweep::EXPERIMENT
    },
    calls::EXPERIMENT,
    Experiment {
        id: COMMIT,
        about: "all combinations of sync methods, shapes of files and writers; the answer is about \
                commits",
        cells: sweep::write_cells,
        ..sweep::EXPERIMENT
    },
    Experiment {
        id: LEVELS,
        about: "like sweep, preceded by the time to open and read the file after each cache-drop \
                level",
        ..sweep::EXPERIMENT
    },
    fast::EXPERIMENT,
    lab::EXPERIMENT,
];

fn experiment(id: &str) -> Result<&'static Experiment, Unknown> {
    let found = EXPERIMENTS.iter().find(|e| e.id == id);
    found.ok_or_else(|| nearest("experiment", id, EXPERIMENTS.iter().map(|e| e.id)))
}

/// Returns the cells of all presets, each once, and the skipped ones.
fn cells(request: &PlanRequest) -> Result<Cells, PlanError> {
    let (mut cells, mut skipped, mut passed_over) = (Vec::new(), Vec::new(), None);
    let (mut seen, mut out) = (HashSet::new(), HashSet::new());
    for part in &request.resolved.parts {
        match (experiment(&part.preset.experiment)?.cells)(&part.settings, request) {
            Ok((mut some, mut left_out)) => {
                if part.preset.first_backend && request.resolved.user.backend.is_none() {
                    let backends = part.settings.backend.as_ref();
                    let all = backends.map(|of| of.choices(request.infos)).unwrap_or_default();
                    keep_first_backend(&mut some, &mut left_out, all.first());
                }
                cells.extend(some.into_iter().filter(|cell| seen.insert(cell.clone())));
                skipped.extend(
                    left_out.into_iter().filter(|skipped| out.insert(skipped.cell.clone())),
                );
            }
            // For a preset with direct and buffered parts, warm applies to the buffered ones.
            Err(error @ PlanError::WarmDirect) if !part.preset.sweeps.is_empty() => {
                passed_over = Some(error)
            }
            Err(error) => return Err(error),
        }
    }
    // A cell that one preset skips may be included by another.
    skipped.retain(|skipped| !seen.contains(&skipped.cell));
    match passed_over {
        Some(error) if cells.is_empty() => Err(error),
        _ if cells.is_empty() && needs_file(request.resolved.presets) => Err(refusal(&skipped)),
        _ => Ok((cells, skipped)),
    }
}

/// Keeps the first of the cells that differ only in their backend: the others would repeat it. Only
/// skipped cells of the preferred backend stay, to say why it does not run.
fn keep_first_backend(
    cells: &mut Vec<Job>,
    skipped: &mut Vec<Skipped>,
    preferred: Option<&Choice>,
) {
    let mut seen = HashSet::new();
    cells.retain(|cell| seen.insert(Axis::Backend.without(cell)));
    skipped.retain(|skipped| preferred.is_none_or(|one| skipped.cell.backend == *one));
}

/// Returns whether any of these presets measures a file; unknown experiments are rejected later.
pub fn needs_file(presets: &[Preset]) -> bool {
    presets.is_empty()
        || presets
            .iter()
            .any(|preset| experiment(&preset.experiment).map_or(true, |e| e.needs_file))
}

/// Returns each cell in every variant of the machine.
fn in_variants(cells: Vec<Job>, request: &PlanRequest, pick: bool) -> Result<Vec<Job>, PlanError> {
    let variants = request.variants;
    if variants.is_empty() {
        return Ok(cells);
    }
    if pick || cells.is_empty() || measures_levels(request) {
        return Err(PlanError::VariantsOfNone);
    }
    let in_each = |cell: Job| {
        variants.iter().map(move |of| Job { variant: Some(of.name.clone()), ..cell.clone() })
    };
    Ok(cells.into_iter().flat_map(in_each).collect())
}

/// Returns the cells as they run: in every variant, and for each number of ranks.
fn final_cells(request: &PlanRequest, pick: bool) -> Result<Cells, PlanError> {
    let (cells, mut skipped) = cells(request)?;
    let cells = in_ranks::in_ranks(in_variants(cells, request, pick)?, &mut skipped, request)?;
    match cells.is_empty() && needs_file(request.resolved.presets) {
        true => Err(refusal(&skipped)),
        false => Ok((cells, skipped)),
    }
}

/// Returns whether one of the cells is picked at run time, which works only for a single preset.
fn picks(request: &PlanRequest) -> Result<bool, PlanError> {
    for preset in request.resolved.presets {
        if experiment(&preset.experiment)?.picks {
            return if request.resolved.presets.len() > 1 {
                Err(PlanError::Alone(preset.id.clone(), "picks one of its own cells"))
            } else {
                Ok(true)
            };
        }
    }
    Ok(false)
}

/// Returns whether the cache-drop levels are measured in addition to the cells.
fn measures_levels(request: &PlanRequest) -> bool {
    request.resolved.presets.first().is_some_and(|preset| preset.experiment == LEVELS)
}

/// Returns the fixed number of trials, and what ends the run otherwise. The user's `--until` or
/// `--trials` replaces whichever the preset sets; a search ends when each rate is judged.
fn asked_end(
    request: &PlanRequest,
    cells: &[Job],
) -> Result<(Option<u32>, Option<Until>), PlanError> {
    let Resolved { user, whole, presets, .. } = request.resolved;
    let trials = match (user.until, user.trials) {
        (Some(_), Some(_)) => return Err(PlanError::UntilTrials),
        (Some(_), None) if cells.is_empty() => return Err(PlanError::UntilOfNone),
        (Some(_), None) => None,
        (None, _) => whole.trials,
    };
    let is_steady = |preset: &&Preset| preset.settings.until == Some(Until::Steady);
    if let [_, _, ..] = presets
        && user.until.is_none()
        && user.trials.is_none()
        && let Some(steady) = presets.iter().find(is_steady)
    {
        return Err(PlanError::Alone(steady.id.clone(), "runs until its rate is steady"));
    }
    if whole.until == Some(Until::Steady) && user.trials.is_none() {
        check_steady(request, cells)?;
        return Ok((Some(1), whole.until));
    }
    if check_watch(request, cells)? {
        return Ok((Some(1), None));
    }
    match whole.latency_target {
        Some(_) if !cells.is_empty() => Ok((None, None)),
        _ => Ok((trials, whole.until.filter(|_| trials.is_none()))),
    }
}

fn writes_to_cache(job: &Job) -> bool {
    job.op == Op::Write && !job.direct && !job.commits()
}

/// Checks that each cell can go on until it is steady.
fn check_steady(request: &PlanRequest, cells: &[Job]) -> Result<(), PlanError> {
    if cells.is_empty() {
        return Err(PlanError::UntilOfNone);
    }
    let excluded = excluded_from_long_trials(request, cells)?;
    let paced = ("a rate", cells.iter().any(|job| job.rate.is_some()));
    match excluded.into_iter().chain([paced]).find(|(_, is_there)| *is_there) {
        Some((what, _)) => Err(PlanError::SteadyWith(what)),
        None => Ok(()),
    }
}

/// Returns the first condition that would stop a watch only after its end.
fn longer_window(whole: &Settings) -> Option<&StopCondition> {
    let conditions = whole.stop_if.iter().flatten();
    conditions.into_iter().find(|of| Some(of.window) >= whole.watch)
}

/// Returns what a plan with one long trial of each cell cannot have, and whether it has it.
fn excluded_from_long_trials(
    request: &PlanRequest,
    cells: &[Job],
) -> Result<[(&'static str, bool); 9], PlanError> {
    let whole = &request.resolved.whole;
    Ok([
        ("a pick among methods", picks(request)?),
        ("--fresh", whole.fresh == Some(true)),
        ("--latency-target", whole.latency_target.is_some()),
        ("--between", Variant::are_set_by_commands(request.variants)),
        ("--neighbour", request.variants.iter().any(|variant| variant.neighbour.is_some())),
        ("several ranks", request.ranks.is_some_and(|ranks| ranks > 1)),
        ("--count", cells.iter().any(|job| job.count.is_some())),
        ("writing to the page cache", cells.iter().any(writes_to_cache)),
        ("another program", cells.iter().any(|job| job.backend.peer)),
    ])
}

/// Returns whether the plan is a watch.
///
/// # Errors
/// It cannot be one: it has no cell or several, or another end, or its cell cannot go on.
fn check_watch(request: &PlanRequest, cells: &[Job]) -> Result<bool, PlanError> {
    let Resolved { user, whole, .. } = request.resolved;
    if whole.watch.is_none() {
        return if whole.stop_if.is_some() { Err(PlanError::StopOfNone) } else { Ok(false) };
    }
    let any = |is: fn(&Job) -> bool| cells.iter().any(is);
    let own = [
        ("--probe", whole.probe.is_some() || cells.is_empty()),
        ("--trials", user.trials.is_some()),
        ("--until", user.until.is_some()),
        ("--budget", user.budget.is_some()),
        ("--trial-time", user.trial_time.is_some()),
        ("--verify", whole.verify == Some(true)),
        ("--think", any(|job| job.think > 0)),
        ("--cache cold", any(|job| job.cache == Cache::Cold && !job.direct)),
        ("--cpu-cache flush", any(|job| job.cpu_cache == CpuCache::Flush)),
        ("a file that starts empty", any(Job::starts_fresh)),
        ("reading ahead", any(|job| ["populate", "willneed"].iter().any(|of| job.backend.has(of)))),
    ];
    let excluded = excluded_from_long_trials(request, cells)?;
    match excluded.into_iter().chain(own).find(|(_, is_there)| *is_there) {
        Some((what, _)) => Err(PlanError::WatchWith(what)),
        None if cells.len() > 1 => Err(PlanError::WatchCells(cells.len())),
        None if let Some(long) = longer_window(whole) => {
            Err(PlanError::StopWindow(long.to_string()))
        }
        None => Ok(true),
    }
}

/// Returns the trial time, and whether it is fitted to the budget: the user's value; else that of a
/// preset, unless the user's budget is too short for it; else the `longest` of a trial that ends by
/// itself, or what `fits`, by default up to 0.3 s.
fn trial_time(
    user: &Settings,
    whole: &Settings,
    fits: Duration,
    longest: Option<Duration>,
) -> (TrialTime, bool) {
    if let Some(time) = whole.watch {
        return (TrialTime::from_duration(time), false);
    }
    match (user.trial_time, whole.trial_time.filter(|_| longest.is_none())) {
        (Some(time), _) => (time, false),
        (None, None) if let Some(longest) = longest => (TrialTime::from_duration(longest), true),
        (None, Some(time)) if user.budget.is_none() || time.low <= fits => (time, false),
        (None, Some(_)) => (TrialTime::from_duration(fits), true),
        (None, None) => (TrialTime::from_duration(fits.min(TrialTime::default().low)), true),
    }
}

/// Returns the cells of the requested probes, and the unavailable ones.
fn probes(request: &PlanRequest) -> Result<(Vec<ProbeCell>, Vec<Skipped<ProbeCell>>), PlanError> {
    let (cells, skipped) = lab::probes(request)?;
    match skipped.first() {
        Some(Skipped { cell, reason })
            if cells.is_empty() && !needs_file(request.resolved.presets) =>
        {
            Err(PlanError::Refused { cell: cell.label(), reason: reason.clone() })
        }
        _ => Ok((cells, skipped)),
    }
}

/// Returns the ends of a run: the precision and the tolerance of its answer, if requested, and its
/// budget.
fn ends(
    request: &PlanRequest,
    pick: bool,
    until: Option<Until>,
) -> (Option<f64>, Option<f64>, Duration) {
    let goal = until.and_then(Until::goal);
    // A ratio of variants has no contest, and a method that is picked has none left.
    let is_compared = !pick && request.variants.is_empty();
    let usual = Plan::usual_budget(until, request.variants.len());
    let whole = &request.resolved.whole;
    let watched = whole.watch.map(|time| time.saturating_add(Plan::WATCH_MARGIN));
    let budget = watched.or(whole.budget).unwrap_or(usual);
    (goal, until.and_then(Until::tolerance).filter(|_| is_compared), budget)
}

/// Builds the plan of all presets together: the union of their cells, each once.
///
/// # Errors
/// If nothing can be measured, or settings contradict each other.
pub fn plan(request: &PlanRequest) -> Result<Plan, PlanError> {
    let pick = picks(request)?;
    let (cells, skipped) = final_cells(request, pick)?;
    let alone = request.ranks.is_none_or(|ranks| ranks < 2);
    let span_may_shrink = !pick && alone && may_shrink(request, &cells);
    check_cold(request, cells.iter().chain(skipped.iter().map(|skipped| &skipped.cell)))?;
    check_pace(request, &cells, pick)?;
    let (compressible, dedupe) = asked_content(request, &cells)?;
    let verify = asked_verify(request, &cells, dedupe)?;
    let (probes, skipped_probes) = probes(request)?;
    let Resolved { user, presets, whole, .. } = request.resolved;
    let (trials, until) = asked_end(request, &cells)?;
    let (goal, settle, budget) = ends(request, pick, until);
    let steady = until == Some(Until::Steady);
    let longest = steady.then(|| Plan::steady_time(budget, cells.len()));
    let fits = fit_trials(request, &cells, (budget, settle), trials, verify);
    let (trial_time, fitted) = trial_time(user, whole, fits, longest);
    let plan = Plan {
        experiment: presets.first().map_or(sweep::EXPERIMENT.id, |p| &*p.experiment).into(),
        presets: presets.iter().map(|p| p.id.clone()).collect(),
        target: request.target.clone(),
        others: Vec::new(),
        variants: request.variants.to_vec(),
        latency_target: whole.latency_target.clone().filter(|_| !cells.is_empty()),
        cpus: asked_cpus(request, &cells)?,
        precondition: asked_precondition(request, &cells)?,
        fresh: asked_fresh(request, &cells, pick)?,
        cells,
        trials,
        goal: goal.unwrap_or(Plan::TARGET_HALF_WIDTH),
        until: goal.is_some(),
        steady,
        watch: whole.watch.is_some(),
        stop_if: whole.stop_if.clone().unwrap_or_default(),
        settle,
        trial_time,
        fitted: fitted && whole.latency_target.is_none(),
        budget,
        seed: whole.seed.unwrap_or(request.seed),
        probes,
        skipped,
        skipped_probes,
        pick,
        span_may_shrink,
        settings: Some(JobOption::texts(user)),
        anonymous: false,
        once_uncached: pick && user.trials.is_none() && user.until.is_none(),
        ceilings: false,
        rated: whole.rated,
        // The front end looks profiles up.
        expect: Vec::new(),
        remote: whole.remote.clone(),
        cold: whole.cold.unwrap_or_default(),
        compressible,
        dedupe,
        verify,
        shift: request.ranks.is_some_and(|ranks| ranks > 1) && whole.shift.unwrap_or(true),
    };
    Ok(Plan { ceilings: measures_ceilings(whole, &plan), ..plan })
}

/// Returns the trial time that fits the budget and what a tolerance keeps of it for later rounds;
/// `trials`: the fixed number of rounds.
fn fit_trials(
    request: &PlanRequest,
    cells: &[Job],
    (budget, settle): (Duration, Option<f64>),
    trials: Option<u32>,
    verify: bool,
) -> Duration {
    // A search tries few of its cells.
    if request.resolved.whole.latency_target.is_some() && !cells.is_empty() {
        return TrialTime::default().low;
    }
    let rounds = trials.unwrap_or(Plan::least_rounds(request.variants));
    let times = (budget, Plan::kept_time(settle, budget));
    let (starts, verified) = (sweep::starts(cells), verified_share(verify, cells));
    sweep::trial_time(cells.len(), times, starts, rounds, trials.is_some(), verified)
}

fn measures_ceilings(whole: &Settings, plan: &Plan) -> bool {
    match whole.ceilings.unwrap_or(MeasureCeilings::Auto) {
        MeasureCeilings::Auto => estimate(plan) >= Plan::MIN_FOR_CEILINGS,
        MeasureCeilings::Always => true,
        MeasureCeilings::Never => false,
    }
}

/// Checks that a cold cell exists where the user sets what a cold trial drops.
fn check_cold<'a>(
    request: &PlanRequest,
    mut jobs: impl Iterator<Item = &'a Job>,
) -> Result<(), PlanError> {
    let asked = request.resolved.user.cold.is_some_and(|level| level != Cold::Data);
    let mut drops = || jobs.any(|job| job.cache == Cache::Cold) || measures_levels(request);
    if asked && !drops() { Err(PlanError::ColdOfNone) } else { Ok(()) }
}

/// Returns how far the data that iotui writes compresses and repeats, in percent.
///
/// # Errors
/// The user set one of them, and iotui writes nothing.
fn asked_content(
    request: &PlanRequest,
    cells: &[Job],
) -> Result<(Option<u8>, Option<u8>), PlanError> {
    let Resolved { user, whole, .. } = request.resolved;
    if request.target.is_ours() && !cells.is_empty() {
        return Ok((whole.compressible, whole.dedupe));
    }
    let asked = [("compressible", user.compressible), ("dedupe", user.dedupe)];
    match asked.into_iter().find(|(_, percent)| percent.is_some()) {
        Some((option, _)) => Err(PlanError::ContentOfNone(option)),
        None => Ok((None, None)),
    }
}

/// Returns how many times the file is written before the measurement, if that was requested.
///
/// # Errors
/// The user asked for it, and no file is made before the cells are measured; or ranks share it.
fn asked_precondition(request: &PlanRequest, cells: &[Job]) -> Result<Option<u8>, PlanError> {
    let Resolved { user, whole, .. } = request.resolved;
    if request.ranks.is_some_and(|ranks| ranks > 1) && user.precondition.is_some() {
        return Err(PlanError::PaceRanks("precondition"));
    }
    let has_file = request.target.is_ours() && !cells.iter().all(Job::makes_files);
    match user.precondition.is_some() && !has_file {
        true => Err(PlanError::PreconditionOfNone),
        false => Ok(whole.precondition.filter(|_| has_file)),
    }
}

/// Returns whether what the cells write is read back and compared.
///
/// # Errors
/// The user asked for it, and nothing is written; or the data is to be as a stamped one cannot be.
fn asked_verify(
    request: &PlanRequest,
    cells: &[Job],
    dedupe: Option<u8>,
) -> Result<bool, PlanError> {
    let Resolved { user, whole, .. } = request.resolved;
    if whole.verify != Some(true) {
        return Ok(false);
    }
    let writes = request.target.is_ours() && cells.iter().any(|job| job.op == Op::Write);
    match whole.compressible {
        _ if !writes && user.verify == Some(true) => Err(PlanError::VerifyOfNone),
        _ if dedupe.is_some() => Err(PlanError::VerifyDedupe),
        Some(percent) if percent > MAX_COMPRESSIBLE => Err(PlanError::VerifyCompressible(percent)),
        _ => Ok(writes),
    }
}

/// Returns the facts for a plan that reads each block once, if that is requested.
///
/// # Errors
/// A cell would read blocks again, or blocks that iotui has just written.
fn asked_fresh(
    request: &PlanRequest,
    cells: &[Job],
    picks: bool,
) -> Result<Option<Fresh>, PlanError> {
    if request.resolved.whole.fresh != Some(true) || cells.is_empty() {
        return Ok(None);
    }
    if request.target.is_ours() {
        return Err(PlanError::FreshOfOurs);
    }
    if request.ranks.is_some_and(|ranks| ranks > 1) {
        return Err(PlanError::FreshRanks);
    }
    if !request.target.listed().is_empty() {
        return Err(PlanError::FreshList);
    }
    let cached = |job: &&Job| job.op != Op::Read || !job.direct && job.cache != Cache::Cold;
    if let Some(job) = cells.iter().find(cached) {
        return Err(PlanError::FreshCached(job.label()));
    }
    let is_peer =
        |job: &Job| request.infos.iter().any(|info| info.id == job.backend.id && info.is_peer());
    let is_bound = |job: &Job| {
        picks
            || job.count.is_some()
            || job.is_paced()
            || job.has_own_files()
            || job.pattern.is_drawn()
            || is_peer(job)
    };
    match cells.iter().find(|job| is_bound(job)) {
        Some(job) => Err(PlanError::FreshCount(job.label())),
        None => Ok(Some(Fresh::default())),
    }
}

/// Returns the CPUs that threads are pinned to, if that is requested.
///
/// # Errors
/// There are several processes, or the user asked for it and no cell has threads.
fn asked_cpus(request: &PlanRequest, cells: &[Job]) -> Result<Option<CpuList>, PlanError> {
    let Resolved { user, whole, .. } = request.resolved;
    match &whole.cpus {
        Some(_) if request.ranks.is_some_and(|ranks| ranks > 1) => Err(PlanError::CpusRanks),
        Some(_) if cells.is_empty() && user.cpus.is_some() => Err(PlanError::CpusOfNone),
        cpus => Ok(cpus.clone().filter(|_| !cells.is_empty())),
    }
}

/// Checks that a pace, if one is requested, is that of cells which can keep one, and that a search
/// has no other end or condition.
fn check_pace(request: &PlanRequest, cells: &[Job], pick: bool) -> Result<(), PlanError> {
    let Resolved { user, whole, presets, .. } = request.resolved;
    if cells.iter().any(|job| job.rate.is_some() && job.think > 0) {
        return Err(PlanError::RateThink);
    }
    let is_random = user.arrival.is_some_and(|arrival| !arrival.is_steady());
    if is_random && cells.iter().all(|job| job.rate.is_none()) {
        return Err(PlanError::ArrivalOfNone);
    }
    let others = [
        ("trials", user.trials.is_some()),
        ("until", user.until.is_some()),
        ("expect", whole.expect.is_some()),
    ];
    let other = others.into_iter().find(|(_, given)| *given);
    if let Some((option, _)) = other.filter(|_| whole.latency_target.is_some()) {
        return Err(PlanError::TargetTrials(option));
    }
    let given = [
        ("latency-target", user.latency_target.is_some()),
        ("rate", user.rate.is_some()),
        ("think", user.think.is_some_and(|pause| !pause.is_zero())),
    ];
    let given = given.into_iter().find_map(|(option, given)| given.then_some(option));
    if let Some(option) = given.filter(|_| cells.is_empty()) {
        return Err(PlanError::PaceOfNone(option));
    }
    let Some(paced) = cells.iter().find(|job| job.is_paced()) else { return Ok(()) };
    let option = given.unwrap_or(if paced.rate.is_some() { "rate" } else { "think" });
    let preset = presets.first().map_or(String::new(), |preset| preset.id.clone());
    match request.ranks {
        _ if pick => Err(PlanError::PaceOfPick(option, preset)),
        Some(ranks) if ranks > 1 => Err(PlanError::PaceRanks(option)),
        _ => Ok(()),
    }
}

/// Maximum compression of stamped data, percent.
const MAX_COMPRESSIBLE: u8 = 94;

/// Returns whether the cells may use less of the target than all: nobody requested a span, a number
/// of operations or how often the file is written, and it is read again for each warm cell after a
/// cold one.
fn may_shrink(request: &PlanRequest, cells: &[Job]) -> bool {
    let requested = |part: &Part| spans(&part.settings, request.allowed).is_some();
    let has = |cache| cells.iter().any(|job| job.cache == cache);
    has(Cache::Cold)
        && has(Cache::Warm)
        && request.resolved.whole.precondition.is_none()
        && cells.iter().all(|job| job.count.is_none() && !job.makes_files())
        && !request.resolved.parts.iter().any(requested)
}

/// Returns the error for a plan without cells: the first reason, and the remedy if every block was
/// too large.
fn refusal(skipped: &[Skipped]) -> PlanError {
    let Some(Skipped { cell, reason }) = skipped.first() else { return PlanError::Nothing };
    let most = skipped.iter().map(|s| s.cell.span).max().unwrap_or(0);
    // For direct I/O, fitting in the file is not enough.
    let large = skipped.iter().all(|s| s.cell.block > s.cell.span && !s.cell.direct);
    let remedy = match most {
        _ if !large => String::new(),
        0 | 1 => "; use -s 1".into(),
        most => format!("; use -s {} or less", short_bytes(most)),
    };
    PlanError::Refused { cell: cell.label(), reason: format!("{reason}{remedy}") }
}
