//! Drawing of Setup.

mod backends;
mod blocks;
mod hint;
mod plan;
mod scene;
mod target;
mod workload;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};

use super::state::{Setup, SetupPane};
use crate::context::ViewContext;
use crate::view::{Hits, Part, Target};
use scene::SetupScene;

pub fn draw(setup: &Setup, ctx: &ViewContext, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let scene = SetupScene::new(setup, ctx);
    let (panes, hint) = lay_out(body, setup);
    for (pane, area) in panes {
        hits.area(area, Target::Pane(Part::Setup(pane)));
        match pane {
            SetupPane::Target => target::draw(&scene, area, buf, hits),
            SetupPane::Backends => backends::draw(&scene, area, buf, hits),
            SetupPane::Workload => workload::draw(&scene, area, buf, hits),
            SetupPane::Blocks => blocks::draw(&scene, area, buf, hits),
            SetupPane::Plan => plan::draw(&scene, area, buf, hits),
        }
    }
    hint::draw(&scene, hint, buf);
}

/// Lays out the panes, and the line below them. While a file is picked, nothing else matters.
fn lay_out(body: Rect, setup: &Setup) -> (Vec<(SetupPane, Rect)>, Rect) {
    let [panes, hint] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(body);
    if setup.picks {
        return (vec![(SetupPane::Target, panes)], hint);
    }
    // In a low body the title of the slider has to do without the scale below it.
    let is_low = body.height < 28;
    let [upper, blocks, plan] = Layout::vertical([
        Constraint::Min(0),
        Constraint::Length(if is_low { 3 } else { 4 }),
        Constraint::Length((body.height / 3).min(15)),
    ])
    .areas(panes);
    let [blocks, plan] = match setup.has_table() {
        // The table needs rows more than columns.
        true => Layout::horizontal([Constraint::Length(32), Constraint::Min(0)])
            .areas(Rect { height: blocks.height + plan.height, ..blocks }),
        false => [blocks, plan],
    };
    let workload = (body.width * 38 / 100).clamp(34, 60);
    let backends = if body.width < 100 { 18 } else { (body.width * 28 / 100).min(60) };
    let [target, backends, workload] = Layout::horizontal([
        Constraint::Min(0),
        Constraint::Length(backends),
        Constraint::Length(workload),
    ])
    .areas(upper);
    let areas = [target, backends, workload, blocks, plan];
    (SetupPane::ALL.iter().copied().zip(areas).collect(), hint)
}
