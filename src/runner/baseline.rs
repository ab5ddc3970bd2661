//! Builds the plan of a baseline again, if the results will be comparable with it.

use std::path::PathBuf;

use crate::analysis::{MIN_TRIALS, judgeable, results};
use crate::engine::{EngineError, TargetInspection, inspect_target};
use crate::plan::{Job, Plan, Settings};
use crate::runner::{ReplanError, replan};
use crate::session::Session;
use crate::units::show_bytes;

/// Why a session cannot be the baseline of this run; each is one line that names what differs.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error("the baseline {0} has no trials to compare with")]
    Empty(String),
    #[error(
        "{0} is a reference with published figures, which cannot be run: use 'iotui sessions compare'"
    )]
    Reference(&'static str),
    #[error(
        "no cell of the baseline {0} can be judged: an interval needs {MIN_TRIALS} trials without a failure or a warning of severity wrong; \
         make a baseline with --trials 7 or more"
    )]
    Unsound(String),
    #[error(
        "--fail-if-slower needs a confidence interval: use --trials {MIN_TRIALS} or more, not {0}"
    )]
    Trials(u32),
    #[error(
        "not comparable: the baseline was measured on {base}, this is {here}; record a baseline here, or name a FILE or --dir on {base}"
    )]
    FileSystem { base: String, here: String },
    #[error("not comparable: the baseline's file has {}, this file has {}", show_bytes(*.base), show_bytes(*.here))]
    Size { base: u64, here: u64 },
    #[error("not comparable: {cell} of the baseline is unavailable here: {why}")]
    Refused { cell: String, why: String },
    #[error(transparent)]
    Replan(#[from] ReplanError),
    #[error(transparent)]
    Target(#[from] EngineError),
}

/// Builds the plan of the baseline with [`replan`], on a target like the baseline's: the same size,
/// on the same type of file system, where every cell is available. With `judged`, the baseline must
/// have cells that can be judged.
pub fn plan_baseline(
    base: &Session,
    files: &[PathBuf],
    dirs: &[PathBuf],
    keep: bool,
    free: &Settings,
    judged: bool,
) -> Result<Plan, BaselineError> {
    if let Some(machine) = base.reference {
        return Err(BaselineError::Reference(machine));
    }
    if base.trials.is_empty() {
        return Err(BaselineError::Empty(base.id.clone()));
    }
    if judged && judgeable(base).is_empty() {
        return Err(BaselineError::Unsound(base.id.clone()));
    }
    let mut plan = replan(base, files, dirs, keep, free)?;
    // A small loss shows in narrow intervals alone.
    plan.settle = plan.settle.filter(|_| free.until.is_some());
    if plan.pick {
        // The method picked then is compared with itself, not with one that would be picked now.
        let measured: Vec<Job> = results(base).into_iter().map(|result| result.cell).collect();
        plan.cells.retain(|cell| measured.contains(cell));
        (plan.pick, plan.once_uncached) = (false, false);
    }
    if let Some(trials) = plan.trials.filter(|trials| judged && (*trials as usize) < MIN_TRIALS) {
        return Err(BaselineError::Trials(trials));
    }
    check_comparable(base, &plan, &inspect_target(&plan)?)?;
    Ok(plan)
}

fn check_comparable(
    base: &Session,
    plan: &Plan,
    met: &TargetInspection,
) -> Result<(), BaselineError> {
    for (before, now) in base.plan.targets().zip(plan.targets()) {
        let (size, here) = (before.size(), now.size());
        if size != here {
            return Err(BaselineError::Size { base: size, here });
        }
    }
    // Imported and old sessions may not have it.
    let before = base.grounds.iter().flat_map(|grounds| grounds.targets());
    if let Some((before, now)) = before.zip(&met.facts).find(|(before, now)| before.fs != now.fs) {
        fn describe_fs(fs: &str) -> String {
            if fs.is_empty() { "a block device".into() } else { crate::text::clean_text(fs) }
        }
        return Err(BaselineError::FileSystem {
            base: describe_fs(&before.fs),
            here: describe_fs(&now.fs),
        });
    }
    // Cells that failed in the baseline may fail again.
    let failed = |job: &Job| {
        results(base).iter().any(|result| result.cell == *job && result.error.is_some())
    };
    match met.refused.iter().find(|(job, _)| !failed(job)) {
        Some((job, why)) => Err(BaselineError::Refused { cell: job.label(), why: why.clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
