//! Setup: the target, the workload, and the resulting plan.
//!
//! | what | where |
//! |---|---|
//! | choices, cursors, the plan | [`state`], [`browser`] |
//! | keys, clicks and messages | [`update`] |
//! | settings as rows, their steps, block sizes as a band | [`rows`], [`step`], [`slider`] |
//! | conflicts between choices, the command line | [`objection`], [`command_line`] |
//! | positions of the panes | [`layout`] |
//! | drawing | [`view`] |

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
    act, answer, back, click, enter, examine, field, field_changed, handle_message, save_preset,
    set_text, show_setting, take_preset,
};
pub use view::draw;
