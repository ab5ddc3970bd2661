//! What of the operating system can be measured here, before any plan is made.

use std::path::Path;

use super::place::scratch_dir;
use crate::plan::ProbeCell;
use crate::probe::{PROBES, Site};
use crate::record::{Estimate, Unit};

/// A cell of a probe that this machine offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub cell: ProbeCell,
    pub unit: Unit,
    pub estimate: Option<Estimate>,
    /// Why it cannot be had.
    pub refused: Option<String>,
}

/// Every cell of every probe, with the user's file where there is one, else with a folder for files of their own.
pub fn offers(file: Option<&Path>, dir: Option<&Path>) -> Vec<Offer> {
    let dir = scratch_dir(dir).ok().filter(|_| file.is_none());
    let site = Site::here(dir, file.map(Path::to_path_buf));
    let of = |cell: ProbeCell, probe: &dyn crate::probe::Probe| {
        let refused = probe.check(&cell, &site).err();
        let estimate = if refused.is_none() { probe.estimate(&cell, &site) } else { None };
        Offer { unit: probe.unit(&cell), estimate, refused, cell }
    };
    PROBES.iter().flat_map(|probe| probe.cells(&site).into_iter().map(|cell| of(cell, *probe)).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_offers_what_it_would_measure() {
        let offers = offers(None, None);
        for probe in PROBES {
            let id = probe.info().id;
            let own: Vec<&Offer> = offers.iter().filter(|offer| offer.cell.probe == id).collect();
            assert!(!own.is_empty(), "{id}");
            assert!(own.iter().all(|offer| offer.refused.is_none() || offer.estimate.is_none()), "{id}");
        }
    }
}
