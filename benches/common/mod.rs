//! Helpers shared by the benchmarks of the harness.
#![allow(dead_code, reason = "each bench uses its part")]

pub mod bare;
pub mod file;
pub mod lane;
pub mod ring;
pub mod rounds;
pub mod table;

/// Returns the program to measure with: `IOTUI_PROGRAM`, or this build.
pub fn measured_program() -> std::path::PathBuf {
    std::env::var_os("IOTUI_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_iotui").into(), Into::into)
}
