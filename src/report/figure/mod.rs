//! What is drawn of a session, whatever draws it: figures with their panels, curves and scales, and
//! bars of what has no curve.
//!
//! [`groups`] is all of it, in order. Curves that are too many to be told apart go to panels side
//! by side; nothing is left out.

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
    Bar, Bars, COLORS, Curve, Figure, Group, Key, Line, MARKS, Metric, NEUTRAL, Panel, Point, ROUND,
};
pub use self::scale::{Scale, Span};
use super::Look;

/// Everything that can be drawn of these results.
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
