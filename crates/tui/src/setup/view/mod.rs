//! Drawing of Setup.

mod backends;
mod blocks;
mod hint;
mod plan;
mod scene;
mod target;
mod workload;

#[cfg(test)]
pub use blocks::power_at;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::layout::{Hit, Places, places};
use super::state::{Pane, Setup};
use crate::context::ViewContext;
use scene::Scene;

/// Returns what is at a position in a pane.
pub fn hit(
    setup: &Setup,
    ctx: &ViewContext,
    places: &Places,
    pane: Pane,
    at: Position,
) -> Option<Hit> {
    let inner = places.inner(pane)?;
    let effective = setup.effective_settings();
    let scene = Scene::new(setup, ctx, &effective);
    match pane {
        Pane::Target => target::hit(&scene, inner, at),
        Pane::Backends => backends::hit(&scene, inner, at),
        Pane::Workload => workload::hit(&scene, inner, at),
        Pane::Blocks => inner.contains(at).then(|| Hit::Power(blocks::power_at(inner, at.x))),
        Pane::Plan => plan::hit(&scene, inner, at),
    }
}

/// Returns the number of scroll positions of the plan.
pub fn plan_rows(setup: &Setup, ctx: &ViewContext, body: Rect) -> usize {
    let effective = setup.effective_settings();
    let inner = places(body, setup).inner(Pane::Plan);
    inner.map_or(0, |inner| plan::scroll_positions(&Scene::new(setup, ctx, &effective), inner))
}

pub fn draw(setup: &Setup, ctx: &ViewContext, area: Rect, buf: &mut Buffer) {
    let effective = setup.effective_settings();
    let scene = Scene::new(setup, ctx, &effective);
    let places = places(area, setup);
    for (pane, area) in &places.panes {
        match pane {
            Pane::Target => target::draw(&scene, *area, buf),
            Pane::Backends => backends::draw(&scene, *area, buf),
            Pane::Workload => workload::draw(&scene, *area, buf),
            Pane::Blocks => blocks::draw(&scene, *area, buf),
            Pane::Plan => plan::draw(&scene, *area, buf),
        }
    }
    hint::draw(&scene, places.hint, buf);
}
