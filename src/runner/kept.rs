//! Other kept runs of the same cells, on the same machine and file: they show how much it differs
//! by itself.

use std::path::Path;

use crate::analysis::{SavedRuns, is_same_setup};
use crate::plan::{Job, ProbeCell};
use crate::session::{Session, headers, load, path_of, target_of};

/// Sessions that are opened to look for such runs, and runs that are enough.
const LOOKED: usize = 60;
const ENOUGH: usize = 20;

/// A file beyond this is not opened: many cells with many trials, of which a few runs would take
/// seconds to read.
const LARGEST: u64 = 16 << 20;

/// What the newest runs in `dir` like `sessions` show; nothing where these were not all made alike.
pub fn kept(dir: &Path, sessions: &[&Session]) -> SavedRuns {
    let mut kept = SavedRuns::default();
    let Some((base, others)) = sessions.split_first() else { return kept };
    if !others.iter().any(|other| is_same_setup(base, other)) {
        return kept;
    }
    let jobs: Vec<Job> =
        sessions.iter().flat_map(|session| session.plan.cells.iter().cloned()).collect();
    let probes: Vec<ProbeCell> =
        sessions.iter().flat_map(|session| session.plan.probes.iter().cloned()).collect();
    let target = target_of(&base.plan.target);
    let compared = |id: &str| sessions.iter().any(|session| session.id == id);
    let listed = headers(dir).unwrap_or_default();
    for found in
        listed.iter().filter(|found| found.target == target && !compared(&found.id)).take(LOOKED)
    {
        let path = path_of(dir, &found.id);
        if std::fs::metadata(&path).is_ok_and(|file| file.len() > LARGEST) {
            continue;
        }
        let Ok(run) = load(&path) else { continue };
        if is_same_setup(base, &run) {
            kept.add(&run, &jobs, &probes);
        }
        if kept.runs() == ENOUGH {
            break;
        }
    }
    kept
}

#[cfg(test)]
mod tests;
