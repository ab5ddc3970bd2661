//! The chart as the mouse and the zoom see it.

use ratatui::layout::{Position, Rect};

use super::data::LoadedComparison;
use super::state::{Compare, View};
use super::view::overlay;
use crate::tui::read_out::CLICK_REACH;
use crate::tui::theme::Look;
use crate::tui::zoom::{self, Zoom, ZoomChart};

impl ZoomChart for Compare {
    fn areas(&self, _: &Look, body: Rect) -> Option<(Rect, Rect)> {
        let others = self.got.as_ref().map_or(0, LoadedComparison::count_others);
        let is_shown = self.view == View::Chart && others > 0 && !self.overlay.lines.is_empty();
        is_shown.then(|| overlay::areas(&self.overlay, body))
    }

    fn count_places(&self) -> usize {
        self.overlay.places.len()
    }

    fn share(&self, place: usize) -> f64 {
        self.overlay.places.share(place)
    }

    fn place_at(&self, look: &Look, area: Rect, column: u16) -> Option<(usize, u16)> {
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

    fn slide(&mut self, part: Zoom, by: f64) {
        self.overlay.slide(part, by);
    }

    fn settle(&mut self) {
        self.overlay.slide = 0.0;
    }

    fn held_part(&mut self) -> &mut Zoom {
        &mut self.overlay.held_zoom
    }

    fn point_at(&mut self, place: usize) {
        self.overlay.at = Some(place);
    }
}

/// Selects the curve and the x value where the button was pressed.
pub fn click(compare: &mut Compare, look: &Look, body: Rect, at: Position) {
    let Some(area) = zoom::press(compare, look, body, at) else { return };
    let located = overlay::locate_points(look, &compare.overlay, compare.log(), area);
    if let Some((line, ..)) = located.nearest(at, CLICK_REACH) {
        compare.overlay.cursor = line;
    }
    if let Some((place, _)) = compare.place_at(look, area, at.x) {
        compare.point_at(place);
    }
}
