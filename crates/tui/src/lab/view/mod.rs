//! Drawing of Lab: the list, the bars or a curve, the explanation.

mod about;
mod bars;
mod chart;
mod list;

pub use bars::sign;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Direction, Layout, Position, Rect};

use super::state::{Lab, Pane};
use crate::context::ViewContext;
use crate::theme::Look;

pub fn draw(lab: &Lab, ctx: &ViewContext, body: Rect, buf: &mut Buffer) {
    let places = places(body);
    list::draw(lab, ctx, places.list, buf);
    if lab.open {
        chart::draw(lab, ctx.look, places.bars, buf);
    } else {
        bars::draw(lab, ctx, places.bars, buf);
    }
    about::draw(lab, ctx.look, places.about, buf);
}

struct Places {
    list: Rect,
    bars: Rect,
    about: Rect,
}

/// Columns from which on the explanation has room at the right.
const MIN_WIDE: u16 = 110;

/// Lays out list and bars side by side, and the explanation at their right or below them.
fn places(body: Rect) -> Places {
    let is_wide = body.width >= MIN_WIDE;
    let (direction, rest) = if is_wide {
        (Direction::Horizontal, (body.width * 3 / 10).clamp(40, 64))
    } else {
        (Direction::Vertical, (body.height / 3).min(12))
    };
    let [main, about] =
        Layout::new(direction, [Constraint::Min(0), Constraint::Length(rest)]).areas(body);
    let [list, bars] =
        Layout::horizontal([Constraint::Length(20), Constraint::Min(30)]).areas(main);
    Places { list, bars, about }
}

/// The target of a click.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hit {
    /// An item of the list; `mark`: its checkbox.
    Item {
        item: usize,
        mark: bool,
    },
    Slot(usize),
    /// A position on the axis of the curve.
    X(f64),
    Pane(Pane),
}

/// Returns the rows of a page of the focused pane.
pub fn page(lab: &Lab, body: Rect) -> usize {
    let places = places(body);
    let area = match lab.pane {
        Pane::Probes => places.list,
        Pane::Bars => places.bars,
        Pane::About => places.about,
    };
    usize::from(area.height.saturating_sub(4)).max(1)
}

/// Returns the last scroll position of the explanation.
pub fn max_scroll(lab: &Lab, look: &Look, body: Rect) -> usize {
    about::max_scroll(lab, look, places(body).about)
}

/// Returns what is at a position.
pub fn hit(lab: &Lab, ctx: &ViewContext, body: Rect, at: Position) -> Option<Hit> {
    let places = places(body);
    if places.list.contains(at) {
        return Some(list::hit(lab, places.list, at).unwrap_or(Hit::Pane(Pane::Probes)));
    }
    if places.bars.contains(at) {
        let hit = if lab.open {
            chart::hit(lab, ctx.look, places.bars, at)
        } else {
            bars::hit(lab, ctx, places.bars, at)
        };
        return Some(hit.unwrap_or(Hit::Pane(Pane::Bars)));
    }
    places.about.contains(at).then_some(Hit::Pane(Pane::About))
}
