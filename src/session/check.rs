//! Checks of a file that anyone may have written: cells must be in the plan, values must be
//! displayable, and texts safe to show.

use std::sync::Arc;

use crate::plan::{Job, Plan};
use crate::record::{DropLevel, Event, Level, Preparation, ProbeFindings, Trial, Verdict, Warning};
use crate::text::clean;

/// Programs that map a file: further names are dropped, because they take more room in memory than
/// in the file.
const MAX_MAPPED_BY: usize = 16;
/// Readings of a cache-drop level.
const MAX_READINGS: usize = 100;

/// Checks an event of a run of `plan` and makes its texts safe to show.
///
/// # Errors
/// The event names a cell that the plan lacks, or holds an impossible value.
pub fn event(event: &mut Event, plan: &Plan) -> Result<(), String> {
    match event {
        Event::Plan { plan } => self::plan(Arc::make_mut(plan))?,
        Event::Trial { trial, .. } => {
            cell(trial.cell, plan)?;
            shrink(Arc::make_mut(trial));
        }
        Event::Probe { trial } => {
            probe(trial.cell, plan)?;
            if !trial.is_sound() {
                return Err(format!("a probe's value {} is not a number", trial.value));
            }
        }
        Event::Findings { cell, findings } => {
            probe(*cell, plan)?;
            clean_findings(Arc::make_mut(findings));
        }
        Event::Skipped { cell } => drop(self::cell(*cell, plan)?),
        Event::Levels { levels } => clean_levels(levels),
        Event::Picked { pick } => {
            pick.cells().try_for_each(|index| cell(index, plan).map(drop))?;
            let pick = Arc::make_mut(pick);
            pick.left_out.iter_mut().for_each(|out| clean::clean_in_place(&mut out.why));
            clean::clean_in_place(&mut pick.why);
        }
        Event::Note { text } => clean::clean_in_place(text),
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
    trial.evidence.notes.shrink_to_fit();
}

fn clean_findings(findings: &mut ProbeFindings) {
    findings.warnings.iter_mut().for_each(clean_warning);
    findings.error.iter_mut().for_each(clean::clean_in_place);
    if findings.estimate.as_ref().is_some_and(|of| !(of.low.is_finite() && of.high.is_finite())) {
        findings.estimate = None;
    }
    findings.estimate.iter_mut().for_each(|of| clean::clean_in_place(&mut of.reason));
}

fn clean_levels(levels: &mut Vec<Level>) {
    levels.truncate(DropLevel::ALL.len());
    for level in levels {
        level.readings.truncate(MAX_READINGS);
        level.reason.iter_mut().for_each(clean::clean_in_place);
    }
}

fn clean_warning(warning: &mut Warning) {
    for text in [&mut warning.message, &mut warning.evidence, &mut warning.remedy] {
        clean::clean_in_place(text);
    }
    clean::clean_in_place(warning.id.to_mut());
}

/// Returns a verdict whose texts are safe to show.
pub fn clean_verdict(mut verdict: Verdict) -> Verdict {
    clean::clean_in_place(&mut verdict.source_reason);
    verdict.warnings.iter_mut().for_each(clean_warning);
    verdict.durability.iter_mut().for_each(|of| clean::clean_in_place(&mut of.reason));
    verdict.latency.iter_mut().for_each(|latency| latency.buckets.shrink_to_fit());
    verdict
}

/// Checks that a plan can be shown and run again, and makes its texts safe to show; its paths
/// remain unchanged.
pub fn plan(plan: &mut Plan) -> Result<(), String> {
    let texts = plan.presets.iter_mut().chain(plan.skipped.iter_mut().map(|s| &mut s.reason));
    // A command is shown, and never run.
    let commands = plan.variants.iter_mut().map(|variant| &mut variant.command);
    let by = plan.expect.iter_mut().filter_map(|expectation| expectation.by.as_mut());
    by.flat_map(|by| [&mut by.profile, &mut by.source, &mut by.published])
        .for_each(clean::clean_in_place);
    texts.chain(commands).chain([&mut plan.experiment]).for_each(clean::clean_in_place);
    if !(plan.goal.is_finite() && plan.goal >= 0.0) {
        return Err(format!("the goal {} is not a share between 0 and 1", plan.goal));
    }
    for (index, job) in plan.cells.iter().chain(plan.skipped.iter().map(|s| &s.cell)).enumerate() {
        for (name, value, most) in [
            ("block", job.block, Job::MAX_BLOCK),
            ("threads", job.threads.into(), Job::MAX_THREADS.into()),
            ("depth", job.depth.into(), Job::MAX_DEPTH.into()),
        ] {
            if !(1..=most).contains(&value) {
                return Err(format!("cell {index}: {name} {value} is not between 1 and {most}"));
            }
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
