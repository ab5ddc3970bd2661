//! Compare: sessions against a baseline. Opened from Sessions with the marked ones.
//!
//! | what | where |
//! |---|---|
//! | the loaded comparison, built off the drawing thread | [`data`] |
//! | what is shown | [`state`] |
//! | keys, mouse and messages | [`update`] |
//! | drawing | [`view`] |

mod data;
mod state;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use data::LoadedComparison;
pub use state::Compare;
pub use update::{act, begin, click, handle_message, is_offered, shows_chart};
pub use view::draw;
