//! Sessions: every run that was kept.
//!
//! [`list`] is what is listed and in which order, [`update`] what keys and messages do;
//! [`columns`], [`view`] and [`preview`] draw.

mod columns;
mod list;
mod preview;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use list::Sessions;
pub use update::{act, clicked, field, import, mark, offered, rename, run_over, told, typed};
pub use view::draw;
