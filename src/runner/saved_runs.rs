//! Other saved runs of the same cells, on the same machine and file: they show how much results
//! vary from run to run.

use std::path::Path;

use crate::analysis::{SavedRuns, is_same_setup};
use crate::plan::{Job, ProbeCell};
use crate::session::{Listed, Session, load, newest, path_of, target_of};

/// Maximum sessions to open, and runs to use.
const MAX_OPENED: usize = 60;
const MAX_RUNS: usize = 20;

/// Maximum size of a session file to open, bytes: larger ones take seconds to read.
const MAX_BYTES: u64 = 16 << 20;

/// Loads the newest runs in `dir` with the setup of `sessions`; none if these differ in setup.
pub fn saved_runs(dir: &Path, sessions: &[&Session]) -> SavedRuns {
    let mut runs = SavedRuns::default();
    let Some((base, others)) = sessions.split_first() else { return runs };
    if !others.iter().any(|other| is_same_setup(base, other)) {
        return runs;
    }
    let jobs: Vec<Job> =
        sessions.iter().flat_map(|session| session.plan.cells.iter().cloned()).collect();
    let probes: Vec<ProbeCell> =
        sessions.iter().flat_map(|session| session.plan.probes.iter().cloned()).collect();
    let target = target_of(&base.plan);
    let compared = |id: &str| sessions.iter().any(|session| session.id == id);
    let wanted = |found: &Listed| found.target == target && !compared(&found.id);
    for run in open_newest(dir, MAX_OPENED, MAX_BYTES, wanted) {
        if is_same_setup(base, &run) {
            runs.add(&run, &jobs, &probes);
        }
        if runs.runs() == MAX_RUNS {
            break;
        }
    }
    runs
}

/// Loads the newest of the `wanted` sessions in `dir`, each when it is asked for: at most `count`,
/// and none of more than `bytes`.
pub(super) fn open_newest(
    dir: &Path,
    count: usize,
    bytes: u64,
    wanted: impl Fn(&Listed) -> bool,
) -> impl Iterator<Item = Session> {
    let (listed, dir) = (newest(dir), dir.to_path_buf());
    listed.filter(wanted).take(count).filter_map(move |found| {
        let path = path_of(&dir, &found.id);
        let large = std::fs::metadata(&path).is_ok_and(|file| file.len() > bytes);
        if large { None } else { load(&path).ok() }
    })
}

#[cfg(test)]
mod tests;
