//! What every probe implements: [`Probe`] lists its cells, and [`Gauge`] measures one of them.

use super::batch::BatchTime;
use super::context::ProbeContext;
use super::error::ProbeError;
use crate::plan::{ProbeCell, ProbeInfo};
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
    /// The reason why not, worded for the user.
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
    /// If something is refused or missing here, or the cell is unknown.
    fn open(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError>;
}

/// A cell that is ready to be measured.
pub trait Gauge {
    /// Does `count` operations, or at most [`max_batch`](Gauge::max_batch), and returns how long
    /// they took. Long work polls [`ProbeContext::is_stopping`].
    ///
    /// # Errors
    /// If an operation fails.
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
