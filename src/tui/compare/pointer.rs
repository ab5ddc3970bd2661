//! The mouse over the chart: it selects, zooms and pans.

use ratatui::layout::{Position, Rect};

use super::data::LoadedComparison;
use super::state::{Compare, View};
use super::view::overlay;
use crate::tui::read_out;
use crate::tui::theme::Look;
use crate::tui::zoom;

/// How far from a click the point may be that it selects, in columns.
const CLICK_REACH: i32 = 3;

/// Returns the areas of the curves and of the bar below; `None` where no curves are shown.
fn areas(compare: &Compare, body: Rect) -> Option<(Rect, Rect)> {
    let others = compare.got.as_ref().map_or(0, LoadedComparison::count_others);
    let is_shown = compare.view == View::Chart && others > 0 && !compare.overlay.lines.is_empty();
    is_shown.then(|| overlay::areas(&compare.overlay, body))
}

/// Returns whether the pointer is over the curves.
pub fn is_over(compare: &Compare, body: Rect, at: Position) -> bool {
    areas(compare, body).is_some_and(|(chart, _)| chart.contains(at))
}

/// Returns the index of the x value that is nearest to a column, and the columns of the plot.
fn place_at(compare: &Compare, look: &Look, area: Rect, column: u16) -> Option<(usize, u16)> {
    let overlay = &compare.overlay;
    let (x, width) = overlay::with_chart(look, overlay, compare.log(), |chart| {
        let plot = chart.plot_area(area);
        let column = column.clamp(plot.x, plot.right().saturating_sub(1).max(plot.x));
        (chart.x_at(area, column), plot.width)
    });
    let (x, xs) = (x?, overlay.xs());
    let away = |place: &usize| overlay.distance(xs[*place], x);
    let place = (0..xs.len()).min_by(|a, b| away(a).total_cmp(&away(b)))?;
    Some((place, width))
}

/// Zooms at the pointer; false where it is over no chart.
pub fn wheel(compare: &mut Compare, look: &Look, body: Rect, at: Position, closer: bool) -> bool {
    let Some((chart, bar)) = areas(compare, body) else { return false };
    if !chart.contains(at) && !bar.contains(at) {
        return false;
    }
    if let Some((place, _)) = place_at(compare, look, chart, at.x) {
        let overlay = &mut compare.overlay;
        overlay.show_part(zoom::zoom_at(overlay.zoom, overlay.xs().len(), place, closer));
    }
    true
}

/// Selects the curve and the x value where the button was pressed; on the bar, shows the part
/// there.
pub fn click(compare: &mut Compare, look: &Look, body: Rect, at: Position) {
    let Some((area, bar)) = areas(compare, body) else { return };
    compare.overlay.held_zoom = compare.overlay.zoom;
    if bar.contains(at) {
        return show_around(compare, bar, at);
    }
    if !area.contains(at) {
        return;
    }
    let log = compare.log();
    let (points, places, _) = overlay::locate_points(look, &compare.overlay, log, area);
    if let Some(near) = read_out::nearest_within(at, &places, CLICK_REACH) {
        compare.overlay.cursor = points[near].0;
    }
    if let Some((place, _)) = place_at(compare, look, area, at.x) {
        compare.overlay.at = Some(place);
    }
}

/// Pans the zoomed chart from where the button was pressed to the pointer; else moves the read-out.
pub fn drag(compare: &mut Compare, look: &Look, body: Rect, from: Position, at: Position) {
    let Some((area, bar)) = areas(compare, body) else { return };
    if bar.contains(from) {
        return show_around(compare, bar, at);
    }
    if !area.contains(from) {
        return;
    }
    let Some((place, width)) = place_at(compare, look, area, at.x) else { return };
    let overlay = &mut compare.overlay;
    if overlay.held_zoom.is_none() {
        overlay.at = Some(place);
        return;
    }
    let columns = i32::from(at.x) - i32::from(from.x);
    let part = zoom::drag(overlay.held_zoom, overlay.xs().len(), columns, width);
    overlay.show_part(part);
}

/// Shows the part around a column of the bar.
fn show_around(compare: &mut Compare, bar: Rect, at: Position) {
    let overlay = &mut compare.overlay;
    let xs = overlay.xs();
    let share = |place: usize| xs.get(place).map_or(0.0, |x| overlay.share(&xs, *x));
    let place = zoom::place_on_bar(&share, xs.len(), bar, at.x);
    overlay.show_part(zoom::centre(overlay.zoom, xs.len(), place));
}
