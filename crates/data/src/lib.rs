//! The log of a run, what it shows, and how it is written: sessions, their analysis, and reports in
//! every format. It measures nothing and draws no screen.
//!
//! The documentation of the crate `iotui` has the map of all modules.
#![forbid(unsafe_code)]
// A folder's documentation is the map of its rooms, private ones too.
#![allow(rustdoc::private_intra_doc_links)]

use iotui_core::{catalog, experiment, facts, plan, record, stats, text, units};

pub mod analysis;
pub mod report;
pub mod session;
