//! The Results screen: the curves of a session, and the details of each point.
//!
//! | what | where |
//! |---|---|
//! | the displayed data, built once per session and metric | [`data`], [`columns`], [`measured`] |
//! | text for the clipboard | [`copy`] |
//! | samples read when a cell is opened | [`trial_series`] |
//! | cursor, filters, open cell | [`state`] |
//! | the tabs | [`tab`] |
//! | key, mouse and message handlers | [`update`], [`mod@pointer`] |
//! | layout | [`layout`] |
//! | drawing | [`view`] |

mod column;
mod columns;
mod copy;
mod data;
mod layout;
mod measured;
mod pointer;
mod state;
mod tab;
mod trial_series;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use state::Results;
pub use tab::TabKind;
pub use update::{
    act, ask_for_rounds, back, click, field, field_changed, handle_message, is_offered, rename,
    request_trial_series, show,
};
pub use view::draw;
