//! Positions of the panes of Setup, and the targets of a click.

use ratatui::layout::{Constraint, Layout, Position, Rect};

use super::state::{Pane, Setup};
use crate::view::pane;

/// Positions of the panes and the hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub panes: Vec<(Pane, Rect)>,
    pub hint: Rect,
}

impl Places {
    pub fn pane(&self, at: Position) -> Option<Pane> {
        self.panes.iter().find(|(_, area)| area.contains(at)).map(|(pane, _)| *pane)
    }

    /// Returns the inside of a pane.
    pub fn inner(&self, pane: Pane) -> Option<Rect> {
        self.panes.iter().find(|(other, _)| *other == pane).map(|(_, area)| pane::inside(*area))
    }
}

/// Lays out a body of this size.
pub fn places(body: Rect, setup: &Setup) -> Places {
    let plan = if setup.picks { 0 } else { (body.height / 3).min(15) };
    let blocks = if setup.picks { 0 } else { 4 };
    let [upper, block_sizes, plan, hint] = Layout::vertical([
        Constraint::Min(0),
        Constraint::Length(blocks),
        Constraint::Length(plan),
        Constraint::Length(1),
    ])
    .areas(body);
    if setup.picks {
        // Nothing else matters until a file is picked.
        return Places { panes: vec![(Pane::Target, upper)], hint };
    }
    let what = (body.width * 38 / 100).clamp(34, 60);
    let backends = if body.width < 100 { 18 } else { (body.width * 28 / 100).min(60) };
    let [target, backends, workload] = Layout::horizontal([
        Constraint::Min(0),
        Constraint::Length(backends),
        Constraint::Length(what),
    ])
    .areas(upper);
    let panes = vec![
        (Pane::Target, target),
        (Pane::Backends, backends),
        (Pane::Workload, workload),
        (Pane::Blocks, block_sizes),
        (Pane::Plan, plan),
    ];
    Places { panes, hint }
}

/// The target of a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    Row(usize),
    Backend(usize),
    Setting(usize, Option<&'static str>),
    Power(u32),
    Run,
    Copy,
}
