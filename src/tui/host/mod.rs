//! Host: what this machine and this target are, and what the doctor finds.
//!
//! | what | where |
//! |---|---|
//! | what is known, and which pane scrolls | [`state`] |
//! | what keys, clicks and messages do | [`update`] |
//! | which panes there are, and where | [`layout`] |
//! | the picture: rows and tables, the way from the file down to the disk | [`view`] |

mod layout;
mod state;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use state::HostScreen;
pub use update::{act, click, enter, handle_message, show_plan};
pub use view::draw;
