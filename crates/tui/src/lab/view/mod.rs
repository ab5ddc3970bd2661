//! Drawing of Lab: the list, the bars or a curve, the explanation.

mod about;
mod bars;
mod chart;
mod legend;
mod list;

pub use legend::sign;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::layout::{Hit, Places};
use super::state::{Lab, Pane};
use crate::context::ViewContext;
use crate::theme::Look;

pub fn draw(lab: &Lab, ctx: &ViewContext, body: Rect, buf: &mut Buffer) {
    let places = places(lab, ctx.look, body);
    list::draw(lab, ctx, places.list, buf);
    if lab.open {
        chart::draw(lab, ctx.look, places.bars, buf);
    } else {
        bars::draw(lab, ctx, places.bars, buf);
    }
    about::draw(lab, ctx.look, places.about, buf);
}

fn places(lab: &Lab, look: &Look, body: Rect) -> Places {
    Places::new(body, &|columns| about::count_rows(lab, look, columns))
}

/// Returns the rows of a page of the focused pane.
pub fn page(lab: &Lab, look: &Look, body: Rect) -> usize {
    let places = places(lab, look, body);
    let area = match lab.pane {
        Pane::Probes => places.list,
        Pane::Bars => places.bars,
        Pane::About => places.about,
    };
    usize::from(area.height.saturating_sub(4)).max(1)
}

/// Returns the last scroll position of the explanation.
pub fn max_scroll(lab: &Lab, look: &Look, body: Rect) -> usize {
    about::max_scroll(lab, look, places(lab, look, body).about)
}

/// Returns what is at a position.
pub fn hit(lab: &Lab, ctx: &ViewContext, body: Rect, at: Position) -> Option<Hit> {
    let places = places(lab, ctx.look, body);
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
