//! Runs a plan and saves its events: a new plan, that of an earlier session, or one to compare with
//! a baseline.
//!
//! The only room above the engine that starts it. [`start`] runs a plan and writes its events into
//! a session; [`replan`] and [`plan_baseline`] build the plan of an earlier one;
//! [`saved_ceilings`], [`saved_experience`] and [`saved_runs`] load what earlier runs found on this
//! machine; [`expect`] adds to a plan what its results must keep to, [`add_visited`] what
//! earlier runs have read.

mod baseline;
mod ceilings;
mod experience;
mod other_runs;
mod profiles;
mod refine;
mod replan;
mod run;
mod saved_runs;
mod visited;

pub use baseline::{BaselineError, plan_baseline};
pub use ceilings::{choose_saved_xor_loop, saved_ceilings};
pub use experience::{Experience, saved_experience};
pub use other_runs::find_other_run;
pub use profiles::{expect, presets_of_profiles, profiles};
pub use refine::{RefineError, refine};
pub use replan::{ReplanError, replan};
pub use run::{
    BUG, Keepers, Measuring, Observer, Ranks, Report, create_recorder, describe_unrestored, start,
};
pub use saved_runs::saved_runs;
pub use visited::add_visited;
