//! Compare: sessions against a baseline. Opened from Sessions with the marked ones.
//!
//! | what | where |
//! |---|---|
//! | what was compared, made off the screen's thread | [`data`] |
//! | curves over each other | [`overlay`] |
//! | what is shown of it | [`state`] |
//! | what keys and messages do | [`update`] |
//! | where the parts are | [`layout`] |
//! | the picture | [`view`] |

mod data;
mod layout;
mod overlay;
mod state;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use data::{Compared, MOST};
pub use state::Compare;
pub use update::{act, begin, handle_message, is_offered};
pub use view::draw;
