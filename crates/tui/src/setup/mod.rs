//! Setup: the target, the workload, and the resulting plan.
//!
//! | what | where |
//! |---|---|
//! | choices, cursors, the plan | [`state`], [`browser`], [`planning`] |
//! | what one start leaves to the next | [`remembered`] |
//! | keys, clicks and messages | [`update`] |
//! | settings and backends as rows, their steps, block sizes as a band | [`rows`], [`step`], [`slider`] |
//! | conflicts between choices, the command line | [`objection`], [`command_line`] |
//! | drawing | [`view`] |

mod browser;
mod command_line;
mod objection;
mod planning;
mod remembered;
mod rows;
mod slider;
mod state;
mod step;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use browser::{Browser, EntryKind, FileSystem, FolderEntry, Inspection, Listing};
pub use command_line::build_command;
pub use planning::Planning;
pub use rows::settings;
pub use state::{Setup, SetupPane};
pub use update::{
    act, answer, ask_for_value, back, click, enter, examine, field, field_changed, handle_message,
    is_offered, open_plan, save_preset, set_target, set_text, show_setting, take_preset,
    toggle_backend,
};
pub use view::draw;
