//! Builds the plan of a session again: the same cells, on the same or another target.

use std::path::{Path, PathBuf};

use crate::engine::locate::{PlaceError, locate_list, locate_target};
use crate::experiment::PlanError;
use crate::plan::{Op, Plan, Settings, TargetSpec, TrialTime, Until, Variant};
use crate::session::Session;
use crate::text::show_path;
use crate::units::show_bytes;

/// Why a session cannot be run again in this way; each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ReplanError {
    #[error(
        "--plan runs the cells of that session: only --seed, --trials, --until, --trial-time, --budget and --remote can be combined with it"
    )]
    Cells,
    #[error(
        "that plan runs commands between its rounds, and commands of a session file are never run: \
         make it again with --between"
    )]
    Commands,
    #[error(
        "that session is anonymous and does not say what it measured, so it cannot be repeated: \
         name a FILE or --dir, and --plan runs its cells there"
    )]
    Anonymous,
    #[error(
        "that plan measures {plan} {}, but {named} {} named: name as many, or none",
        if *.plan == 1 { "target" } else { "targets" },
        if *.named == 1 { "was" } else { "were" }
    )]
    Files { plan: usize, named: usize },
    #[error("that plan needs {} of its file, but this file has only {}", show_bytes(*.need), show_bytes(*.size))]
    Small { need: u64, size: u64 },
    #[error("--dir and --keep are for scratch files, but the target is {}: omit them, or name another FILE", show_path(.0))]
    NotScratch(PathBuf),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Builds the plan of `session` with what may differ between two runs of it: `files` or `dirs`
/// instead of its targets, and seed, trials, trial time, budget and remote host from `settings`,
/// which may contain nothing else.
pub fn replan(
    session: &Session,
    files: &[PathBuf],
    dirs: &[PathBuf],
    keep: bool,
    settings: &Settings,
) -> Result<Plan, ReplanError> {
    check_allowed(session, settings)?;
    let mut plan = session.plan.clone();
    let is_named = !files.is_empty() || !dirs.is_empty() || plan.target == TargetSpec::None;
    if plan.anonymous && !is_named {
        return Err(ReplanError::Anonymous);
    }
    plan.anonymous = false;
    let write = plan.cells.iter().any(|c| c.op == Op::Write);
    let listed = !plan.target.listed().is_empty();
    if listed && !files.is_empty() {
        plan.target = locate_list(files.iter().map(PathBuf::as_path))?;
    }
    let files = if listed { &[] } else { files };
    let targets: Vec<TargetSpec> = plan.targets().cloned().collect();
    for named in [files.len(), dirs.len()] {
        if named != 0 && named != targets.len() {
            return Err(ReplanError::Files { plan: targets.len(), named });
        }
    }
    let need = plan.cells.iter().map(|c| c.span).max().unwrap_or(0);
    fn each(paths: &[PathBuf]) -> impl Iterator<Item = Option<&Path>> {
        paths.iter().map(|path| Some(path.as_path())).chain(std::iter::repeat(None))
    }
    let named = each(files).zip(each(dirs));
    let place = |(old, (file, dir)): (&TargetSpec, (Option<&Path>, Option<&Path>))| {
        let target = replace_target(old, file, dir, keep, need, write)?;
        if need > target.size() {
            return Err(ReplanError::Small { need, size: target.size() });
        }
        Ok(target)
    };
    let mut targets = targets.iter().zip(named).map(place).collect::<Result<Vec<_>, _>>()?;
    plan.others = targets.split_off(1);
    plan.target = targets.remove(0);
    let neighbours = plan.variants.iter_mut().filter_map(|variant| variant.neighbour.as_mut());
    for neighbour in neighbours {
        let size = Some(neighbour.target.size());
        neighbour.target = locate_target(None, plan.target.folder(), size, false, false, None)?;
    }
    plan.seed = settings.seed.unwrap_or(plan.seed);
    set_end(&mut plan, settings)?;
    plan.once_uncached &= settings.trials.is_none() && settings.until.is_none();
    plan.fitted &= settings.trial_time.is_none();
    // The cells stay what they were.
    plan.span_may_shrink = false;
    plan.budget = settings.budget.unwrap_or(plan.budget);
    let longest = || TrialTime::from_duration(Plan::steady_time(plan.budget, plan.cells.len()));
    let usual = if plan.steady && plan.fitted { longest() } else { plan.trial_time };
    plan.trial_time = settings.trial_time.unwrap_or(usual);
    plan.remote = settings.remote.clone().or(plan.remote);
    Ok(plan)
}

/// Sets what ends the run, if the settings change it.
fn set_end(plan: &mut Plan, settings: &Settings) -> Result<(), PlanError> {
    let has_target = plan.latency_target.is_some();
    let ends = [
        ("trials", settings.trials.is_some()),
        ("until", settings.until.is_some()),
        ("trial-time", settings.trial_time.is_some()),
        ("budget", settings.budget.is_some()),
    ];
    if let Some((option, _)) = ends.into_iter().find(|(_, given)| plan.watch && *given) {
        return Err(PlanError::WatchPlan(option));
    }
    match (settings.trials, settings.until) {
        (Some(_), _) if has_target => return Err(PlanError::TargetTrials("trials")),
        (_, Some(_)) if has_target => return Err(PlanError::TargetTrials("until")),
        (Some(_), _) if plan.steady => return Err(PlanError::SteadyPlan),
        (_, Some(until)) if plan.steady != (until == Until::Steady) => {
            return Err(PlanError::SteadyPlan);
        }
        (Some(_), Some(_)) => return Err(PlanError::UntilTrials),
        (Some(trials), None) => plan.trials = Some(trials),
        (None, Some(until)) => {
            plan.trials = plan.trials.filter(|_| plan.steady);
            plan.settle = until.tolerance();
            plan.until = until.goal().is_some();
            plan.goal = until.goal().unwrap_or(Plan::TARGET_HALF_WIDTH);
            plan.budget = if plan.until { Plan::UNTIL_BUDGET } else { plan.budget };
        }
        (None, None) => {}
    }
    Ok(())
}

/// Checks that only what may differ between two runs is set, and that no command would run.
fn check_allowed(session: &Session, settings: &Settings) -> Result<(), ReplanError> {
    let free = Settings {
        seed: None,
        trials: None,
        until: None,
        trial_time: None,
        budget: None,
        remote: None,
        ..settings.clone()
    };
    if free != Settings::default() {
        return Err(ReplanError::Cells);
    }
    if Variant::are_set_by_commands(&session.plan.variants) {
        return Err(ReplanError::Commands);
    }
    Ok(())
}

/// Returns the target in place of `old`: `file` or `dir` if given, else the same one, located
/// again.
fn replace_target(
    old: &TargetSpec,
    file: Option<&Path>,
    dir: Option<&Path>,
    keep: bool,
    need: u64,
    write: bool,
) -> Result<TargetSpec, ReplanError> {
    if let TargetSpec::Files { dir: folder, .. } = old {
        // Other sizes would be other work, which opening it finds.
        return match dir.or(keep.then_some(folder)) {
            Some(not) => Err(ReplanError::NotScratch(not.into())),
            None => Ok(old.clone()),
        };
    }
    let (own_file, own_dir): (Option<&Path>, Option<&Path>) = match old {
        TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => (Some(path), None),
        TargetSpec::Files { .. } | TargetSpec::None => (None, None),
        TargetSpec::Scratch { dir, .. } => (None, Some(dir.as_path()).filter(|_| file.is_none())),
    };
    let named = file.or(own_file);
    if let Some(file) = named.filter(|_| dir.is_some() || keep) {
        return Err(ReplanError::NotScratch(file.into()));
    }
    // Probes that needed no file need none again.
    if *old == TargetSpec::None && named.is_none() {
        return Ok(TargetSpec::None);
    }
    Ok(locate_target(named, dir.or(own_dir), Some(old.size().max(need)), write, keep, None)?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::session::testing;

    #[test]
    fn steady_trials_follow_the_budget() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 30).unwrap();
        let mut session = testing::session(2);
        (session.plan.steady, session.plan.fitted, session.plan.trials) = (true, true, Some(1));
        let time = |session: &Session, settings: &Settings| {
            let plan = replan(session, &[file.path().into()], &[], false, settings).unwrap();
            (plan.trials, plan.trial_time.low)
        };
        let second = Duration::from_secs(1);
        let longer = Settings { budget: Some(second * 100), ..Settings::default() };
        assert_eq!(time(&session, &longer), (Some(1), Plan::steady_time(second * 100, 2)));
        // A time that was asked for stays.
        session.plan.fitted = false;
        session.plan.trial_time = TrialTime::from_duration(second * 7);
        assert_eq!(time(&session, &longer), (Some(1), second * 7));
        let own = Settings { trial_time: Some(TrialTime::from_duration(second)), ..longer };
        assert_eq!(time(&session, &own).1, second);
        for other in [
            Settings { trials: Some(3), ..Settings::default() },
            Settings { until: Some(Until::Answer), ..Settings::default() },
        ] {
            let refused = replan(&session, &[file.path().into()], &[], false, &other);
            assert!(
                matches!(refused, Err(ReplanError::Plan(PlanError::SteadyPlan))),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn replan_keeps_the_cells() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let session = testing::session(2);
        let need = session.plan.cells.iter().map(|c| c.span).max().unwrap();
        let run =
            |settings: &Settings| replan(&session, &[file.path().into()], &[], false, settings);
        file.as_file().set_len(need - 1).unwrap();
        assert!(matches!(run(&Settings::default()), Err(ReplanError::Small { .. })));
        file.as_file().set_len(need + 1).unwrap();
        let plan =
            run(&Settings { seed: Some(7), trials: Some(3), ..Settings::default() }).unwrap();
        assert_eq!((plan.seed, plan.trials, plan.target.size()), (7, Some(3), need + 1));
        assert_eq!((plan.cells, plan.budget), (session.plan.cells.clone(), session.plan.budget));
        let remote = Some("lab-7".parse().unwrap());
        assert_eq!(
            run(&Settings { remote: remote.clone(), ..Settings::default() }).unwrap().remote,
            remote
        );
        let moved =
            replan(&session, &[file.path().into()], &["/tmp".into()], false, &Settings::default());
        assert!(matches!(moved, Err(ReplanError::NotScratch(_))), "{moved:?}");
        let until =
            Settings { until: Some(crate::plan::Until::Within(500)), ..Settings::default() };
        let plan = run(&until).unwrap();
        assert_eq!((plan.trials, plan.goal, plan.until), (None, 0.05, true));
        assert_eq!(plan.budget, Plan::UNTIL_BUDGET);
        let both = run(&Settings { trials: Some(3), ..until });
        assert!(matches!(both, Err(ReplanError::Plan(PlanError::UntilTrials))), "{both:?}");
        assert!(matches!(
            run(&Settings { op: Some(Op::Seek), ..Settings::default() }),
            Err(ReplanError::Cells)
        ));
    }
}
