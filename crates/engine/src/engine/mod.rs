//! Runs a plan: opens the target, calibrates, runs rounds of prepared trials and judges them.
//! Reports everything as [`Event`]s.
//!
//! The measuring path never waits for a receiver: events of a trial are sent between trials,
//! samples from the thread that only waits.

mod below;
mod calibrate;
mod ceilings;
mod cells;
mod control;
mod coverage;
mod error;
mod executor;
mod expected;
mod filling;
mod fleet;
mod harness;
mod inspect;
mod levels;
pub mod locate;
mod observe;
mod offers;
mod peer_trial;
mod prepare;
mod probing;
mod programs;
mod progress;
mod propose;
mod read_back;
mod roll;
mod run;
mod sampler;
mod target;
mod targets;
#[cfg(test)]
mod tests;
mod trial;
mod trial_outcome;
mod trial_parts;
mod variants;
mod verify;
mod watchdog;
mod workers;
mod write_times;

pub use ceilings::measure as measure_ceilings;
pub use control::Control;
pub use error::EngineError;
pub use executor::Executor;
pub use filling::{Unfillable, check_filling};
pub use fleet::{Link, Started, boot_id, dismiss, follow};
pub use inspect::{TargetInspection, inspect_target};
pub use offers::list_offers;
pub use propose::{Proposal, ProposeError, propose, unavailable};
pub use roll::Roll;
pub use run::{continue_run, run, run_together, set_back};
pub use target::OpenTarget;
pub use variants::RESTORE_TIMEOUT;
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
