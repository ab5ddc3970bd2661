//! `commit`: writes that are made durable, by several methods, to several shapes of files.

use super::error::PlanError;
use super::kind::{Experiment, PlanRequest};
use super::sweep::Sweep;
use crate::plan::{Job, Op, Settings, Skipped};

/// The id of this experiment, whose answer is about commits.
pub const COMMIT: &str = "commit";

pub struct Commit;

impl Experiment for Commit {
    fn id(&self) -> &'static str {
        COMMIT
    }

    fn about(&self) -> &'static str {
        "all combinations of sync methods, shapes of files and writers; the answer is about commits"
    }

    /// Returns the cells of a sweep of writes.
    fn cells(
        &self,
        settings: &Settings,
        request: &PlanRequest,
    ) -> Result<(Vec<Job>, Vec<Skipped>), PlanError> {
        let settings = Settings { op: settings.op.or(Some(Op::Write)), ..settings.clone() };
        Sweep.cells(&settings, request)
    }
}
