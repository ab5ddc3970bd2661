//! `levels`: a sweep after the costs of each cache-drop level, which reports show as a table of their
//! own.

use super::sweep::Sweep;
use super::{Asked, Experiment, PlanError};
use crate::plan::{Job, Settings, Skipped};

/// Its id: the engine opens and reads the file after each cache-drop level.
pub const LEVELS: &str = "levels";

pub struct Levels;

impl Experiment for Levels {
    fn id(&self) -> &'static str {
        LEVELS
    }

    fn about(&self) -> &'static str {
        "as sweep; first, the time to open and read the file after each cache-drop level: data, meta, all"
    }

    fn cells(
        &self,
        settings: &Settings,
        asked: &Asked,
    ) -> Result<(Vec<Job>, Vec<Skipped>), PlanError> {
        Sweep.cells(settings, asked)
    }
}
