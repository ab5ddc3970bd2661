//! What is under the pointer: where the curves are, and what the nearest point says.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::chart;
use crate::tui::context::ViewContext;
use crate::tui::read_out::{self, READ_REACH};
use crate::tui::results::state::Results;
use crate::tui::zoom::ZoomChart;

/// Draws what the point under the pointer says.
pub fn draw(results: &Results, ctx: &ViewContext, body: Rect, buf: &mut Buffer) {
    let (Some(at), Some(data)) = (ctx.pointer, &results.data) else { return };
    let area = results.area(ctx.look, body).filter(|area| area.contains(at));
    let Some(area) = area else { return };
    let located = chart::locate_points(ctx.look, results, data, area);
    let Some((curve, point, place)) = located.nearest(at, READ_REACH) else { return };
    let name = data.curves.get(curve).map_or("", |curve| curve.name.as_str());
    let x = data.places.axis.show(point.x as u64);
    let result = data.results().get(point.result);
    let text = read_out::describe(ctx.look, (name, &x), data.metric, &point, result);
    read_out::draw(ctx.look, &text, place, located.plot, buf);
}
