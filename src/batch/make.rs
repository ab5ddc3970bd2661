//! From arguments to a plan: presets, target, what this machine can do; or the plan of an earlier session.

use std::time::{SystemTime, UNIX_EPOCH};

use super::Args;
use crate::backend;
use crate::engine::{Bench, place};
use crate::experiment::{self, Asked};
use crate::plan::{Job, Op, Plan, Preset, Settings, TargetSpec, preset};
use crate::report::failed;
use crate::session;
use crate::sys::memory::{Memory, cgroup_limit};

pub(super) fn plan(args: &Args, settings: &Settings) -> anyhow::Result<Plan> {
    match &args.plan {
        Some(text) => again(args, settings, text),
        None => fresh(args, settings),
    }
}

fn fresh(args: &Args, settings: &Settings) -> anyhow::Result<Plan> {
    let names = if args.preset.is_empty() { vec!["quick".to_string()] } else { args.preset.clone() };
    let presets: Vec<Preset> = names.iter().map(|name| preset(name)).collect::<Result<_, _>>()?;
    let write = presets.iter().any(|p| settings.op.or(p.settings.op) == Some(Op::Write));
    let size = settings.size.clone().or_else(|| presets.iter().find_map(|p| p.settings.size.clone()));
    let size = size.and_then(|range| range.values.iter().copied().max());
    if args.file.is_some() && (args.dir.is_some() || args.keep) {
        anyhow::bail!(
            "--dir and --keep are for scratch files, and {} was named: leave one of them out",
            args.file.as_deref().unwrap_or("".as_ref()).display()
        );
    }
    let target = place::place(args.file.as_deref(), args.dir.as_deref(), size, write, args.keep)?;
    let bench = Bench::probe(&target)?;
    let check = |job: &Job| match backend::backend(&job.backend.id) {
        Ok(backend) => backend.check(&bench.target, job).map_err(|why| why.0),
        Err(unknown) => Err(unknown.to_string()),
    };
    let infos = backend::infos();
    let asked = Asked { settings, presets: &presets, target, infos: &infos, check: &check, memory: buffer_memory(), seed: seed() };
    Ok(experiment::plan(&asked)?)
}

/// The plan of a session, with what may differ between two runs of it.
fn again(args: &Args, settings: &Settings, text: &str) -> anyhow::Result<Plan> {
    let path = session::folder().and_then(|dir| session::find(&dir, text)).map_err(failed)?;
    let mut plan = session::load(&path).map_err(failed)?.plan;
    let free = Settings { seed: None, trials: None, trial_time: None, budget: None, ..settings.clone() };
    if free != Settings::default() || !args.preset.is_empty() {
        anyhow::bail!("--plan takes the cells of that session: only --seed, --trials, --trial-time and --budget may be given with it");
    }
    let write = plan.cells.iter().any(|c| c.op == Op::Write);
    let file = args.file.clone().or_else(|| match &plan.target {
        TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => Some(path.clone()),
        TargetSpec::Scratch { .. } => None,
    });
    let dir = args.dir.clone().or_else(|| match &plan.target {
        TargetSpec::Scratch { dir, .. } if args.file.is_none() => Some(dir.clone()),
        _ => None,
    });
    let need = plan.cells.iter().map(|c| c.span).max().unwrap_or(0);
    plan.target = place::place(file.as_deref(), dir.as_deref(), Some(plan.target.size().max(need)), write, args.keep)?;
    if need > plan.target.size() {
        anyhow::bail!(
            "that plan uses {} of its file, and this one has {}",
            crate::units::show_bytes(need),
            crate::units::show_bytes(plan.target.size())
        );
    }
    plan.seed = settings.seed.unwrap_or(plan.seed);
    plan.trials = settings.trials.or(plan.trials);
    plan.trial_time = settings.trial_time.unwrap_or(plan.trial_time);
    plan.budget = settings.budget.unwrap_or(plan.budget);
    Ok(plan)
}

/// Half of what is free: the page cache needs the rest.
fn buffer_memory() -> u64 {
    let available = Memory::now().map_or(u64::MAX, |m| m.available);
    available.min(cgroup_limit().unwrap_or(u64::MAX)) / 2
}

/// From the clock, below 2^53 so that every JSON reader keeps it.
fn seed() -> u64 {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    backend::order::mix(nanos ^ u64::from(std::process::id())) >> 11
}
