//! Lab: the operating system's own costs, as bars on one scale from a CPU cycle to a second.
//!
//! | what | where |
//! |---|---|
//! | the selected probes | [`choice`] |
//! | available probes, results, values of other sessions | [`data`] |
//! | the list and the bars built from them | [`rows`], [`curve`] |
//! | cursors and panes | [`state`] |
//! | keys, clicks and messages | [`update`] |
//! | drawing | [`view`] |

mod choice;
mod curve;
mod data;
mod rows;
mod state;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use choice::{is_probe_plan, is_probe_preset};
pub use data::{LocalProbes, MarkedSession};
pub use state::{Lab, LabPane};
pub use update::{
    MarkEntry, act, back, begin, choose_mark, click, enter, field, field_changed, grow,
    handle_message, is_offered, list_sessions, mark_entries, rename, set_values, show,
};
pub use view::{draw, sign};
