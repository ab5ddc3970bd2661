//! Helpers for the tests of probes.

use super::{Gauge, Overhead, ProbeContext, probe};
use crate::plan::{Param, ProbeCell};

pub fn context() -> ProbeContext {
    ProbeContext::collect(None, None)
}

pub fn cell(probe: &str, params: &[(&'static str, Param)]) -> ProbeCell {
    ProbeCell::new(probe, params.iter().cloned())
}

pub fn open(cell: &ProbeCell) -> Box<dyn Gauge> {
    probe(&cell.probe)
        .unwrap()
        .open(cell, &context())
        .unwrap_or_else(|error| panic!("{}: {error}", cell.label()))
}

/// Returns the minimum of a few batches of `count`, since disturbances only add time.
pub fn least(cell: &ProbeCell, count: u64) -> f64 {
    let (mut gauge, costs) = (open(cell), Overhead::measure());
    let unit = probe(&cell.probe).unwrap().unit(cell);
    let values = (0..7).map(|_| gauge.run(count).unwrap().value(unit, &costs).unwrap());
    values.min_by(f64::total_cmp).unwrap()
}
