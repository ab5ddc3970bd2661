//! Measures storage for iotui: runs a plan and reports events. It draws nothing and saves no
//! results.
//!
//! The documentation of the crate `iotui` has the map of all modules.
#![deny(unsafe_code)]
// A folder's documentation is the map of its rooms, private ones too.
#![allow(rustdoc::private_intra_doc_links)]

use iotui_core::{catalog, experiment, facts, plan, record, stats, text, units};

pub mod backend;
pub mod engine;
pub mod host;
pub mod peer;
pub mod probe;
pub mod sys;
