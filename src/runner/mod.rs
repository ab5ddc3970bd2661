//! Runs a plan and keeps what it tells: once, again as an earlier session did, or to be compared
//! with one.
//!
//! The only room above the engine that starts it. [`start`] runs a plan and writes its events into
//! a session; [`again`] and [`baseline`] make the plan of an earlier one; [`known_ceilings`] and
//! [`kept`] are what earlier runs found on this machine.

mod again;
mod baseline;
mod ceilings;
mod kept;
mod run;

pub use again::{AgainError, again};
pub use baseline::{BaselineError, baseline};
pub use ceilings::known as known_ceilings;
pub use kept::kept;
pub use run::{BUG, Told, recorder, start};
