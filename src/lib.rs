//! iotui measures how fast storage is, by which way and block size, and proves where the bytes came
//! from.
//!
//! Data flows one way: settings -> **plan** -> **engine** -> **events** -> **session** (kept) and
//! **front end** (seen). A module imports only from lower floors; within the lowest, only as
//! written. `tests/layers.rs` holds it to that.
//!
//! | floor | modules | what is there |
//! |---|---|---|
//! | 9 | [`app`] [`cli`] [`config`] | argv and the user's files to settings, and to a front end or command |
//! | 8 | [`tui`] [`batch`] [`commands`] | the full screen; the headless front end; sessions, host, lists, completions |
//! | 7 | [`report`] | what a session looks like: table, json, csv, fio ...; one file each |
//! | 6 | [`runner`] | runs a plan and keeps it: once, again, against a baseline |
//! | 5 | [`analysis`] | what a session shows: results, the answer in words, limits, comparisons, the gate; pure |
//! | 4 | [`session`] | the log of a run: written as it goes, found, listed, loaded, edited, imported |
//! | 3 | [`engine`] | runs any plan: target, calibration, cold and warm, workers, trials |
//! | 2 | [`backend`] [`peer`] [`probe`] [`experiment`] | methods of I/O, external programs, and measurements of the system, one file each; rules that turn settings into a plan |
//! | 1 | [`host`] [`userdata`] | what this machine and this target are, the doctor; the user's folders and presets |
//! | 0 | [`text`] [`units`] [`sys`] [`plan`] [`record`] [`stats`] | safe text, time; numbers in and out; kernel facts and calls; what to measure; what was measured and its verdict; statistics |
//!
//! On the lowest floor all may use `text` and `units`, and `record` uses `plan` and `stats`.
//!
//! `unsafe` stands in `sys`, `backend` and `probe` only, each block with its reason.
#![deny(unsafe_code)]
// A folder's documentation is the map of its rooms, private ones too.
#![allow(rustdoc::private_intra_doc_links)]

pub mod analysis;
pub mod app;
pub mod backend;
pub mod batch;
pub mod cli;
pub mod commands;
pub mod config;
pub mod engine;
pub mod experiment;
pub mod host;
pub mod peer;
pub mod plan;
pub mod probe;
pub mod record;
pub mod report;
pub mod runner;
pub mod session;
pub mod stats;
pub mod sys;
pub mod text;
pub mod tui;
pub mod units;
pub mod userdata;
