//! Inspects the targets of an existing plan: what it is now, and which cells cannot run here.

use super::error::EngineError;
use super::executor::Executor;
use super::target::OpenTarget;
use crate::facts::TargetFacts;
use crate::plan::{Job, Plan};

/// The targets of a plan as they are now.
#[derive(Debug)]
pub struct TargetInspection {
    /// Facts about each target, or about an empty file where the scratch file would be.
    pub facts: Vec<TargetFacts>,
    /// The cells that this kernel or target does not support, and why.
    pub refused: Vec<(Job, String)>,
}

/// Opens the targets of `plan` and checks every cell's backend or peer; nothing is left behind.
///
/// # Errors
/// A target cannot be opened, or no file can be created where it would be.
pub fn inspect_target(plan: &Plan) -> Result<TargetInspection, EngineError> {
    let open = plan.targets().map(OpenTarget::probe).collect::<Result<Vec<_>, _>>()?;
    let reason = |job: &Job| match Executor::from_choice(&job.backend) {
        Ok(executor) => match open.get(job.target_index()) {
            Some(open_target) => executor.check(&open_target.target, job).err(),
            None => Some("the plan has no such target".into()),
        },
        Err(unknown) => Some(unknown.to_string()),
    };
    let refused = plan.cells.iter().filter_map(|job| Some((job.clone(), reason(job)?))).collect();
    let facts = open.into_iter().map(|open_target| open_target.facts).collect();
    Ok(TargetInspection { refused, facts })
}
