//! iotui measures how fast storage is, by which way and block size, and proves where the bytes came from.
//!
//! Data flows one way: settings -> **plan** -> **engine** -> **events** -> **session** (kept) and **front end** (seen).
//! A module imports only from lower floors; within the lowest, only as written. `tests/layers.rs` holds it to that.
//!
//! | floor | modules | what is there |
//! |---|---|---|
//! | 7 | [`app`] [`cli`] [`config`] | argv and the user's files to settings, and to a front end or command |
//! | 6 | [`tui`] [`batch`] [`commands`] | the full screen; the headless front end; sessions, host, lists, completions |
//! | 5 | [`report`] | what a session looks like: table, json, csv, fio ...; one file each |
//! | 4 | [`session`] | the log of a run: written as it goes, found, loaded; results and the answer in words |
//! | 3 | [`engine`] | runs any plan: target, calibration, cold and warm, workers, trials |
//! | 2 | [`backend`] [`peer`] [`probe`] [`experiment`] | ways to do I/O, programs that do it, and measurements of the system, one file each; rules that turn settings into a plan |
//! | 1 | [`host`] | what this machine and this target are; the doctor |
//! | 0 | [`units`] [`sys`] [`plan`] [`record`] [`stats`] | numbers in and out; kernel facts and calls; what to measure; what was measured and its verdict; statistics |
//!
//! On the lowest floor `plan` uses `units`, `record` uses `plan` and `units`, `stats` and `sys` may use `units`.
//!
//! `unsafe` stands in `sys`, `backend` and `probe` only, each block with its reason.
#![deny(unsafe_code)]
// A folder's documentation is the map of its rooms, private ones too.
#![allow(rustdoc::private_intra_doc_links)]

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
pub mod session;
pub mod stats;
pub mod sys;
pub mod tui;
pub mod units;
