//! Measurements of the operating system itself, from a clock reading to a file read over the
//! network: one file each, listed once in [`PROBES`].
//!
//! A probe says what it can measure here ([`Probe::cells`]), what it expects ([`Probe::estimate`])
//! and opens a [`Gauge`]; the engine decides how much one batch is, repeats it, and takes the cost
//! of clock and loop out.

mod bandwidth;
mod call;
mod chase;
mod clock;
mod contention;
mod costs;
mod empty;
mod error;
mod file_cache;
mod file_read;
mod files;
mod fork;
mod fsync;
mod known;
mod latency;
mod map;
mod metadata;
mod mprotect;
pub mod net;
mod page_fault;
mod partner;
mod pipe;
mod reader;
mod reading;
mod remote_read;
mod reread;
mod signal;
mod site;
mod switch;
mod syscall;
#[cfg(test)]
mod testing;
mod thread;
mod tlb;
mod took;

pub use costs::Costs;
pub use error::ProbeError;
pub use site::Site;
pub use took::Took;

use crate::plan::{ProbeCell, ProbeInfo, Unknown, nearest};
use crate::record::{Estimate, HostSummary, Unit, Warning};

/// One kind of measurement.
pub trait Probe: Sync {
    fn info(&self) -> &'static ProbeInfo;

    /// Everything it measures on this machine, from cheap to dear.
    fn cells(&self, site: &Site) -> Vec<ProbeCell>;

    /// The unit of a cell's value.
    fn unit(&self, _: &ProbeCell) -> Unit {
        Unit::Nanos
    }

    /// Whether a cell can be had here, quickly asked: a CPU too few, a program or a peer that is
    /// missing.
    ///
    /// # Errors
    /// The reason, for people.
    fn check(&self, _: &ProbeCell, _: &Site) -> Result<(), String> {
        Ok(())
    }

    /// The other machine that a cell is measured to, by its own word; `None` where it is this one
    /// alone.
    fn far(&self, _: &ProbeCell, _: &Site) -> Option<HostSummary> {
        None
    }

    /// What the value should be, from facts about this machine, with the reasoning; never from a
    /// measurement of the cell itself.
    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate>;

    /// Makes a cell ready, on the thread that will measure it. That thread is pinned to one CPU
    /// where that is allowed, and ends afterwards, so that nothing has to be restored.
    ///
    /// # Errors
    /// What is refused or missing here, and an unknown cell.
    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError>;
}

/// A cell that is ready to be measured.
pub trait Gauge {
    /// Does `count` operations, or as many as there are, and says how long they took. Long work
    /// asks `site.stopping()`.
    ///
    /// # Errors
    /// An operation that failed.
    fn run(&mut self, count: u64) -> Result<Took, ProbeError>;

    /// What its counters prove of the operations so far, for people: `1.00 minor faults each`.
    fn evidence(&self) -> Vec<String> {
        Vec::new()
    }

    /// How the value can be misread; asked after the operations.
    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    /// The most operations that one batch may have.
    fn most(&self) -> u64 {
        u64::MAX
    }
}

/// Every probe, in the order of lists: group by group, cheap before dear.
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

/// The entries of all probes.
pub fn infos() -> Vec<&'static ProbeInfo> {
    PROBES.iter().map(|probe| probe.info()).collect()
}

/// The probe of that name.
///
/// # Errors
/// There is none; the nearest name is told.
pub fn probe(id: &str) -> Result<&'static dyn Probe, Unknown> {
    let found = PROBES.iter().find(|probe| probe.info().id == id);
    found.copied().ok_or_else(|| nearest("probe", id, PROBES.iter().map(|probe| probe.info().id)))
}

#[cfg(test)]
mod tests;
