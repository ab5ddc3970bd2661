//! The measurements of iotui and their results, as plain data: settings become a plan, trials
//! become a record, and statistics and rules judge it. Nothing here asks the machine.
//!
//! The documentation of the crate `iotui` has the map of all modules.
#![forbid(unsafe_code)]
// A folder's documentation is the map of its rooms, private ones too.
#![allow(rustdoc::private_intra_doc_links)]

pub mod catalog;
pub mod doctor;
pub mod experiment;
pub mod facts;
pub mod plan;
pub mod record;
pub mod stats;
pub mod text;
pub mod units;
