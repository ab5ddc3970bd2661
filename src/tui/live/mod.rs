//! Live: what runs now, as it runs.
//!
//! | what | where |
//! |---|---|
//! | the run, its clock and what was asked of it | [`run`], [`step`] |
//! | what is drawn of it | [`run_view`], of [`series`], [`cell_progress`], [`run_warnings`] |
//! | the window of time, and axes that do not jump | [`window`] |
//! | what is known and seen of it | [`state`] |
//! | what keys and messages do | [`update`] |
//! | where the panes are | [`layout`] |
//! | the picture | [`view`] |

mod cell_progress;
mod layout;
mod run;
mod run_view;
mod run_warnings;
mod series;
mod state;
mod step;
mod update;
mod view;
mod window;

#[cfg(test)]
mod tests;

pub use state::Live;
pub use update::{act, begin, end, handle_message, resume, stop, suspend, tick};
pub use view::{bar, draw};
