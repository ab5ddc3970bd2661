//! A look at the target of a plan that was made before: what it is now, and which cells cannot be
//! had here.

use super::error::EngineError;
use super::target::Bench;
use super::way::Way;
use crate::host::TargetFacts;
use crate::plan::{Job, Plan};

/// What a plan meets here.
#[derive(Debug)]
pub struct Met {
    /// Of the target, or of an empty file where iotui's own would be.
    pub facts: TargetFacts,
    /// The cells that this kernel or target refuses, and why.
    pub refused: Vec<(Job, String)>,
}

/// Looks at the target of `plan` and asks every backend and peer; nothing is left behind.
///
/// # Errors
/// The target cannot be opened, or no file can be made where it would be.
pub fn look(plan: &Plan) -> Result<Met, EngineError> {
    let bench = Bench::probe(&plan.target)?;
    let refusal = |job: &Job| match Way::of(&job.backend) {
        Ok(way) => way.check(&bench.target, job).err(),
        Err(unknown) => Some(unknown.to_string()),
    };
    let refused = plan.cells.iter().filter_map(|job| Some((job.clone(), refusal(job)?))).collect();
    Ok(Met { refused, facts: bench.facts })
}
