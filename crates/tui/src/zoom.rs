//! The part of an axis that a chart shows: zooming around a place and panning.

use ratatui::layout::{Position, Rect};

use super::curves::Curve;
use super::keymap::Action;
use super::plot::Chart;
use super::theme::Look;
use crate::analysis::Axis;

/// First and last place that is shown; `None`: all.
pub type Zoom = Option<(usize, usize)>;

/// A chart that can show a part of its axis.
pub trait ZoomChart {
    /// Returns the number of places along the axis.
    fn count_places(&self) -> usize;
    /// Returns the place nearest to a column of the chart.
    fn place_at(&self, look: &Look, area: Rect, column: u16) -> Option<usize>;
    /// Returns the part that is shown in an area.
    fn part(&self, look: &Look, area: Rect) -> Zoom;
    fn show_part(&mut self, part: Zoom);
    /// Returns the minimum distance between the first and the last shown place.
    fn least_span(&self) -> usize {
        2
    }
    /// Returns whether fewer places can be shown than there are.
    fn can_zoom(&self) -> bool {
        self.count_places() > self.least_span() + 1
    }
}

/// Zooms a chart at the pointer.
pub fn wheel(chart: &mut dyn ZoomChart, look: &Look, area: Rect, at: Position, closer: bool) {
    if let Some(place) = chart.place_at(look, area, at.x) {
        let (part, least) = (chart.part(look, area), chart.least_span());
        chart.show_part(zoom_at(part, chart.count_places(), place, least, closer));
    }
}

/// Halves or doubles the shown part. `place` stays where it is on the screen, and at least `least`
/// other places are shown.
pub fn zoom_at(zoom: Zoom, places: usize, place: usize, least: usize, closer: bool) -> Zoom {
    let last = places.saturating_sub(1);
    let (from, to) = zoom.unwrap_or((0, last));
    let span = to.saturating_sub(from).max(1);
    let wanted = if closer { (span / 2).max(least) } else { span * 2 };
    if wanted >= last {
        return None;
    }
    let inside = place.clamp(from, from + span) - from;
    let before = (inside * wanted + span / 2) / span;
    // With few places, rounding would move one between the ends to an end.
    let is_between = 0 < inside && inside < span && wanted > 1;
    let before = if is_between { before.clamp(1, wanted - 1) } else { before };
    let first = place.saturating_sub(before).min(last - wanted);
    Some((first, first + wanted))
}

/// Moves the shown part.
pub fn pan(zoom: Zoom, places: usize, by: isize) -> Zoom {
    let (from, to) = zoom?;
    let (last, span) = (places.saturating_sub(1), to.saturating_sub(from));
    let first = from.saturating_add_signed(by).min(last.saturating_sub(span));
    Some((first, first + span))
}

/// Returns the part that an action shows, `place` being zoomed at; `None`: it does something else.
pub fn act(zoom: Zoom, places: usize, place: usize, least: usize, action: Action) -> Option<Zoom> {
    let half = zoom.map_or(0, |(from, to)| (to.saturating_sub(from) / 2).max(1) as isize);
    match action {
        Action::ZoomIn | Action::ZoomOut => {
            Some(zoom_at(zoom, places, place, least, action == Action::ZoomIn))
        }
        Action::ZoomReset => Some(None),
        Action::PanLeft => Some(pan(zoom, places, -half)),
        Action::PanRight => Some(pan(zoom, places, half)),
        _ => None,
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Places {
    pub axis: Axis,
    /// Ascending.
    pub xs: Vec<f64>,
}

impl Places {
    /// Returns the places of all points of these curves.
    pub fn new<'a>(axis: Axis, curves: impl Iterator<Item = &'a Curve>) -> Places {
        let mut xs: Vec<f64> =
            curves.flat_map(|curve| curve.points.iter().map(|point| point.x)).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        Places { axis, xs }
    }

    pub fn count(&self) -> usize {
        self.xs.len()
    }

    pub fn get(&self, place: usize) -> Option<f64> {
        self.xs.get(place).copied()
    }

    /// Returns the distance of two x values on the chart.
    pub fn distance(&self, a: f64, b: f64) -> f64 {
        if self.axis.is_log() { (a.log2() - b.log2()).abs() } else { (a - b).abs() }
    }

    /// Returns the place that is nearest to an x value.
    pub fn nearest(&self, x: f64) -> Option<usize> {
        let away = |place: &usize| self.distance(self.xs[*place], x);
        (0..self.xs.len()).min_by(|a, b| away(a).total_cmp(&away(b)))
    }

    /// Returns the place nearest to a column of a chart.
    pub fn at_column(&self, chart: &Chart, area: Rect, column: u16) -> Option<usize> {
        let plot = chart.plot_area(area);
        let column = column.clamp(plot.x, plot.right().saturating_sub(1).max(plot.x));
        self.nearest(chart.x_at(area, column)?)
    }

    /// Returns the x values at the ends of a part; `None` for all.
    pub fn ends(&self, part: Zoom) -> Option<(f64, f64)> {
        let (from, to) = part?;
        Some((self.get(from)?, self.get(to)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_keeps_the_pointed_place() {
        assert_eq!(zoom_at(None, 17, 0, 2, true), Some((0, 8)));
        assert_eq!(zoom_at(None, 17, 16, 2, true), Some((8, 16)));
        assert_eq!(zoom_at(None, 17, 8, 2, true), Some((4, 12)));
        assert_eq!(zoom_at(Some((4, 12)), 17, 12, 2, true), Some((8, 12)));
        assert_eq!(zoom_at(Some((8, 10)), 17, 9, 2, true), Some((8, 10)), "three places at least");
        assert_eq!(zoom_at(Some((8, 12)), 17, 12, 2, false), Some((4, 12)));
        assert_eq!(zoom_at(Some((4, 12)), 17, 12, 2, false), None);
        assert_eq!(zoom_at(Some((3, 8)), 17, 5, 2, true), Some((4, 6)), "of few places");
        assert_eq!(zoom_at(None, 6, 1, 2, true), Some((0, 2)), "of few places");
        assert_eq!(zoom_at(None, 6, 4, 2, true), Some((3, 5)), "of few places");
        assert_eq!(zoom_at(None, 3, 1, 2, true), None, "nothing to zoom");
        assert_eq!(zoom_at(None, 2, 1, 0, true), Some((1, 1)), "one place alone");
        assert_eq!(zoom_at(Some((1, 1)), 9, 1, 0, false), Some((1, 3)));
    }

    #[test]
    fn moved_parts_stay_inside() {
        for places in 0..20 {
            for place in 0..25 {
                for zoom in [None, Some((0, 3)), Some((2, 9))] {
                    let all = [
                        zoom_at(zoom, places, place, 2, true),
                        zoom_at(zoom, places, place, 2, false),
                        pan(zoom, places, -3),
                        pan(zoom, places, isize::MAX),
                    ];
                    for (from, to) in all.into_iter().flatten() {
                        assert!(from <= to, "{places} {place} {zoom:?}");
                        assert!(to < places.max(10), "{places} {place} {zoom:?} {from} {to}");
                    }
                }
            }
        }
        assert_eq!(pan(Some((2, 6)), 20, 3), Some((5, 9)));
    }
}
