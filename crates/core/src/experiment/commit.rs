//! `commit`: writes that are made durable, by several methods, to several shapes of files.

use super::error::PlanError;
use super::kind::{Cells, Experiment, PlanRequest};
use super::sweep;
use crate::plan::{Op, Settings};

/// The id of this experiment, whose answer is about commits.
pub const COMMIT: &str = "commit";

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: COMMIT,
    about: "all combinations of sync methods, shapes of files and writers; the answer is about \
            commits",
    cells,
    ..sweep::EXPERIMENT
};

/// Returns the cells of a sweep of writes.
fn cells(settings: &Settings, request: &PlanRequest) -> Result<Cells, PlanError> {
    let settings = Settings { op: settings.op.or(Some(Op::Write)), ..settings.clone() };
    sweep::cells(&settings, request)
}
