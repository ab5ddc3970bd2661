//! The trials as the mouse and the zoom see them.

use ratatui::layout::Rect;

use super::state::Live;
use super::view;
use super::window::Window;
use crate::tui::theme::Look;
use crate::tui::zoom::{Zoom, ZoomChart};

impl ZoomChart for Live {
    fn areas(&self, look: &Look, body: Rect) -> Option<(Rect, Rect)> {
        view::strip_areas(self, look, body)
    }

    fn count_places(&self) -> usize {
        self.run_view().map_or(0, |view| view.series.trials() as usize)
    }

    fn share(&self, place: usize) -> f64 {
        place as f64 / self.count_places().saturating_sub(1).max(1) as f64
    }

    fn place_at(&self, look: &Look, area: Rect, column: u16) -> Option<(usize, u16)> {
        view::trial_at(self, look, area, column)
    }

    fn part(&self, look: &Look, area: Rect) -> Zoom {
        view::strip_part(self, look, area)
    }

    fn show_part(&mut self, part: Zoom) {
        let all = u32::try_from(self.count_places()).unwrap_or(u32::MAX);
        self.window = Window::of(part, all);
    }

    fn held_part(&mut self) -> &mut Zoom {
        &mut self.held_part
    }

    /// There is no cursor.
    fn point_at(&mut self, _: usize) {}

    /// One long trial may take all columns.
    fn least_span(&self) -> usize {
        0
    }
}
