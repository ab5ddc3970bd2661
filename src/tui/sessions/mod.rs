//! Sessions: the saved runs.
//!
//! | what | where |
//! |---|---|
//! | what is listed and in which order, the cursor, the marks | [`state`] |
//! | how each session compares with the run before it | [`changes`] |
//! | what keys, clicks and messages do | [`update`] |
//! | where list and preview are | [`layout`] |
//! | the picture: the list and its columns, the preview | [`view`] |

mod changes;
mod layout;
mod state;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use state::Sessions;
pub use update::{
    act, ask_before_hiding, click, end_run, field, field_changed, handle_message, import,
    is_offered, mark_shown, rename,
};
pub use view::draw;
