//! What every probe implements: [`ProbeKind`] describes its cells, and [`Gauge`] measures one of
//! them. [`Probe`] is what the rest of iotui sees of a probe.

use super::batch::BatchTime;
use super::context::ProbeContext;
use super::error::ProbeError;
use super::params::{ParamSource, list_cells, read_cell};
use crate::plan::{ProbeCell, ProbeInfo};
use crate::record::{Estimate, HostSummary, Unit, Warning};

/// One kind of measurement, as its file defines it.
pub(super) trait ProbeKind: Sync {
    const INFO: &'static ProbeInfo;
    /// The parameters of a cell.
    type Params;

    /// Asks for the parameters of a cell; `None` if there is no such cell.
    fn params(source: &mut ParamSource) -> Option<Self::Params>;

    /// Returns the unit of a cell's value.
    fn unit(_: &Self::Params) -> Unit {
        Unit::Nanos
    }

    /// Checks quickly whether a cell can be measured here: enough CPUs, and no missing program or
    /// peer.
    ///
    /// # Errors
    /// The reason why not, worded for the user.
    fn check(_: &Self::Params, _: &ProbeContext) -> Result<(), String> {
        Ok(())
    }

    /// Returns what the other machine of a cell reports about itself; `None` for a local cell.
    fn remote_host(_: &Self::Params, _: &ProbeContext) -> Option<HostSummary> {
        None
    }

    /// Estimates the value, with the reasoning, from facts about this machine and never from a
    /// measurement of the cell itself.
    fn estimate(params: &Self::Params, context: &ProbeContext) -> Option<Estimate>;

    /// Prepares a cell that was checked, on the thread that will measure it. That thread is pinned
    /// to one CPU where that is allowed, and ends afterwards, so nothing has to be restored.
    ///
    /// # Errors
    /// If something is refused or missing here.
    fn open(params: &Self::Params, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError>;
}

/// One kind of measurement. A cell of another version has no estimate, passes the check, and cannot
/// be opened.
pub trait Probe: Sync {
    fn info(&self) -> &'static ProbeInfo;

    /// Returns all cells to measure on this machine, cheapest first.
    fn cells(&self, context: &ProbeContext) -> Vec<ProbeCell>;

    fn unit(&self, cell: &ProbeCell) -> Unit;

    /// Checks quickly whether a cell can be measured here.
    ///
    /// # Errors
    /// The reason why not, worded for the user.
    fn check(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<(), String>;

    fn remote_host(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<HostSummary>;

    fn estimate(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<Estimate>;

    /// Prepares a cell.
    ///
    /// # Errors
    /// If something is refused or missing here, or the cell is unknown.
    fn open(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError>;
}

impl<K: ProbeKind> Probe for K {
    fn info(&self) -> &'static ProbeInfo {
        K::INFO
    }

    fn cells(&self, context: &ProbeContext) -> Vec<ProbeCell> {
        list_cells(K::INFO, context, K::params).into_iter().map(|(cell, _)| cell).collect()
    }

    fn unit(&self, cell: &ProbeCell) -> Unit {
        read_cell(K::INFO, cell, K::params).map_or(Unit::Nanos, |params| K::unit(&params))
    }

    fn check(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<(), String> {
        read_cell(K::INFO, cell, K::params).map_or(Ok(()), |params| K::check(&params, context))
    }

    fn remote_host(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<HostSummary> {
        K::remote_host(&read_cell(K::INFO, cell, K::params)?, context)
    }

    fn estimate(&self, cell: &ProbeCell, context: &ProbeContext) -> Option<Estimate> {
        K::estimate(&read_cell(K::INFO, cell, K::params)?, context)
    }

    fn open(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        let known = read_cell(K::INFO, cell, K::params);
        let params = known.ok_or_else(|| ProbeError::Unknown(cell.label()))?;
        K::check(&params, context).map_err(ProbeError::Missing)?;
        K::open(&params, context)
    }
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
