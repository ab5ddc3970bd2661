//! The picture of Lab: the list, the bars or a curve, the explanation.

mod about;
mod bars;
mod chart;
mod legend;
mod list;
mod places;
mod progress;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::scale;
use super::state::{Lab, Pane};
use crate::tui::model::Model;
use crate::tui::view as screen;
use places::Places;

/// What a place on the screen is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hit {
    /// An item of the list; `mark`: its box.
    Item {
        item: usize,
        mark: bool,
    },
    Slot(usize),
    /// A place along the axis of the curve.
    X(f64),
    Pane(Pane),
}

pub fn draw(model: &Model, body: Rect, buf: &mut Buffer) {
    let lab = &model.lab;
    let places = Places::new(body, lab.pane);
    list::draw(model, places.list, buf);
    if let Some(area) = places.bars {
        match lab.open {
            true => chart::draw(model, area, buf),
            false => bars::draw(model, area, buf),
        }
    }
    if let Some(area) = places.about {
        about::draw(model, area, buf);
    }
}

/// The rows that a page of the pane with the focus has.
pub fn page(model: &Model) -> usize {
    let places = Places::new(screen::areas(model.size).body, model.lab.pane);
    let area = match model.lab.pane {
        Pane::Probes => places.list,
        Pane::Bars => places.bars.unwrap_or_default(),
        Pane::About => places.about.unwrap_or_default(),
    };
    usize::from(area.height.saturating_sub(4)).max(1)
}

/// How far the explanation scrolls.
pub fn most_scroll(model: &Model) -> usize {
    let places = Places::new(screen::areas(model.size).body, model.lab.pane);
    places.about.map_or(0, |area| about::most_scroll(model, area))
}

/// What is at a place.
pub fn hit(model: &Model, body: Rect, at: Position) -> Option<Hit> {
    let places = Places::new(body, model.lab.pane);
    if places.list.contains(at) {
        return Some(list::hit(model, places.list, at).unwrap_or(Hit::Pane(Pane::Probes)));
    }
    if let Some(area) = places.bars.filter(|area| area.contains(at)) {
        let found =
            if model.lab.open { chart::hit(model, area, at) } else { bars::hit(model, area, at) };
        return Some(found.unwrap_or(Hit::Pane(Pane::Bars)));
    }
    places.about.filter(|area| area.contains(at)).map(|_| Hit::Pane(Pane::About))
}

/// Sign and colour of another on the bars, by its place among all.
pub fn sign(look: &crate::tui::theme::Look, at: usize) -> (char, ratatui::style::Style) {
    // The first is a diamond, which no bar has; the markers come round after eight.
    const ORDER: [usize; 8] = [3, 1, 2, 0, 7, 5, 6, 4];
    (look.marker(ORDER[at % ORDER.len()]), look.series(at + 1))
}

/// The cell that is measured now.
fn now(model: &Model) -> Option<&crate::plan::ProbeCell> {
    let plan = model.live.plan()?;
    plan.probes.get(model.live.run.as_ref()?.picture.progress?.probe? as usize)
}

/// What is inside of a frame, without a column at either side.
fn inside(inner: Rect) -> Rect {
    Rect::new(inner.x + 1, inner.y, inner.width.saturating_sub(2), inner.height)
}

/// The frame's inside, as [`screen::pane::frame`] gives it.
fn within(area: Rect) -> Rect {
    Rect::new(area.x + 1, area.y + 1, area.width.saturating_sub(2), area.height.saturating_sub(2))
}

/// The median of a cell as a share of its scale.
fn share(unit: crate::record::Unit, value: f64) -> f64 {
    scale::of(unit).share(value)
}

/// The rows above the list and the bars that a filter takes.
fn filtering(lab: &Lab) -> bool {
    lab.typing || !lab.filter.value().is_empty()
}
