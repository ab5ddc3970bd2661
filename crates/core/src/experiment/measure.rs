//! `measure`: how many operations take a reasonable time, which reports show as a separate table.

use super::kind::Experiment;
use super::sweep;

/// The id of this experiment; reports of its sessions show the counts found by calibration.
pub const MEASURE: &str = "measure";

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: MEASURE,
    about: "like sweep; reports how many operations take the trial time, for every block size",
    ..sweep::EXPERIMENT
};
