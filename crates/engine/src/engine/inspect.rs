//! Inspects the target of an existing plan: what it is now, and which cells cannot run here.

use super::error::EngineError;
use super::executor::Executor;
use super::target::OpenTarget;
use crate::host::TargetFacts;
use crate::plan::{Job, Plan};

/// The target of a plan as it is now.
#[derive(Debug)]
pub struct TargetInspection {
    /// Facts about the target, or about an empty file where the scratch file would be.
    pub facts: TargetFacts,
    /// The cells that this kernel or target does not support, and why.
    pub refused: Vec<(Job, String)>,
}

/// Opens the target of `plan` and checks every cell's backend or peer; nothing is left behind.
///
/// # Errors
/// The target cannot be opened, or no file can be created where it would be.
pub fn inspect_target(plan: &Plan) -> Result<TargetInspection, EngineError> {
    let open_target = OpenTarget::probe(&plan.target)?;
    let reason = |job: &Job| match Executor::from_choice(&job.backend) {
        Ok(executor) => executor.check(&open_target.target, job).err(),
        Err(unknown) => Some(unknown.to_string()),
    };
    let refused = plan.cells.iter().filter_map(|job| Some((job.clone(), reason(job)?))).collect();
    Ok(TargetInspection { refused, facts: open_target.facts })
}
