//! The mouse over the chart: what it points at, zoom there, panning by a drag.

use ratatui::layout::{Position, Rect};

use super::state::Results;
use super::view::chart;
use super::view::hover::areas;
use crate::tui::read_out;
use crate::tui::theme::Look;
use crate::tui::zoom;

/// How far from a click the point may be that it selects, in columns.
const CLICK_REACH: i32 = 2;

/// Returns whether the pointer is over the curves.
pub fn is_over(results: &Results, look: &Look, body: Rect, at: Position) -> bool {
    areas(results, look, body).is_some_and(|(chart, _)| chart.contains(at))
}

/// Returns the position of the axis that is nearest to a column, and the columns of the plot.
fn place_at(results: &Results, look: &Look, area: Rect, column: u16) -> Option<(usize, u16)> {
    let data = results.data.as_ref()?;
    let (x, width) = chart::with_chart(look, results, data, area, |chart| {
        let plot = chart.plot_area(area);
        let column = column.clamp(plot.x, plot.right().saturating_sub(1).max(plot.x));
        (chart.x_at(area, column), plot.width)
    });
    let x = x?;
    let away = |place: &usize| data.distance(data.xs[*place], x);
    let place = (0..data.xs.len()).min_by(|a, b| away(a).total_cmp(&away(b)))?;
    Some((place, width))
}

/// Zooms at the pointer; false where it is over no chart.
pub fn wheel(results: &mut Results, look: &Look, body: Rect, at: Position, closer: bool) -> bool {
    let Some((chart, bar)) = areas(results, look, body) else { return false };
    if !chart.contains(at) && !bar.contains(at) {
        return false;
    }
    let places = results.data.as_ref().map_or(0, |data| data.xs.len());
    if let Some((place, _)) = place_at(results, look, chart, at.x) {
        results.show_part(zoom::zoom_at(results.chart.zoom, places, place, closer));
    }
    true
}

/// Puts the cursor where the button was pressed, on a curve that is there; on the bar, shows the
/// part there. False elsewhere.
pub fn press(results: &mut Results, look: &Look, body: Rect, at: Position) -> bool {
    let Some((area, bar)) = areas(results, look, body) else { return false };
    results.chart.held_zoom = results.chart.zoom;
    if bar.contains(at) {
        show_around(results, bar, at);
        return true;
    }
    let Some(data) = results.data.as_ref().filter(|_| area.contains(at)) else { return false };
    let (points, places, _) = chart::locate_points(look, results, data, area);
    let near = read_out::nearest_within(at, &places, CLICK_REACH);
    let x = chart::with_chart(look, results, data, area, |chart| chart.x_at(area, at.x));
    if let Some((curve, point)) = near.and_then(|near| points.get(near)).copied() {
        results.chart.series = curve;
        results.set_x(point.x);
    } else if let Some(x) = x {
        results.set_x(x);
    }
    true
}

/// Pans the zoomed chart from where the button was pressed to the pointer; else moves the cursor.
pub fn drag(results: &mut Results, look: &Look, body: Rect, from: Position, at: Position) {
    let Some((area, bar)) = areas(results, look, body) else { return };
    if bar.contains(from) {
        return show_around(results, bar, at);
    }
    if !area.contains(from) {
        return;
    }
    let Some((place, width)) = place_at(results, look, area, at.x) else { return };
    let Some(data) = &results.data else { return };
    if results.chart.held_zoom.is_none() {
        let x = data.xs.get(place).copied();
        x.into_iter().for_each(|x| results.set_x(x));
        return;
    }
    let columns = i32::from(at.x) - i32::from(from.x);
    let part = zoom::drag(results.chart.held_zoom, data.xs.len(), columns, width);
    results.show_part(part);
}

/// Shows the part around a column of the bar.
fn show_around(results: &mut Results, bar: Rect, at: Position) {
    let Some(data) = &results.data else { return };
    let place = zoom::place_on_bar(&|place| data.share(place), data.xs.len(), bar, at.x);
    let part = zoom::centre(results.chart.zoom, data.xs.len(), place);
    results.show_part(part);
}
