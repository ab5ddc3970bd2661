//! What is under the pointer: where the curves are, and what the nearest point says.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{answer, chart};
use crate::tui::context::ViewContext;
use crate::tui::read_out;
use crate::tui::results::layout;
use crate::tui::results::state::Results;
use crate::tui::theme::Look;

/// Returns the areas of the curves and of the bar below; `None` where no curves are shown.
pub fn areas(results: &Results, look: &Look, body: Rect) -> Option<(Rect, Rect)> {
    let data = results.data.as_ref().filter(|data| data.is_curve())?;
    if results.open.is_some() || results.table.on || results.glance {
        return None;
    }
    let lines = answer::wrap_answer(look, data, layout::text_width(body)).len();
    let parts = layout::parts(body, data.most_listed(), lines);
    Some(chart::areas(results, parts.chart))
}

/// Draws what the point under the pointer says.
pub fn draw(results: &Results, ctx: &ViewContext, body: Rect, buf: &mut Buffer) {
    let (Some(at), Some(data)) = (ctx.pointer, &results.data) else { return };
    let Some((area, _)) = areas(results, ctx.look, body).filter(|(area, _)| area.contains(at))
    else {
        return;
    };
    let (points, places, plot) = chart::locate_points(ctx.look, results, data, area);
    let Some(near) = read_out::nearest(at, &places) else { return };
    let (Some((curve, point)), Some(Some(place))) = (points.get(near), places.get(near)) else {
        return;
    };
    let name = data.curves.get(*curve).map_or("", |curve| curve.name.as_str());
    let x = data.axis.show(point.x as u64);
    let result = data.results().get(point.result);
    let text = read_out::describe(ctx.look, (name, &x), data.metric, point, result);
    read_out::draw(ctx.look, &text, *place, plot, buf);
}
