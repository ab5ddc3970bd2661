//! The trials as the mouse and the zoom see them.

use ratatui::layout::Rect;

use super::state::Live;
use super::strip::Window;
use super::view;
use crate::theme::Look;
use crate::zoom::{Zoom, ZoomChart};

impl ZoomChart for Live {
    fn area(&self, look: &Look, body: Rect) -> Option<Rect> {
        view::strip_area(self, look, body)
    }

    fn count_places(&self) -> usize {
        self.run_view().map_or(0, |view| view.series.trials() as usize)
    }

    fn place_at(&self, look: &Look, area: Rect, column: u16) -> Option<usize> {
        view::trial_at(self, look, area, column)
    }

    fn part(&self, look: &Look, area: Rect) -> Zoom {
        view::strip_part(self, look, area)
    }

    fn show_part(&mut self, part: Zoom) {
        let all = u32::try_from(self.count_places()).unwrap_or(u32::MAX);
        self.window = Window::of(part, all);
    }

    /// One long trial may take all columns.
    fn least_span(&self) -> usize {
        0
    }
}
