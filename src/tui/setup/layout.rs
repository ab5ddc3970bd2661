//! Positions of the panes of Setup, and the targets of a click.

use ratatui::layout::{Position, Rect};

use super::state::{Pane, Setup};

/// Columns below which the target and the backends share a pane.
const MIN_THREE_PANES: u16 = 76;

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
        let area = self.panes.iter().find(|(other, _)| *other == pane).map(|(_, area)| *area)?;
        Some(Rect::new(
            area.x + 1,
            area.y + 1,
            area.width.saturating_sub(2),
            area.height.saturating_sub(2),
        ))
    }
}

/// Lays out a body of this size.
pub fn places(body: Rect, setup: &Setup) -> Places {
    let hint = u16::from(body.height >= 14);
    if setup.picks {
        // Nothing else matters until a file is picked.
        let list = Rect { height: body.height - hint, ..body };
        let hint = Rect::new(body.x, list.bottom(), body.width, hint);
        return Places { panes: vec![(Pane::Target, list)], hint };
    }
    let blocks = if body.height >= 20 { 4 } else { 3 };
    let plan = (body.height / 3).clamp(5, 15).min(body.height);
    let top = body.height.saturating_sub(hint + blocks + plan);
    let mut panes = upper_panes(Rect { height: top, ..body }, setup);
    let mut at = body.y + top;
    for (pane, height) in [(Pane::Blocks, blocks), (Pane::Plan, plan)] {
        panes.push((pane, Rect::new(body.x, at, body.width, height)));
        at += height;
    }
    Places { panes, hint: Rect::new(body.x, at, body.width, hint) }
}

/// Places the upper panes side by side.
fn upper_panes(area: Rect, setup: &Setup) -> Vec<(Pane, Rect)> {
    let wide = area.width;
    let cut = |x: u16, width: u16| Rect { x: area.x + x, width, ..area };
    if wide < MIN_THREE_PANES {
        let what = (wide / 2 + 2).max(31).min(wide);
        let left = if setup.focus == Pane::Backends { Pane::Backends } else { Pane::Target };
        return vec![(left, cut(0, wide - what)), (Pane::Workload, cut(wide - what, what))];
    }
    let what = (wide * 38 / 100).clamp(34, 60);
    let backends = if wide < 100 { 18 } else { (wide * 28 / 100).clamp(18, 60) };
    let target = wide - what - backends;
    vec![
        (Pane::Target, cut(0, target)),
        (Pane::Backends, cut(target, backends)),
        (Pane::Workload, cut(target + backends, what)),
    ]
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
