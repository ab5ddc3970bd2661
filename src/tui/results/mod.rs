//! Results: the curves of a session, and everything behind each point.
//!
//! | what | where |
//! |---|---|
//! | what is shown, made once per session and metric | [`data`], [`columns`], [`measured`] |
//! | what is copied of it | [`copy`] |
//! | what is read of it when a cell is opened | [`trial_series`] |
//! | what is under the cursor | [`state`] |
//! | what keys, clicks and messages do | [`update`] |
//! | where things are | [`layout`] |
//! | the picture | [`view`] |

mod column;
mod columns;
mod copy;
mod data;
mod layout;
mod measured;
mod state;
mod trial_series;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use state::Results;
pub use update::{
    act, back, click, field, field_changed, handle_message, is_offered, rename,
    request_trial_series, show,
};
pub use view::draw;
