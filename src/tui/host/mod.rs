//! Host: facts about this machine and the target, and the findings of the doctor.
//!
//! | what | where |
//! |---|---|
//! | facts, and scroll positions | [`state`] |
//! | keys, clicks and messages | [`update`] |
//! | panes and their positions | [`layout`] |
//! | drawing: rows and tables, the path from the file down to the disk | [`view`] |

mod layout;
mod state;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use state::HostScreen;
pub use update::{act, click, enter, handle_message, show_plan};
pub use view::draw;
