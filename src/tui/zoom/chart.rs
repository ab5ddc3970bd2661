//! The mouse over a chart with an axis that is zoomed: the wheel zooms at the pointer, a drag pans,
//! or selects a part of a chart that is shown whole, the bar shows a part.

use ratatui::layout::{Position, Rect};

use super::{Zoom, centre, drag as pan_by_drag, place_on_bar, zoom_at};
use crate::tui::theme::Look;

/// A chart of which a part of an axis can be shown.
pub trait ZoomChart {
    /// Returns the areas of the chart and of the bar that says which part is shown; `None` where
    /// there is no chart.
    fn areas(&self, look: &Look, body: Rect) -> Option<(Rect, Rect)>;
    /// Returns the number of places along the axis.
    fn count_places(&self) -> usize;
    /// Returns where a place is along the whole axis, from 0 to 1.
    fn share(&self, place: usize) -> f64;
    /// Returns the place that is nearest to a column of the chart, and how many columns the shown
    /// part has.
    fn place_at(&self, look: &Look, area: Rect, column: u16) -> Option<(usize, u16)>;
    /// Returns the part that is shown in an area.
    fn part(&self, look: &Look, area: Rect) -> Zoom;
    fn show_part(&mut self, part: Zoom);
    /// Shows a part that a drag moves, and by how much of a place more: a chart whose places are
    /// bars shows whole ones.
    fn slide(&mut self, part: Zoom, _by: f64) {
        self.show_part(part);
    }
    /// Shows whole places again after a drag.
    fn settle(&mut self) {}
    /// The part that was shown when the button was pressed.
    fn held_part(&mut self) -> &mut Zoom;
    /// Follows a drag over a chart that is shown whole.
    fn point_at(&mut self, place: usize);
    /// Returns the places beside the first that are always shown.
    fn least_span(&self) -> usize {
        2
    }
    /// Returns whether fewer places can be shown than there are.
    fn can_zoom(&self) -> bool {
        self.count_places() > self.least_span() + 1
    }
}

/// Returns whether the pointer is over the chart.
pub fn is_over(chart: &dyn ZoomChart, look: &Look, body: Rect, at: Position) -> bool {
    chart.areas(look, body).is_some_and(|(area, _)| area.contains(at))
}

/// Zooms at the pointer; false where it is over no chart.
pub fn wheel(
    chart: &mut dyn ZoomChart,
    look: &Look,
    body: Rect,
    at: Position,
    closer: bool,
) -> bool {
    let Some((area, bar)) = chart.areas(look, body) else { return false };
    let place = if area.contains(at) {
        chart.place_at(look, area, at.x).map(|(place, _)| place)
    } else if bar.contains(at) {
        Some(place_at_bar(chart, bar, at))
    } else {
        return false;
    };
    if let Some(place) = place {
        let (part, least) = (chart.part(look, area), chart.least_span());
        chart.show_part(zoom_at(part, chart.count_places(), place, least, closer));
    }
    true
}

/// Notes what is shown when the button is pressed; on the bar, shows the part there. Returns the
/// area of the chart if it is that.
pub fn press(chart: &mut dyn ZoomChart, look: &Look, body: Rect, at: Position) -> Option<Rect> {
    let (area, bar) = chart.areas(look, body)?;
    *chart.held_part() = chart.part(look, area);
    if bar.contains(at) {
        show_around(chart, look, area, bar, at);
    }
    area.contains(at).then_some(area)
}

/// Pans from where the button was pressed to the pointer; a chart that is shown whole is pointed
/// at.
pub fn drag(chart: &mut dyn ZoomChart, look: &Look, body: Rect, from: Position, at: Position) {
    let Some((area, bar)) = chart.areas(look, body) else { return };
    if bar.contains(from) {
        return show_around(chart, look, area, bar, at);
    }
    if !area.contains(from) {
        return;
    }
    let Some((place, width)) = chart.place_at(look, area, at.x) else { return };
    let held = *chart.held_part();
    if held.is_none() {
        return chart.point_at(place);
    }
    let columns = i32::from(at.x) - i32::from(from.x);
    let (part, by) = pan_by_drag(held, chart.count_places(), columns, width);
    chart.slide(part, by);
}

/// Columns of a drag from which on it is none by accident.
const LEAST_DRAG: u16 = 3;

/// Returns whether a drag between these places selects a part: of a chart that is shown whole.
pub fn is_selecting(
    chart: &dyn ZoomChart,
    look: &Look,
    body: Rect,
    from: Position,
    at: Position,
) -> bool {
    let Some((area, _)) = chart.areas(look, body) else { return false };
    chart.can_zoom()
        && area.contains(from)
        && from.x.abs_diff(at.x) >= LEAST_DRAG
        && chart.part(look, area).is_none()
}

/// Ends a drag: shows what was selected, or whole places again.
pub fn release(chart: &mut dyn ZoomChart, look: &Look, body: Rect, from: Position, at: Position) {
    chart.settle();
    let Some((area, _)) = chart.areas(look, body) else { return };
    if chart.held_part().is_some() || !is_selecting(chart, look, body, from, at) {
        return;
    }
    let ends = (chart.place_at(look, area, from.x), chart.place_at(look, area, at.x));
    let (Some((a, _)), Some((b, _))) = ends else { return };
    let (first, last) = (a.min(b), a.max(b));
    let is_part = (first, last) != (0, chart.count_places().saturating_sub(1));
    if is_part && last - first >= chart.least_span().max(1) {
        chart.show_part(Some((first, last)));
    }
}

fn place_at_bar(chart: &dyn ZoomChart, bar: Rect, at: Position) -> usize {
    place_on_bar(&|place| chart.share(place), chart.count_places(), bar, at.x)
}

/// Shows the part around a column of the bar.
fn show_around(chart: &mut dyn ZoomChart, look: &Look, area: Rect, bar: Rect, at: Position) {
    let place = place_at_bar(chart, bar, at);
    let part = centre(chart.part(look, area), chart.count_places(), place);
    chart.show_part(part);
}
