//! The Live screen: the current run.
//!
//! | what | where |
//! |---|---|
//! | the run, its clock and pending requests | [`run`] |
//! | a replay: a run paced by the clock of the screen, and its keys | [`replay`], [`replay_keys`] |
//! | the drawn run | [`run_view`], with [`series`], [`phases`], [`counter`], [`run_warnings`] |
//! | latencies over time, as they come | [`heat`] |
//! | results as a table or rows, where nothing forms a curve | [`rows`] |
//! | the trials as bars, which of them, and their axis | [`strip`] |
//! | the state of the screen | [`state`] |
//! | key and message handlers | [`update`] |
//! | drawing | [`view`] |

mod counter;
mod heat;
mod phases;
mod replay;
mod replay_keys;
mod rows;
mod run;
mod run_view;
mod run_warnings;
mod series;
mod state;
mod strip;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use counter::Counter;
pub use replay_keys::{begin_replay, click, end_replay};
pub use state::Live;
pub use update::{act, begin, end, handle_message, resume, stop, suspend, tick};
pub use view::{draw, job_at};
