//! For the tests of probes: this machine as a site, and cells in a short form.

use super::{Costs, Gauge, Site, probe};
use crate::plan::{Param, ProbeCell};

pub fn site() -> Site {
    Site::here(None, None)
}

pub fn cell(probe: &str, params: &[(&'static str, Param)]) -> ProbeCell {
    ProbeCell::new(probe, params.iter().cloned())
}

pub fn open(cell: &ProbeCell) -> Box<dyn Gauge> {
    probe(&cell.probe)
        .unwrap()
        .open(cell, &site())
        .unwrap_or_else(|error| panic!("{}: {error}", cell.label()))
}

/// The least of a few batches of `count`: what disturbs only adds.
pub fn least(cell: &ProbeCell, count: u64) -> f64 {
    let (mut gauge, costs) = (open(cell), Costs::measure());
    let unit = probe(&cell.probe).unwrap().unit(cell);
    let values = (0..7).map(|_| gauge.run(count).unwrap().value(unit, &costs).unwrap());
    values.min_by(f64::total_cmp).unwrap()
}
