//! The full-screen front end: pick, run, watch, look.
//!
//! The Elm architecture: [`update`](update::update) changes the [`Model`](model::Model) by a
//! message and returns effects; [`draw`](view::draw) shows it; the shell of the program alone
//! touches the terminal, threads, clock and disk.
//!
//! | what | where |
//! |---|---|
//! | keys, actions, help, footer: one table | [`keymap`], [`keys`] |
//! | entries of the palette | [`palette`] |
//! | the screens | [`setup`], [`live`], [`results`], [`sessions`], [`compare`], [`lab`], [`host`] |
//! | data and requests of a screen outside its own state | [`context`] |
//! | over the screens | [`popup`], [`popups`], [`start`], [`export`], [`refine`], [`toast`] |
//! | warnings by kind, and what helps | [`warning_groups`] |
//! | signs and words, as the help explains them | [`vocabulary`] |
//! | texts of the command line, reworded for a screen | [`spoken`] |
//! | sessions, as several screens show them | [`session_view`] |
//! | results as curves, and their charts | [`curves`], [`values`], [`plot`] |
//! | the mouse over charts | [`read_out`], [`zoom`] |
//! | colours and glyphs by role | [`theme`] |
//!
//! Every screen has the same files: `state`, `update` (actions, clicks, messages), `layout` and
//! `view`; the other files in its folder serve that screen alone. [`update`] and [`view`] alone
//! know the model: an update of a screen gets its state and a [`Context`](context::Context).
#![forbid(unsafe_code)]
// A folder's documentation is the map of its rooms, private ones too.
#![allow(rustdoc::private_intra_doc_links)]

use iotui_core::{catalog, experiment, facts, plan, record, stats, text, units};
use iotui_data::{analysis, report, session};

pub mod compare;
pub mod context;
pub mod curves;
pub mod export;
pub mod host;
pub mod keymap;
pub mod keys;
pub mod lab;
pub mod live;
pub mod model;
pub mod msg;
pub mod palette;
pub mod plot;
pub mod popup;
pub mod popups;
pub mod read_out;
pub mod refine;
pub mod remember;
pub mod results;
pub mod screen;
pub mod session_view;
pub mod sessions;
pub mod setup;
pub mod spoken;
pub mod start;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod theme;
pub mod toast;
pub mod update;
pub mod values;
pub mod view;
pub mod vocabulary;
pub mod warning_groups;
pub mod zoom;

#[cfg(test)]
mod tests;
