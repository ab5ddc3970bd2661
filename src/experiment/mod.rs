//! Experiments: rules that turn settings into a plan. Pure; listed once in [`EXPERIMENTS`].

mod describe;
mod error;
mod sweep;

pub use describe::{OtherCells, describes};
pub use error::PlanError;
pub use sweep::{estimate, usual};

use std::collections::HashSet;

use crate::plan::{Info, Job, MeasureCeilings, Plan, Preset, Settings, Skipped, TargetSpec, Unknown, nearest};
use crate::units::short_bytes;

/// Everything a plan depends on, gathered before; nothing in an experiment touches the machine.
pub struct Asked<'a> {
    /// What was said, before a preset fills the gaps.
    pub settings: &'a Settings,
    pub presets: &'a [Preset],
    pub target: TargetSpec,
    pub infos: &'a [&'static Info],
    /// Whether this kernel and target can do a job; the reason where not.
    pub check: &'a dyn Fn(&Job) -> Result<(), String>,
    /// Memory that buffers may take, bytes.
    pub memory: u64,
    /// The seed where none was said.
    pub seed: u64,
}

/// The most combinations of one preset: two long ranges crossed would end in memory instead of in results.
pub const MOST_CELLS: u64 = 10_000;

/// A rule that turns settings into cells.
pub trait Experiment: Sync {
    fn id(&self) -> &'static str;
    fn about(&self) -> &'static str;
    /// The cells, and what of the asked was left out and why.
    fn cells(&self, settings: &Settings, asked: &Asked) -> Result<(Vec<Job>, Vec<Skipped>), PlanError>;
}

/// Every experiment, in the order of lists.
pub static EXPERIMENTS: &[&dyn Experiment] = &[&sweep::Sweep];

fn experiment(id: &str) -> Result<&'static dyn Experiment, Unknown> {
    let found = EXPERIMENTS.iter().find(|e| e.id() == id);
    found.copied().ok_or_else(|| nearest("experiment", id, EXPERIMENTS.iter().map(|e| e.id())))
}

/// The plan of all presets together: the union of their cells, each cell once.
pub fn plan(asked: &Asked) -> Result<Plan, PlanError> {
    let (mut cells, mut skipped) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    let mut whole = asked.settings.clone();
    for preset in asked.presets {
        let settings = asked.settings.clone().or(&preset.settings);
        let (some, left_out) = experiment(&preset.experiment)?.cells(&settings, asked)?;
        cells.extend(some.into_iter().filter(|cell| seen.insert(cell.clone())));
        skipped.extend(left_out.into_iter().filter(|skipped| seen.insert(skipped.cell.clone())));
        whole = whole.or(&preset.settings);
    }
    if cells.is_empty() {
        return Err(refused(&skipped));
    }
    let budget = whole.budget.unwrap_or(Plan::BUDGET);
    let trial_time = whole.trial_time.unwrap_or_else(|| sweep::trial_time(cells.len(), budget));
    let plan = Plan {
        experiment: asked.presets.first().map_or_else(|| sweep::Sweep.id().into(), |p| p.experiment.clone()),
        presets: asked.presets.iter().map(|p| p.id.clone()).collect(),
        target: asked.target.clone(),
        cells,
        trials: whole.trials,
        goal: Plan::GOAL,
        trial_time,
        budget,
        seed: whole.seed.unwrap_or(asked.seed),
        probes: Vec::new(),
        skipped,
        skipped_probes: Vec::new(),
        ceilings: false,
        rated: whole.rated,
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
    let remedy = if large { format!("; use -s {} or less", short_bytes(most)) } else { String::new() };
    PlanError::Refused { cell: cell.label(), reason: format!("{reason}{remedy}") }
}
