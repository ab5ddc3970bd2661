//! Measures storage for iotui: runs a plan and reports events. It draws nothing and saves no
//! results.
//!
//! The documentation of the crate `iotui` has the map of all modules.
#![deny(unsafe_code)]
// A folder's documentation is the map of its rooms, private ones too.
#![allow(rustdoc::private_intra_doc_links)]

pub mod backend;
pub mod engine;
pub mod experiment;
pub mod host;
pub mod peer;
pub mod plan;
pub mod probe;
pub mod record;
pub mod stats;
pub mod sys;
pub mod text;
pub mod units;
