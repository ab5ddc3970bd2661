//! Helpers shared by the benchmarks of the harness.
#![allow(dead_code, reason = "each bench uses its part")]

pub mod bare;
pub mod file;
pub mod lane;
pub mod ring;
pub mod rounds;
pub mod table;
