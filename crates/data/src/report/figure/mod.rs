//! The drawing of a session for every output: figures with their panels, curves and scales, and
//! bars for cells without a curve.
//!
//! [`groups`] returns all of it, in order. Too many curves for one panel are drawn in panels side
//! by side; nothing is skipped. Every format draws the same groups, so that they cannot disagree.

mod facets;
pub mod heat;
mod jobs;
mod model;
mod probes;
pub mod scale;
#[cfg(test)]
mod tests;

use crate::analysis::{CellResult, ProbeResult};
use crate::session::Session;

pub use self::model::{
    COLORS, DIAMOND, Figure, FigureBar, FigureBars, FigureGroup, FigureOf, FigurePoint, LegendKey,
    LineStyle, MARKS, MarkFill, NEUTRAL, Panel, PanelCurve, ROUND, SeriesMark, estimates, spans,
};
pub use self::scale::{Across, ValueScale, ValueSpan};
use super::Look;

/// Returns everything that can be drawn from these results.
pub fn groups(
    session: &Session,
    results: &[CellResult],
    probes: &[ProbeResult],
    look: &Look,
) -> Vec<FigureGroup> {
    let mut all = job_groups(session, results, look);
    all.extend(probes::groups(probes, look));
    all.extend(heat::group(session, results));
    all
}

/// Returns the curves and bars of jobs.
pub fn job_groups(session: &Session, results: &[CellResult], look: &Look) -> Vec<FigureGroup> {
    jobs::groups(session, results, look)
}
