//! iotui measures how fast storage is, by backend and block size, and proves where the bytes came
//! from.
//!
//! Data flows one way: settings -> **plan** -> **engine** -> **events** -> **session** (saved) and
//! **front end** (shown). A module imports only from lower floors; `tests/layers.rs` checks that.
//! The crate `iotui_core` has what needs no machine: `catalog`, `plan`, `experiment`, `facts`,
//! `doctor`, `record`, `stats`, `text`, `units`. `iotui_engine` measures: `sys`, `host`, `backend`,
//! `peer`, `probe`, `engine`. `iotui_files` has the files that iotui makes.
//! `iotui_data` has `session`, `analysis` and `report`, `iotui_tui` the screens.
//!
//! | floor | modules | contents |
//! |---|---|---|
//! | 9 | [`app`] [`cli`] [`config`] | turns arguments and the user's files into settings, then starts a front end or a command |
//! | 8 | [`shell`] [`batch`] [`commands`] | the full screen; the headless front end; sessions, host, lists, completions |
//! | 7 | [`report`] [`output`] [`tui`] | a session as a table, JSON, CSV, fio job and so on, one file each; where it goes; the screens |
//! | 6 | [`runner`] | runs a plan and saves it: once, again, against a baseline |
//! | 5 | [`analysis`] | what a session shows: results, the answer, limits, comparisons, the gate; pure |
//! | 4 | [`session`] | the log of a run: written as it runs, found, listed, loaded, edited, imported |
//! | 3 | [`engine`] | runs any plan: target, calibration, cold and warm, workers, trials |
//! | 2 | [`backend`] [`peer`] [`probe`] [`experiment`] [`doctor`] | methods of I/O, external programs, and measurements of the system, one file each; rules that turn settings into a plan; what would disturb a measurement |
//! | 1 | [`host`] [`userdata`] | collects facts about this machine and the target; the user's folders and presets |
//! | 0 | [`text`] [`units`] [`sys`] [`plan`] [`catalog`] [`facts`] [`record`] [`stats`] | safe text, time; parsing and formatting of numbers; kernel facts and calls; what to measure; what was measured and its verdict; statistics |
//!
//! On the lowest floor all may use `text` and `units`, and `record` uses `plan` and `stats`.
//!
//! `unsafe` is allowed in `sys`, `backend` and `probe` only, each block with its reason.
#![deny(unsafe_code)]
// A folder's documentation is the map of its rooms, private ones too.
#![allow(rustdoc::private_intra_doc_links)]

pub use iotui_core::{catalog, doctor, experiment, facts, plan, record, stats, text, units};
pub use iotui_data::{analysis, report, session};
pub use iotui_engine::{backend, engine, host, peer, probe, sys};
pub use iotui_tui as tui;

pub mod app;
pub mod batch;
pub mod cli;
pub mod commands;
pub mod config;
pub mod output;
pub mod runner;
pub mod shell;
pub mod userdata;
