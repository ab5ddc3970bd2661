//! Lab: the operating system's own costs, as bars on one scale from a cycle to a second.
//!
//! | what | where |
//! |---|---|
//! | which probes are chosen | [`choice`] |
//! | what can be measured here, what was measured, what others reach | [`data`], [`marks`] |
//! | the list and the bars, made from these | [`rows`], [`scale`], [`curve`] |
//! | what is under the cursor | [`state`] |
//! | what keys, clicks and messages do | [`update`] |
//! | where the panes are | [`layout`] |
//! | the picture | [`view`] |

mod choice;
mod curve;
mod data;
mod layout;
mod marks;
mod rows;
mod scale;
mod state;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use data::{LocalProbes, MarkedSession};
pub use marks::{choose as choose_mark, entries as mark_entries};
pub use state::Lab;
pub use update::{
    act, back, begin, click, enter, field, field_changed, grow, handle_message, is_offered,
    list_sessions, rename, set_values, show,
};
pub use view::{draw, sign};
