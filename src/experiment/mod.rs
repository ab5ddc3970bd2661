//! Experiments: rules that turn settings into a plan. Pure; listed once in [`EXPERIMENTS`].

mod calls;
mod describe;
mod error;
mod fast;
mod lab;
mod levels;
mod measure;
mod sweep;

pub use calls::CALLS;
pub use describe::{OtherCells, describes};
pub use error::PlanError;
pub use lab::asked as asked_probes;
pub use levels::LEVELS;
pub use measure::MEASURE;
pub use sweep::{FIRST_ROUND, PEER_START, SHORTEST, estimate, spans, usual};

use std::collections::HashSet;
use std::time::Duration;

use crate::plan::{
    Cache, Cold, Info, Job, MeasureCeilings, Op, Plan, Preset, ProbeCell, ProbeInfo, Resolved,
    Settings, Skipped, TargetSpec, TrialTime, Unknown, nearest,
};
use crate::units::short_bytes;

/// Everything a plan depends on, gathered before; nothing in an experiment touches the machine.
pub struct Asked<'a> {
    pub resolved: &'a Resolved<'a>,
    pub target: TargetSpec,
    pub infos: &'a [&'static Info],
    /// Whether this kernel and target can do a job; the reason where not.
    pub check: &'a dyn Fn(&Job) -> Result<(), String>,
    /// Memory that buffers may take, bytes.
    pub memory: u64,
    /// Memory that this process may have in all, bytes: what a share of it is a share of.
    pub allowed: u64,
    /// What the cheapest system call costs here, nanoseconds; 0 = not measured.
    pub call: f64,
    /// CPUs that this process may use.
    pub cpus: u32,
    /// The seed where none was said.
    pub seed: u64,
    pub probes: &'a Offered<'a>,
}

/// What can be measured of the operating system here.
pub struct Offered<'a> {
    pub infos: &'a [&'static ProbeInfo],
    /// All cells of a probe, and why one cannot be had.
    #[allow(clippy::type_complexity)]
    pub cells: &'a dyn Fn(&'static ProbeInfo) -> Vec<(ProbeCell, Result<(), String>)>,
}

impl Offered<'static> {
    /// Nothing: for plans of files alone.
    pub const NONE: &'static Offered<'static> = &Offered { infos: &[], cells: &|_| Vec::new() };
}

/// The most combinations of one preset: two long ranges crossed would end in memory instead of in
/// results.
pub const MOST_CELLS: u64 = 10_000;

/// A rule that turns settings into cells.
pub trait Experiment: Sync {
    fn id(&self) -> &'static str;
    fn about(&self) -> &'static str;
    /// Whether its cells are ways to do the same, of which one is picked at run time.
    fn picks(&self) -> bool {
        false
    }
    /// The cells, and what of the asked was left out and why.
    fn cells(
        &self,
        settings: &Settings,
        asked: &Asked,
    ) -> Result<(Vec<Job>, Vec<Skipped>), PlanError>;
    /// Whether it measures a file at all.
    fn needs_file(&self) -> bool {
        true
    }
}

/// Every experiment, in the order of lists.
pub static EXPERIMENTS: &[&dyn Experiment] =
    &[&sweep::Sweep, &measure::Measure, &calls::Calls, &levels::Levels, &fast::Fast, &lab::Lab];

fn experiment(id: &str) -> Result<&'static dyn Experiment, Unknown> {
    let found = EXPERIMENTS.iter().find(|e| e.id() == id);
    found.copied().ok_or_else(|| nearest("experiment", id, EXPERIMENTS.iter().map(|e| e.id())))
}

/// The cells of all presets, each once, and what was left out.
fn cells(asked: &Asked) -> Result<(Vec<Job>, Vec<Skipped>), PlanError> {
    let (mut cells, mut skipped, mut passed_over) = (Vec::new(), Vec::new(), None);
    let (mut seen, mut out) = (HashSet::new(), HashSet::new());
    for part in &asked.resolved.parts {
        match experiment(&part.preset.experiment)?.cells(&part.settings, asked) {
            Ok((some, left_out)) => {
                cells.extend(some.into_iter().filter(|cell| seen.insert(cell.clone())));
                skipped.extend(
                    left_out.into_iter().filter(|skipped| out.insert(skipped.cell.clone())),
                );
            }
            // Warm, of a preset that is direct and buffered, is said of its buffered part.
            Err(error @ PlanError::WarmDirect) if !part.preset.sweeps.is_empty() => {
                passed_over = Some(error)
            }
            Err(error) => return Err(error),
        }
    }
    // What one preset has no room for, another may.
    skipped.retain(|skipped| !seen.contains(&skipped.cell));
    match passed_over {
        Some(error) if cells.is_empty() => Err(error),
        _ if cells.is_empty() && needs_file(asked.resolved.presets) => Err(refused(&skipped)),
        _ => Ok((cells, skipped)),
    }
}

/// Whether any of these presets measures a file; one of an unknown experiment is refused later.
pub fn needs_file(presets: &[Preset]) -> bool {
    presets.is_empty()
        || presets
            .iter()
            .any(|preset| experiment(&preset.experiment).map_or(true, |e| e.needs_file()))
}

/// Whether one of the cells is to be picked: then they are those of one preset.
fn picks(asked: &Asked) -> Result<bool, PlanError> {
    for preset in asked.resolved.presets {
        if experiment(&preset.experiment)?.picks() {
            return if asked.resolved.presets.len() > 1 {
                Err(PlanError::Alone(preset.id.clone()))
            } else {
                Ok(true)
            };
        }
    }
    Ok(false)
}

/// Whether what each level of cold buys is measured, whatever the cells.
fn levels(asked: &Asked) -> bool {
    asked.resolved.presets.first().is_some_and(|preset| preset.experiment == levels::LEVELS)
}

/// The time of a trial: as said; else that of a preset, unless a budget was said that has no room
/// for it; else 0.3 s or less, and then it is fitted to the budget.
fn trial_time(
    said: &Settings,
    whole: &Settings,
    cells: &[Job],
    budget: Duration,
) -> (TrialTime, bool) {
    // Once to calibrate, and once for a round.
    let fits = sweep::trial_time(cells.len(), budget, sweep::starts(cells) * 2);
    match (said.trial_time, whole.trial_time) {
        (Some(time), _) => (time, false),
        (None, Some(time)) if said.budget.is_none() || time.low <= fits.low => (time, false),
        _ => (fits, true),
    }
}

/// The plan of all presets together: the union of their cells, each cell once.
pub fn plan(asked: &Asked) -> Result<Plan, PlanError> {
    let pick = picks(asked)?;
    let (cells, skipped) = cells(asked)?;
    let cold = |job: &Job| job.cache == Cache::Cold;
    let drops =
        cells.iter().chain(skipped.iter().map(|skipped| &skipped.cell)).any(cold) || levels(asked);
    if asked.resolved.said.cold.is_some_and(|level| level != Cold::Data) && !drops {
        return Err(PlanError::ColdOfNone);
    }
    let (probes, skipped_probes) = lab::probes(asked)?;
    let Resolved { said, presets, whole, .. } = asked.resolved;
    let budget = whole.budget.unwrap_or(Plan::BUDGET);
    let (trial_time, fitted) = trial_time(said, whole, &cells, budget);
    let plan = Plan {
        experiment: presets
            .first()
            .map_or_else(|| sweep::Sweep.id().into(), |p| p.experiment.clone()),
        presets: presets.iter().map(|p| p.id.clone()).collect(),
        target: asked.target.clone(),
        cells,
        trials: whole.trials,
        goal: Plan::GOAL,
        trial_time,
        fitted,
        budget,
        seed: whole.seed.unwrap_or(asked.seed),
        probes,
        skipped,
        skipped_probes,
        pick,
        ceilings: false,
        rated: whole.rated,
        remote: whole.remote.clone(),
        cold: whole.cold.unwrap_or_default(),
    };
    let ceilings = match whole.ceilings.unwrap_or(MeasureCeilings::Auto) {
        MeasureCeilings::Auto => estimate(&plan) >= Plan::LONG,
        MeasureCeilings::Always => true,
        MeasureCeilings::Never => false,
    };
    Ok(Plan { ceilings, ..plan })
}

/// Nothing is left to measure: the first reason, and what to do where every block was too large.
fn refused(skipped: &[Skipped]) -> PlanError {
    let Some(Skipped { cell, reason }) = skipped.first() else { return PlanError::Nothing };
    let most = skipped.iter().map(|s| s.cell.span).max().unwrap_or(0);
    // Direct I/O asks for more of a block than that it fits.
    let large = skipped.iter().all(|s| s.cell.block > s.cell.span && !s.cell.direct);
    let remedy =
        if large { format!("; use -s {} or less", short_bytes(most)) } else { String::new() };
    PlanError::Refused { cell: cell.label(), reason: format!("{reason}{remedy}") }
}
