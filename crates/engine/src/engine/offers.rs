//! Lists what the probes can measure on this machine, before any plan is made.

use std::path::Path;

use super::locate::scratch_dir;
use super::probing;
use crate::experiment::Offer;
use crate::plan::{ProbeCell, ProbeSet, Remote, TargetSpec};
use crate::probe::{PROBES, Probe};

/// Returns every cell of every probe as a run would find it: with the user's file if there is one,
/// else with a folder for temporary files, with the given remote machine and parameter values.
pub fn list_offers(
    file: Option<&Path>,
    dir: Option<&Path>,
    remote: Option<&Remote>,
    sets: Option<&[ProbeSet]>,
) -> Vec<Offer> {
    let target = match file {
        Some(path) => TargetSpec::File { path: path.into(), size: 0 },
        None => scratch_dir(dir).map_or(TargetSpec::None, |dir| TargetSpec::Scratch {
            dir,
            size: 0,
            keep: false,
        }),
    };
    let site = probing::site(&target, remote).with_sets(sets);
    let offer = |cell: ProbeCell, probe: &Probe| {
        let refused = probe.check(&cell, &site).err();
        let estimate = if refused.is_none() { probe.estimate(&cell, &site) } else { None };
        Offer { unit: probe.unit(&cell), estimate, refused, cell }
    };
    let offers = PROBES.iter().flat_map(|probe| {
        probe.cells(&site).into_iter().map(|cell| offer(cell, probe)).collect::<Vec<_>>()
    });
    offers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_has_cells() {
        let offers = list_offers(None, None, None, None);
        for probe in PROBES {
            let id = probe.info().id;
            let cells: Vec<&Offer> = offers.iter().filter(|offer| offer.cell.probe == id).collect();
            assert!(!cells.is_empty(), "{id}");
            assert!(
                cells.iter().all(|offer| offer.refused.is_none() || offer.estimate.is_none()),
                "{id}"
            );
        }
    }

    #[test]
    fn a_named_file_leaves_other_probes_their_folder() {
        let without = list_offers(None, None, None, None);
        let file = std::env::current_exe().unwrap();
        let with = list_offers(Some(&file), None, None, None);
        let refused = |offers: &[Offer], id: &str| {
            offers.iter().filter(|o| o.cell.probe == id && o.refused.is_some()).count()
        };
        for id in ["file-read", "fsync", "metadata"] {
            assert_eq!(refused(&with, id), refused(&without, id), "{id}");
        }
    }

    #[test]
    fn the_named_machine_is_contacted() {
        let free =
            std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let offers = list_offers(None, None, Some(&free.parse().unwrap()), None);
        let far = |offer: &&Offer| offer.cell.probe == "rtt" && offer.cell.is_far();
        let why = offers.iter().filter(far).find_map(|offer| offer.refused.clone()).unwrap();
        assert!(why.starts_with(&free), "{why}");
    }
}
