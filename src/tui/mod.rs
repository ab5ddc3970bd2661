//! The full-screen front end: pick, run, watch, look.
//!
//! The Elm architecture: [`update`](update::update) changes the [`Model`](model::Model) by a
//! message and says what it wants done; [`draw`](view::draw) shows it; the [`shell`] alone touches
//! the terminal, threads, clock and disk.
//!
//! | what | where |
//! |---|---|
//! | keys, actions, help, footer, palette: one table; what keys move | [`keymap`], [`keys`], [`cursor`] |
//! | a screen: its state, what it does with actions and messages, its picture | [`setup`], [`live`], [`results`], [`sessions`], [`compare`], [`lab`], [`host`] |
//! | over the screens | [`popup`], [`export`], [`toast`] |
//! | results as curves, and their charts | [`shown`], [`curves`], [`values`], [`plot`] |
//! | colours and glyphs by role | [`theme`] |

pub mod compare;
pub mod context;
pub mod cursor;
pub mod curve_chart;
pub mod curves;
pub mod export;
pub mod host;
pub mod keymap;
pub mod keys;
pub mod lab;
pub mod live;
pub mod model;
pub mod msg;
pub mod plot;
pub mod popup;
pub mod probe_plan;
pub mod question;
pub mod remember;
pub mod results;
pub mod screen;
pub mod session_name;
pub mod sessions;
pub mod setup;
pub mod shell;
pub mod shown;
#[cfg(test)]
pub(crate) mod testing;
pub mod text_input;
pub mod theme;
pub mod toast;
pub mod update;
pub mod values;
pub mod view;

#[cfg(test)]
mod tests;
