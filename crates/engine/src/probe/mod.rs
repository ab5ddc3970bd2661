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
mod error;
mod file_cache;
mod file_read;
mod file_scan;
mod files;
mod fork;
mod fsync;
mod helper;
mod latency;
mod map;
mod metadata;
mod mprotect;
pub mod net;
mod page_fault;
mod param_table;
mod pipe;
mod read_worker;
mod remote_read;
mod signal;
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

use crate::plan::{ProbeCell, ProbeInfo, Unknown, nearest};
use crate::record::{Estimate, HostSummary, Unit, Warning};

/// One kind of measurement.
pub trait Probe: Sync {
    fn info(&self) -> &'static ProbeInfo;

    /// Returns all cells to measure on this machine, cheapest first.
    fn cells(&self, context: &ProbeContext) -> Vec<ProbeCell>;

    /// Returns the unit of a cell's value.
    fn unit(&self, _: &ProbeCell) -> Unit {
        Unit::Nanos
    }

    /// Checks quickly whether a cell can be measured here: enough CPUs, and no missing program or
    /// peer.
    ///
    /// # Errors
    /// The reason, in words for the user.
    fn check(&self, _: &ProbeCell, _: &ProbeContext) -> Result<(), String> {
        Ok(())
    }

    /// Returns what the other machine of a cell reports about itself; `None` for a local cell.
    fn remote_host(&self, _: &ProbeCell, _: &ProbeContext) -> Option<HostSummary> {
        None
    }

    /// Estimates the value, with the reasoning, from facts about this machine and never from a
    /// measurement of the cell itself.
    fn estimate(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<Estimate>;

    /// Prepares a cell on the thread that will measure it. That thread is pinned to one CPU where
    /// that is allowed, and ends afterwards, so nothing has to be restored.
    ///
    /// # Errors
    /// Something is refused or missing here, or the cell is unknown.
    fn open(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError>;
}

/// A cell that is ready to be measured.
pub trait Gauge {
    /// Does `count` operations, or at most as many as [`most`](Gauge::most), and returns how long
    /// they took. Long work polls `context.stopping()`.
    ///
    /// # Errors
    /// An operation that failed.
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError>;

    /// Returns what counters confirm about the operations so far: `1.00 minor faults each`.
    fn evidence(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns warnings about the value; called after the operations.
    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    /// Returns the maximum number of operations of one batch.
    fn max_batch(&self) -> u64 {
        u64::MAX
    }
}

/// All probes in display order: by group, cheapest first.
pub static PROBES: &[&dyn Probe] = &[
    &clock::Clocks,
    &empty::Loop,
    &call::Call,
    &syscall::Syscall,
    &fork::Fork,
    &thread::Thread,
    &switch::PROCESSES,
    &switch::THREADS,
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

/// Returns the descriptions of all probes.
pub fn infos() -> Vec<&'static ProbeInfo> {
    PROBES.iter().map(|probe| probe.info()).collect()
}

/// Returns the probe with this id.
///
/// # Errors
/// There is none; the error suggests the nearest id.
pub fn probe(id: &str) -> Result<&'static dyn Probe, Unknown> {
    let found = PROBES.iter().find(|probe| probe.info().id == id);
    found.copied().ok_or_else(|| nearest("probe", id, PROBES.iter().map(|probe| probe.info().id)))
}

#[cfg(test)]
mod tests;
