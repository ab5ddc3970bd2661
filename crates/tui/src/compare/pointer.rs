//! The chart as the mouse and the zoom see it.

use ratatui::layout::{Position, Rect};

use super::data::LoadedComparison;
use super::state::{Compare, View};
use super::view::overlay;
use crate::read_out::CLICK_REACH;
use crate::theme::Look;
use crate::zoom::{Zoom, ZoomChart};

impl ZoomChart for Compare {
    fn area(&self, _: &Look, body: Rect) -> Option<Rect> {
        let others = self.got.as_ref().map_or(0, LoadedComparison::count_others);
        let is_shown = self.view == View::Chart && others > 0 && !self.overlay.lines.is_empty();
        is_shown.then(|| overlay::chart_area(&self.overlay, body))
    }

    fn count_places(&self) -> usize {
        self.overlay.places.count()
    }

    fn place_at(&self, look: &Look, area: Rect, column: u16) -> Option<usize> {
        overlay::with_chart(look, &self.overlay, self.log(), |chart| {
            self.overlay.places.at_column(chart, area, column)
        })
    }

    fn part(&self, _: &Look, _: Rect) -> Zoom {
        self.overlay.zoom
    }

    fn show_part(&mut self, part: Zoom) {
        self.overlay.show_part(part);
    }
}

/// Selects the curve and the x value where the button was pressed.
pub fn click(compare: &mut Compare, look: &Look, body: Rect, at: Position) {
    let Some(area) = compare.area(look, body).filter(|area| area.contains(at)) else { return };
    let located = overlay::locate_points(look, &compare.overlay, compare.log(), area);
    if let Some((line, ..)) = located.nearest(at, CLICK_REACH) {
        compare.overlay.cursor = line;
    }
    if let Some(place) = compare.place_at(look, area, at.x) {
        compare.overlay.at = Some(place);
    }
}
