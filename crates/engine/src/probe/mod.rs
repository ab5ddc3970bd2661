//! Microbenchmarks of the operating system, from reading a clock to reading a file over the
//! network: one file each, listed once in [`PROBES`].
//!
//! A probe lists what it can measure on this machine ([`Probe::cells`]), estimates the result
//! ([`Probe::estimate`]) and opens a [`Gauge`]. The engine chooses the batch size, repeats batches,
//! and subtracts the overhead of clock and loop.

mod bandwidth;
mod batch;
mod calls;
mod cell;
mod clock;
mod contention;
mod context;
mod error;
mod file_cache;
mod file_read;
mod files;
mod fork;
mod fsync;
mod helper;
mod loads;
mod map;
mod metadata;
pub mod net;
mod page_fault;
mod pipe;
mod read_worker;
mod signal;
mod switch;
mod syscall;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use batch::{BatchTime, Overhead};
pub use cell::{Gauge, Opened, Probe};
pub(in crate::probe) use cell::{KnownCell, ParamRow, ParamSource, param_rows};
pub use context::ProbeContext;
pub use error::ProbeError;

use crate::catalog;
use crate::plan::{Unknown, nearest};

/// All probes in display order: by group, cheapest first.
pub static PROBES: &[Probe] = &[
    Probe { info: &catalog::CLOCK, ask: clock::ask },
    Probe { info: &catalog::EMPTY_LOOP, ask: calls::ask_loop },
    Probe { info: &catalog::CALL, ask: calls::ask_call },
    Probe { info: &catalog::SYSCALL, ask: syscall::ask },
    Probe { info: &catalog::FORK, ask: fork::ask },
    Probe { info: &catalog::THREAD, ask: fork::ask_thread },
    Probe { info: &catalog::SWITCH_PROCESS, ask: |source| switch::ask(source, true) },
    Probe { info: &catalog::SWITCH_THREAD, ask: |source| switch::ask(source, false) },
    Probe { info: &catalog::SIGNAL, ask: signal::ask },
    Probe { info: &catalog::PIPE, ask: pipe::ask },
    Probe { info: &catalog::LATENCY, ask: loads::ask_latency },
    Probe { info: &catalog::BANDWIDTH, ask: bandwidth::ask },
    Probe { info: &catalog::PAGE_FAULT, ask: page_fault::ask },
    Probe { info: &catalog::MPROTECT, ask: page_fault::ask_mprotect },
    Probe { info: &catalog::TLB, ask: loads::ask_tlb },
    Probe { info: &catalog::ROUND_TRIP, ask: net::ask_round_trip },
    Probe { info: &catalog::NETWORK_BANDWIDTH, ask: net::ask_bandwidth },
    Probe { info: &catalog::CONNECT, ask: net::ask_connect },
    Probe { info: &catalog::FILE_CACHE, ask: file_cache::ask },
    Probe { info: &catalog::FILE_READ, ask: file_read::ask_local },
    Probe { info: &catalog::REMOTE_READ, ask: file_read::ask_remote },
    Probe { info: &catalog::CONTENTION, ask: contention::ask },
    Probe { info: &catalog::METADATA, ask: metadata::ask },
    Probe { info: &catalog::FSYNC, ask: fsync::ask },
];

/// Returns the probe with this id; the error suggests the most similar one.
pub fn probe(id: &str) -> Result<&'static Probe, Unknown> {
    let found = PROBES.iter().find(|probe| probe.info().id == id);
    found.ok_or_else(|| nearest("probe", id, PROBES.iter().map(|probe| probe.info().id)))
}
