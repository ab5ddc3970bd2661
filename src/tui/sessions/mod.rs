//! Sessions: every run that was kept.
//!
//! [`list`] is what is listed and in which order, [`update`] what keys and messages do, [`overlay`] several sessions
//! over each other; [`columns`], [`view`], [`preview`] and [`chart`] draw.

mod chart;
mod columns;
mod list;
mod overlay;
mod overlay_view;
mod preview;
mod update;
mod view;

#[cfg(test)]
mod tests;

pub use list::Sessions;
pub use update::{act, back, clicked, field, mark, offered, rename, run_over, told, typed};
pub use view::draw;

use super::shown::Shown;

/// The session under the cursor, loaded.
#[derive(Debug)]
pub struct Preview {
    pub id: String,
    pub result: Result<Box<Shown>, String>,
}
