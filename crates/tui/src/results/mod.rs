//! The Results screen: the curves of a session, and the details of each point.
//!
//! | what | where |
//! |---|---|
//! | the displayed data, built once per session and metric | [`data`], [`sheet`] |
//! | text for the clipboard | [`copy`] |
//! | tabs, cursor, filters, open cell | [`state`] |
//! | key, mouse and message handlers | [`update`] |
//! | drawing | [`view`] |

mod copy;
mod data;
mod sheet;
mod state;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use state::{Results, Tab, TabKind};
pub use update::{
    act, ask_for_rounds, back, click, field, field_changed, handle_message, is_offered, rename,
    request_trial_series,
};
pub use view::draw;
