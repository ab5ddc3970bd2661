//! Sessions: every run that was kept.
//!
//! [`list`] is what is listed and in which order, [`update`] what keys and messages do;
//! [`columns`], [`view`], [`preview`] and [`chart`] draw.

pub mod chart;
mod columns;
mod list;
mod preview;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use columns::lit;
pub use list::{Sessions, called, called_as, when};
pub use update::{act, clicked, field, import, mark, offered, rename, run_over, told, typed};
pub use view::draw;

use super::shown::Shown;

/// The session under the cursor, loaded.
#[derive(Debug)]
pub struct Preview {
    pub id: String,
    pub result: Result<Box<Shown>, String>,
}
