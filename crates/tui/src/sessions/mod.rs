//! Sessions: the saved runs.
//!
//! | what | where |
//! |---|---|
//! | what is listed and in which order, the cursor, the marks | [`state`] |
//! | what keys, clicks and messages do | [`update`] |
//! | the picture: the list and its columns, the preview | [`view`] |

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
