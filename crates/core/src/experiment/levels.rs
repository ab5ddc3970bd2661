//! `levels`: a sweep preceded by the cache-drop levels, which reports show as a separate table.

use super::kind::Experiment;
use super::sweep;

/// The id of this experiment; the engine times opening and reading the file after each cache-drop
/// level.
pub const LEVELS: &str = "levels";

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: LEVELS,
    about: "like sweep, preceded by the time to open and read the file after each cache-drop level",
    ..sweep::EXPERIMENT
};
