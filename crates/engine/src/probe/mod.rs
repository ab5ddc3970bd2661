//! Microbenchmarks of the operating system, from reading a clock to reading a file over the
//! network: one file each, listed once in [`PROBES`].
//!
//! A probe lists what it can measure on this machine ([`Probe::cells`]), estimates the result
//! ([`Probe::estimate`]) and opens a [`Gauge`]. The engine chooses the batch size, repeats batches,
//! and subtracts the overhead of clock and loop.

mod bandwidth;
mod batch;
mod cache_retention;
mod call;
mod chase;
mod clock;
mod contention;
mod context;
mod costs;
mod empty;
mod empty_loop;
mod error;
mod file_cache;
mod file_read;
mod file_scan;
mod files;
mod fork;
mod fsync;
mod helper;
mod kind;
mod latency;
mod map;
mod metadata;
mod mprotect;
pub mod net;
mod page_fault;
mod params;
mod pipe;
mod read_worker;
mod remote_read;
mod signal;
mod stop_flag;
mod switch;
mod syscall;
#[cfg(test)]
mod testing;
mod thread;
mod tlb;

pub use batch::BatchTime;
pub use context::ProbeContext;
pub use costs::Costs;
pub use error::ProbeError;
pub(in crate::probe) use kind::ProbeKind;
pub use kind::{Gauge, Probe};
pub(in crate::probe) use params::{ParamRow, ParamSource};

use crate::plan::{Unknown, nearest};

/// All probes in display order: by group, cheapest first.
pub static PROBES: &[&dyn Probe] = &[
    &clock::Clocks,
    &empty::Loop,
    &call::Call,
    &syscall::Syscall,
    &fork::Fork,
    &thread::Thread,
    &switch::Switch::<true>,
    &switch::Switch::<false>,
    &signal::Signal,
    &pipe::Pipe,
    &latency::Latency,
    &bandwidth::Bandwidth,
    &page_fault::PageFault,
    &mprotect::Mprotect,
    &tlb::Tlb,
    &net::Rtt,
    &net::Bandwidth,
    &net::Connect,
    &file_cache::FileCache,
    &file_read::FileRead,
    &remote_read::RemoteRead,
    &contention::Contention,
    &metadata::Metadata,
    &fsync::Fsync,
];

/// Returns the probe with this id.
///
/// # Errors
/// If there is none; the error suggests the most similar id.
pub fn probe(id: &str) -> Result<&'static dyn Probe, Unknown> {
    let found = PROBES.iter().find(|probe| probe.info().id == id);
    found.copied().ok_or_else(|| nearest("probe", id, PROBES.iter().map(|probe| probe.info().id)))
}

#[cfg(test)]
mod tests;
