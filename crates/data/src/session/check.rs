//! Checks of a file that anyone may have written: cells must be in the plan, and values must be
//! displayable. Its texts are cleaned when a line is read: [`super::line::cleaned`].

use std::sync::Arc;

use crate::plan::{Job, Plan};
use crate::record::{DropLevel, Estimate, Event, Preparation, Trial, Verdict};

/// Programs that map a file: further names are dropped, because they take more room in memory than
/// in the file.
const MAX_MAPPED_BY: usize = 16;
/// Readings of a cache-drop level.
const MAX_READINGS: usize = 100;

/// Checks an event of a run of `plan`, and drops what needs too much memory.
///
/// # Errors
/// The event names a cell that the plan lacks, or holds an impossible value.
pub fn event(event: &mut Event, plan: &Plan) -> Result<(), String> {
    match event {
        Event::Plan { plan } => self::plan(plan)?,
        Event::Trial { trial, .. } => {
            cell(trial.cell, plan)?;
            shrink(Arc::make_mut(trial));
        }
        Event::Begun { trial } => drop(cell(trial.cell, plan)?),
        Event::Latencies { log } | Event::Running { log } => {
            cell(log.cell, plan)?;
            if !log.is_sound() {
                return Err(format!("latencies in intervals of {} ns", log.width));
            }
        }
        Event::Probe { trial } => {
            probe(trial.cell, plan)?;
            if !trial.is_sound() {
                return Err(format!("a probe's value {} is not a number", trial.value));
            }
        }
        Event::Findings { cell, findings } => {
            probe(*cell, plan)?;
            let is_finite = |of: &Estimate| of.low.is_finite() && of.high.is_finite();
            if !findings.estimate.as_ref().is_none_or(is_finite) {
                Arc::make_mut(findings).estimate = None;
            }
        }
        Event::Skipped { cell } => drop(self::cell(*cell, plan)?),
        Event::Levels { levels } => {
            levels.truncate(DropLevel::ALL.len());
            levels.iter_mut().for_each(|level| level.readings.truncate(MAX_READINGS));
        }
        Event::Picked { pick } => {
            pick.cells().try_for_each(|index| cell(index, plan).map(drop))?;
        }
        _ => {}
    }
    Ok(())
}

/// Returns the index of a cell of the plan.
pub fn cell(cell: u32, plan: &Plan) -> Result<usize, String> {
    let cells = plan.cells.len();
    let index = cell as usize;
    if index < cells { Ok(index) } else { Err(format!("cell {cell}: the plan has {cells} cells")) }
}

fn probe(cell: u32, plan: &Plan) -> Result<(), String> {
    let probes = plan.probes.len();
    if (cell as usize) < probes {
        Ok(())
    } else {
        Err(format!("probe {cell}: the plan has {probes} probes"))
    }
}

fn shrink(trial: &mut Trial) {
    if let Some(Preparation::Cold { mapped_by, .. }) = &mut trial.evidence.preparation {
        mapped_by.truncate(MAX_MAPPED_BY);
        mapped_by.shrink_to_fit();
    }
    if let Some(others) = &mut trial.evidence.others {
        others.cut();
        others.processes.shrink_to_fit();
        others.kernel.shrink_to_fit();
    }
    if let Some(around) = &mut trial.evidence.surroundings {
        around.steps.iter_mut().flat_map(|step| &mut step.others).for_each(|others| others.cut());
        around.cut();
    }
    trial.evidence.notes.shrink_to_fit();
}

/// Drops memory that a verdict does not use.
pub fn shrink_verdict(verdict: &mut Verdict) {
    verdict.latency.iter_mut().for_each(|latency| latency.buckets.shrink_to_fit());
}

/// Checks that a plan can be shown and run again.
pub fn plan(plan: &Plan) -> Result<(), String> {
    if !(plan.goal.is_finite() && plan.goal >= 0.0) {
        return Err(format!("the goal {} is not a share between 0 and 1", plan.goal));
    }
    let neighbours = || plan.variants.iter().filter_map(|variant| variant.neighbour.as_deref());
    if neighbours().any(|of| of.job.span > of.target.size()) {
        return Err("a neighbour uses more than its file has".into());
    }
    let skipped = plan.skipped.iter().map(|skipped| &skipped.cell);
    let cells = plan.cells.iter().chain(skipped).chain(neighbours().map(|of| &of.job));
    for (index, job) in cells.enumerate() {
        for (name, value, most) in [
            ("block", job.block, Job::MAX_BLOCK),
            ("threads", job.threads.into(), Job::MAX_THREADS.into()),
            ("depth", job.depth.into(), Job::MAX_DEPTH.into()),
        ] {
            if !(1..=most).contains(&value) {
                return Err(format!("cell {index}: {name} {value} is not between 1 and {most}"));
            }
        }
        if job.rate.is_some_and(|rate| !rate.is_valid()) {
            return Err(format!("cell {index}: the rate is 0 or beyond the limit"));
        }
        if job.think > Job::MAX_THINK.as_nanos() as u64 {
            return Err(format!("cell {index}: the pause exceeds an hour"));
        }
        if job.mix.is_some_and(|mix| mix > 100) {
            return Err(format!("cell {index}: the mix exceeds 100 %"));
        }
        if job.variant.as_ref().is_some_and(|name| plan.variants.iter().all(|of| of.name != *name))
        {
            return Err(format!("cell {index}: the plan has no such variant"));
        }
        if plan.target_of(job).is_none() {
            return Err(format!("cell {index}: the plan has no target {}", job.target_index()));
        }
    }
    if plan.targets().count() > Plan::MAX_TARGETS {
        return Err(format!("more than {} targets", Plan::MAX_TARGETS));
    }
    Ok(())
}
