//! Runs any plan: target, calibration, rounds of prepared trials, verdicts. Tells everything as
//! events.
//!
//! The measuring path never waits for a watcher: events of a trial are told between trials, samples
//! from the thread that only waits.

mod calibrate;
mod ceilings;
mod cells;
mod control;
mod error;
mod foreign;
mod harness;
mod levels;
mod look;
mod observe;
mod offers;
mod parts;
pub mod place;
mod prepare;
mod probing;
mod programs;
mod progress;
mod propose;
mod reach;
mod read_back;
mod run;
mod sampled;
mod schedule;
mod target;
#[cfg(test)]
mod tests;
mod trial;
mod visited;
mod watched;
mod way;
mod workers;

pub use ceilings::measure as measure_ceilings;
pub use cells::verdict;
pub use control::Control;
pub use error::EngineError;
pub use look::{Met, look};
pub use offers::{Offer, offers};
pub use propose::{Proposal, ProposeError, Proposed, propose, unavailable};
pub use reach::{Missed, missed};
pub use run::run;
pub use schedule::order;
pub use target::Bench;
pub use watched::Watched;
pub use way::{Way, info, infos, moves_data, only_calls, only_loops};

use crate::record::Event;

/// Whoever keeps or shows what the engine tells; called on the engine's thread, between trials
/// (samples: during them).
pub trait Sink {
    fn event(&mut self, event: Event);
}

impl<F: FnMut(Event)> Sink for F {
    fn event(&mut self, event: Event) {
        self(event);
    }
}
