//! Setup: which file, what to do with it, and the plan that comes of it.
//!
//! | what | where |
//! |---|---|
//! | what is chosen, where the cursor is, the plan | [`state`], [`browser`] |
//! | what keys, clicks and messages do | [`update`] |
//! | settings as rows, their steps, block sizes as a band | [`rows`], [`step`], [`slider`] |
//! | what makes no sense together, the command line | [`objection`], [`command_line`] |
//! | where the panes are | [`layout`] |
//! | the picture | [`view`] |

mod browser;
mod command_line;
mod layout;
mod objection;
mod rows;
mod slider;
mod state;
mod step;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use browser::{Browser, Entry, FileSystem, Inspection, Kind, Listing};
pub use command_line::build_command;
pub use state::{Pane, Planning, Setup};
pub use update::{
    act, back, click, enter, field, field_changed, handle_message, save_preset, set_text,
    take_preset,
};
pub use view::draw;
