//! The cells of a run of several processes: each with its number of ranks, in own files or parts
//! of a shared one.

use super::kind::PlanRequest;
use super::plan_error::PlanError;
use crate::plan::{Job, Layout, Settings, Skipped, TargetSpec};
use crate::units::show_bytes;

/// Returns each cell for every requested number of ranks, and adds cells that cannot run to
/// `skipped`.
///
/// # Errors
/// More ranks are requested than were started, or one process is to be several.
pub(super) fn in_ranks(
    cells: Vec<Job>,
    skipped: &mut Vec<Skipped>,
    request: &PlanRequest,
) -> Result<Vec<Job>, PlanError> {
    let Some(started) = request.ranks else {
        // Settings of a preset apply only where there are ranks.
        let Settings { ranks, layout, shift, .. } = request.resolved.user;
        let named =
            [("ranks", ranks.is_some()), ("layout", layout.is_some()), ("shift", shift.is_some())];
        return match named.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(PlanError::OneProcess(option)),
            None => Ok(cells),
        };
    };
    let counts = request
        .resolved
        .whole
        .ranks
        .as_ref()
        .map_or(vec![started.into()], |ranks| ranks.values.clone());
    if let Some(asked) = counts.iter().find(|count| **count > u64::from(started)) {
        return Err(PlanError::FewRanks { asked: *asked, started });
    }
    if started == 1 || cells.is_empty() {
        return Ok(cells);
    }
    let layout = layout_of(request);
    if layout.is_per_rank() && !matches!(request.target, TargetSpec::Scratch { .. }) {
        return Err(PlanError::OneFileOfRanks);
    }
    let largest = cells.iter().map(|cell| cell.block).max().unwrap_or(1);
    let mut all = Vec::new();
    for cell in cells {
        let cell = Job { layout, ..cell };
        match fit(&cell, largest, request) {
            Ok(cell) => {
                let of = |ranks: &u64| Job { ranks: Some(*ranks as u32), ..cell.clone() };
                all.extend(counts.iter().map(of));
            }
            Err(reason) => skipped.push(Skipped { cell, reason }),
        }
    }
    Ok(all)
}

/// Returns the layout: what was requested, or of a named file its pieces.
fn layout_of(request: &PlanRequest) -> Layout {
    let named = matches!(request.target, TargetSpec::File { .. });
    let usual = if named { Layout::Segmented } else { Layout::PerRank };
    request.resolved.whole.layout.unwrap_or(usual)
}

/// Returns the cell with a span that is whole blocks where ranks share a file; the error is why
/// they cannot.
fn fit(cell: &Job, largest: u64, request: &PlanRequest) -> Result<Job, String> {
    if !cell.shares_its_file() {
        return Ok(cell.clone());
    }
    if cell.makes_files() {
        return Err("ranks that share a file overwrite it; use --layout per-rank".into());
    }
    let infos = request.infos.iter();
    if infos.clone().any(|info| info.id == cell.backend.id && info.is_peer()) {
        let id = &cell.backend.id;
        return Err(format!("{id} works on a file of its own; use --layout per-rank"));
    }
    // One span for all block sizes, if it can be; it holds a block, or the cell was refused.
    let unit = if cell.span >= largest { largest } else { cell.block.max(1) };
    let span = cell.span - cell.span % unit;
    let span = span - span % cell.block.max(1);
    let job = Job { span, ..cell.clone() };
    match job.count.filter(|count| *count > job.blocks()) {
        Some(count) => Err(format!(
            "{count} blocks exceed the {} of each rank; use -n {} or less",
            show_bytes(span),
            job.blocks()
        )),
        None => Ok(job),
    }
}
