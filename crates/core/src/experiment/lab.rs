//! `lab`: probes of the operating system, without a file.

use std::collections::HashSet;

use super::kind::{Experiment, PlanRequest};
use super::plan_error::PlanError;
use crate::plan::{ProbeCell, ProbeInfo, Resolved, Skipped, check_sets, find_probes};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "lab",
    about: "probes of the operating system, from a clock reading to a file over the network",
    picks: false,
    needs_file: false,
    cells: |_, _| Ok((Vec::new(), Vec::new())),
};

/// Returns the probes named by the user, or else by the presets.
pub fn requested_probes<'a>(resolved: &Resolved<'a>) -> Vec<&'a String> {
    let Resolved { user, presets, .. } = *resolved;
    let of_presets =
        || presets.iter().filter_map(|preset| preset.settings.probe.as_ref()).flatten().collect();
    user.probe.as_ref().map_or_else(of_presets, |words| words.iter().collect())
}

/// Rejects parameters of probes that are not selected. Parameters in presets are checked only
/// against the probes of presets.
fn check(request: &PlanRequest, chosen: &[&'static ProbeInfo]) -> Result<(), PlanError> {
    let Resolved { user, presets, .. } = request.resolved;
    let of_presets = presets
        .iter()
        .filter(|_| user.probe.is_none())
        .filter_map(|preset| preset.settings.sets.as_deref());
    user.sets
        .as_deref()
        .into_iter()
        .chain(of_presets)
        .try_for_each(|sets| check_sets(sets, chosen))
        .map_err(PlanError::Set)
}

/// Returns the cells of all requested probes, each once, and the unavailable ones.
pub(super) fn probes(
    request: &PlanRequest,
) -> Result<(Vec<ProbeCell>, Vec<Skipped<ProbeCell>>), PlanError> {
    let words: Vec<String> = requested_probes(request.resolved).into_iter().cloned().collect();
    let (mut cells, mut skipped, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    let chosen: Vec<&'static ProbeInfo> =
        find_probes(&words, request.probes.infos)?.into_iter().copied().collect();
    check(request, &chosen)?;
    for info in chosen {
        for (cell, checked) in (request.probes.cells)(info) {
            if !seen.insert(cell.clone()) {
                continue;
            }
            match checked {
                Ok(()) => cells.push(cell),
                Err(reason) => skipped.push(Skipped { cell, reason }),
            }
        }
    }
    Ok((cells, skipped))
}
