//! From arguments to a plan: a new one, or that of an earlier session.

use anyhow::Context;

use super::args::Args;
use super::gate::{self, Gate};
use super::named_session::load_named;
use crate::engine::{Proposal, ProposeError, propose};
use crate::experiment::PlanError;
use crate::plan::{Plan, Presets, ProbeCell, Settings};
use crate::report::print_message;
use crate::runner;
use crate::runner::ReplanError;
use crate::text;

/// Makes the plan, and the gate of its run.
pub(super) fn plan(
    args: &Args,
    settings: &Settings,
    presets: &Presets,
) -> anyhow::Result<(Plan, Option<Gate>)> {
    let (plan, gate) = match (&args.plan, &args.baseline) {
        (_, Some(text)) => {
            gate::plan(args, settings, presets, text).map(|(plan, gate)| (plan, Some(gate)))?
        }
        (Some(text), None) => (make_again(args, settings, text)?, None),
        (None, None) => (make_new(args, settings, presets)?, None),
    };
    let mut probes =
        plan.probes.iter().chain(plan.skipped_probes.iter().map(|skipped| &skipped.cell));
    if settings.remote.is_some() && !probes.any(ProbeCell::is_far) {
        return Err(PlanError::RemoteOfNone.into());
    }
    Ok((plan, gate))
}

fn make_new(args: &Args, settings: &Settings, presets: &Presets) -> anyhow::Result<Plan> {
    let presets = presets.select(&args.preset, settings.probe.is_some()).context("--preset")?;
    let (file, others) = match &args.files[..] {
        [] => (None, &[][..]),
        [first, others @ ..] => (Some(first.as_path()), others),
    };
    let proposed = propose(&Proposal {
        file,
        others,
        dir: args.dir.as_deref(),
        keep: args.keep,
        presets: &presets,
        settings,
        survey: false,
    });
    let proposed = proposed.map_err(with_option)?;
    let notes = proposed.instead.into_iter().chain(proposed.common_span);
    for note in notes.filter(|_| !args.quiet) {
        print_message(format!("iotui: {}", text::clean_text(&note)));
    }
    Ok(proposed.plan)
}

/// Adds the option that the error is about, where its text does not name it.
fn with_option(error: ProposeError) -> anyhow::Error {
    let option = match &error {
        ProposeError::Plan(error) => error.option(),
        _ => None,
    };
    match option {
        Some(option) => anyhow::Error::new(error).context(option),
        None => error.into(),
    }
}

/// Returns the plan of a session, with the changes that are allowed between two runs of it.
fn make_again(args: &Args, settings: &Settings, text: &str) -> anyhow::Result<Plan> {
    let session = load_named(text).context("--plan")?;
    if !args.preset.is_empty() {
        return Err(ReplanError::Cells.into());
    }
    Ok(runner::replan(&session, &args.files, args.dir.as_deref(), args.keep, settings)?)
}
