//! `levels`: a sweep, and before it what each level of cold buys, which a report shows as a table
//! of its own.

use super::sweep::Sweep;
use super::{Asked, Experiment, PlanError};
use crate::plan::{Job, Settings, Skipped};

/// Its id: the engine opens and reads the file after each level of cold.
pub const LEVELS: &str = "levels";

pub struct Levels;

impl Experiment for Levels {
    fn id(&self) -> &'static str {
        LEVELS
    }

    fn about(&self) -> &'static str {
        "as sweep; before it the time to open and to read the file after each level of cold: data, meta, all"
    }

    fn cells(
        &self,
        settings: &Settings,
        asked: &Asked,
    ) -> Result<(Vec<Job>, Vec<Skipped>), PlanError> {
        Sweep.cells(settings, asked)
    }
}
