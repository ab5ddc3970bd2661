//! From arguments to a plan: a new one, or one from an earlier session.

use std::path::PathBuf;
use std::process::exit;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::args::Args;
use super::gate::{self, Gate, load_named};
use crate::engine::{Proposal, ProposeError, Started, Watchdog, propose};
use crate::experiment::PlanError;
use crate::host;
use crate::output::print_message;
use crate::plan::{Plan, Presets, ProbeCell, Settings, Variant};
use crate::record::Earlier;
use crate::runner;
use crate::runner::ReplanError;
use crate::text;

/// A run to start.
pub(super) struct Task {
    pub plan: Plan,
    /// The trials that the run continues.
    pub earlier: Earlier,
    pub gate: Option<Gate>,
}

impl From<Plan> for Task {
    fn from(plan: Plan) -> Task {
        Task { plan, earlier: Earlier::default(), gate: None }
    }
}

/// Makes the plan, with what it continues and the gate of its run.
pub(super) fn task(
    args: &Args,
    settings: &Settings,
    presets: &Presets,
    ranks: Option<Started>,
) -> anyhow::Result<Task> {
    // An expectation belongs to no cell, so an earlier plan may have another one.
    let (asked, settings) = (settings, &Settings { expect: None, ..settings.clone() });
    let mut task: Task = match (&args.plan, &args.baseline, &args.refine) {
        (_, Some(text), _) => {
            let (plan, gate) = gate::plan(args, settings, presets, text)?;
            Task { gate: Some(gate), ..plan.into() }
        }
        (Some(text), ..) => make_again(args, settings, text)?.into(),
        (.., Some(text)) => {
            let session = load_named(text).context("--refine")?;
            let (plan, earlier) = runner::refine(&session, settings, None, &host::collect())?;
            Task { earlier, ..plan.into() }
        }
        (None, None, None) => {
            let plan = make_new(args, asked, presets, ranks)?;
            Task { gate: gate::of_variants(args, &plan)?, ..plan.into() }
        }
    };
    if args.plan.is_some() || args.baseline.is_some() || args.refine.is_some() {
        runner::expect(&mut task.plan, asked, &[]).context("--expect")?;
    }
    let plan = &task.plan;
    let mut probes =
        plan.probes.iter().chain(plan.skipped_probes.iter().map(|skipped| &skipped.cell));
    if settings.remote.is_some() && !probes.any(ProbeCell::is_far) {
        return Err(PlanError::RemoteOfNone.into());
    }
    Ok(task)
}

fn make_new(
    args: &Args,
    settings: &Settings,
    chosen: &Presets,
    ranks: Option<Started>,
) -> anyhow::Result<Plan> {
    let presets = match args.preset.is_empty() {
        true => runner::presets_of_profiles(settings).context("--expect")?,
        false => Vec::new(),
    };
    let presets = match presets.is_empty() {
        true => chosen.select(&args.preset, settings).context("--preset")?,
        false => presets,
    };
    let alone = ranks.is_none() || args.files.len() != 1;
    let folder = args.files.first().filter(|first| !alone && first.is_dir());
    let (file, others) = match (&args.files[..], &args.dir[..]) {
        // Ranks put their scratch files into a folder that is named in place of a file.
        _ if folder.is_some() && args.dir.is_empty() => (None, &[][..]),
        ([first, others @ ..], _) => (Some(first.as_path()), others),
        ([], [_, others @ ..]) => (None, others),
        ([], []) => (None, &[][..]),
    };
    Variant::check_names(&args.between).context("--between")?;
    let proposed = propose(&Proposal {
        file,
        others,
        as_one: args.as_one,
        dir: args.dir.first().or(folder).map(PathBuf::as_path),
        variants: &args.between,
        keep: args.keep,
        ranks,
        ..Proposal::new(&presets, settings)
    });
    let proposed = proposed.map_err(with_option)?;
    let notes = proposed.instead.into_iter().chain(proposed.common_span);
    for note in notes.filter(|_| !args.quiet) {
        print_message(format!("iotui: {}", text::clean_text(&note)));
    }
    let mut plan = proposed.plan;
    runner::expect(&mut plan, settings, &presets).context("--expect")?;
    Ok(plan)
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

/// Returns the plan of a session, with the requested changes.
fn make_again(args: &Args, settings: &Settings, text: &str) -> anyhow::Result<Plan> {
    let session = load_named(text).context("--plan")?;
    if !args.preset.is_empty() {
        return Err(ReplanError::Cells.into());
    }
    Ok(runner::replan(&session, &args.files, &args.dir, args.keep, settings)?)
}

/// Makes a plan within the budget. To inspect a file, planning opens it and reads a little, which
/// may hang: then this process exits, before anything was measured or written.
pub(super) fn within<T>(budget: Duration, plan: impl FnOnce() -> T) -> T {
    let watchdog = Arc::new(Watchdog::default());
    watchdog.doing("the plan was being made");
    if let Some(deadline) = Instant::now().checked_add(budget) {
        watchdog.until(deadline);
    }
    let watching = Arc::clone(&watchdog);
    // Without this thread a call that hangs is ended by a signal only.
    let _ = Builder::new().name("budget".into()).stack_size(256 << 10).spawn(move || {
        if let Some(why) = watching.wait(|| false) {
            print_message(format!("iotui: {why}"));
            exit(1);
        }
    });
    let made = plan();
    watchdog.finish();
    made
}
