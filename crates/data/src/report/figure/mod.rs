//! The drawing of a session for every output: figures with their panels, curves and scales, and
//! bars for cells without a curve.
//!
//! [`groups`] returns all of it, in order. Curves that are too many to be distinguished go to
//! panels side by side; nothing is skipped.

mod facets;
mod jobs;
mod model;
mod probes;
pub mod scale;
#[cfg(test)]
mod tests;

use crate::analysis::{CellResult, ProbeResult};
use crate::session::Session;

pub use self::model::{
    Bar, Bars, COLORS, Curve, DIAMOND, Figure, FigureOf, Fill, Group, Key, Line, MARKS, Mark,
    NEUTRAL, Panel, Point, ROUND, estimates, spans,
};
pub use self::scale::{Across, Scale, Span};
use super::Look;

/// Returns everything that can be drawn from these results.
pub fn groups(
    session: &Session,
    results: &[CellResult],
    probes: &[ProbeResult],
    look: &Look,
) -> Vec<Group> {
    let mut all = jobs::groups(session, results, look);
    all.extend(probes::groups(probes, look));
    all
}
