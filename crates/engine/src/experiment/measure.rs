//! `measure`: how many operations take a reasonable time, which reports show as a separate table.

use super::error::PlanError;
use super::kind::{Experiment, PlanRequest};
use super::sweep::Sweep;
use crate::plan::{Job, Settings, Skipped};

/// The id of this experiment; reports of its sessions show the counts found by calibration.
pub const MEASURE: &str = "measure";

pub struct Measure;

impl Experiment for Measure {
    fn id(&self) -> &'static str {
        MEASURE
    }

    fn about(&self) -> &'static str {
        "like sweep; reports how many operations take the trial time, for every block size"
    }

    fn cells(
        &self,
        settings: &Settings,
        request: &PlanRequest,
    ) -> Result<(Vec<Job>, Vec<Skipped>), PlanError> {
        Sweep.cells(settings, request)
    }
}
