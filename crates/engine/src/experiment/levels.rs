//! `levels`: a sweep preceded by the cache-drop levels, which reports show as a separate table.

use super::error::PlanError;
use super::kind::{Experiment, PlanRequest};
use super::sweep::Sweep;
use crate::plan::{Job, Settings, Skipped};

/// The id of this experiment; the engine times opening and reading the file after each cache-drop
/// level.
pub const LEVELS: &str = "levels";

pub struct Levels;

impl Experiment for Levels {
    fn id(&self) -> &'static str {
        LEVELS
    }

    fn about(&self) -> &'static str {
        "like sweep, preceded by the time to open and read the file after each cache-drop level"
    }

    fn cells(
        &self,
        settings: &Settings,
        request: &PlanRequest,
    ) -> Result<(Vec<Job>, Vec<Skipped>), PlanError> {
        Sweep.cells(settings, request)
    }
}
