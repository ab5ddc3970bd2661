//! Runs a plan: opens the target, calibrates, runs rounds of prepared trials and judges them.
//! Reports everything as [`Event`]s.
//!
//! The measuring path never waits for a receiver: events of a trial are sent between trials,
//! samples from the thread that only waits.

mod around;
mod below;
mod calibrate;
mod ceilings;
mod cells;
mod control;
mod coverage;
mod error;
mod executor;
mod filling;
mod full_speed;
mod legs;
mod levels;
pub mod locate;
mod neighbour;
mod observe;
mod pace_of_lanes;
mod pace_record;
mod paced;
mod peer_trial;
mod prepare;
mod probing;
mod progress;
mod propose;
mod ranks;
mod run;
mod spec;
mod target;
mod targets;
#[cfg(test)]
mod tests;
mod trial;
mod trial_parts;
mod verify;
mod watchdog;
mod workers;

pub use ceilings::measure as measure_ceilings;
pub use control::Control;
pub use error::EngineError;
pub use executor::Executor;
pub use filling::{Unfillable, check_filling};
pub use neighbour::{ARGUMENT as NEIGHBOUR, serve as serve_neighbour};
pub use probing::list_offers;
pub use propose::{Proposal, ProposeError, TargetInspection, inspect_target, propose, unavailable};
pub use ranks::{Link, Roll, Started, boot_id, dismiss, follow};
pub use run::{RESTORE_TIMEOUT, continue_run, run, run_together, set_back};
pub use target::OpenTarget;
pub use watchdog::Watchdog;

use crate::record::Event;

/// Receives the engine's events. Called on the engine's thread between trials; samples arrive
/// during them.
pub trait Sink {
    fn event(&mut self, event: Event);
}

impl<F: FnMut(Event)> Sink for F {
    fn event(&mut self, event: Event) {
        self(event);
    }
}
