//! The chart as the mouse and the zoom see it.

use ratatui::layout::{Position, Rect};

use super::layout;
use super::state::Results;
use super::tab::TabKind;
use super::view::{answer, chart};
use crate::tui::read_out::CLICK_REACH;
use crate::tui::theme::Look;
use crate::tui::view::pane;
use crate::tui::zoom::{Zoom, ZoomChart};

impl ZoomChart for Results {
    fn area(&self, look: &Look, body: Rect) -> Option<Rect> {
        let data = self.data.as_ref().filter(|data| data.is_curve())?;
        if self.open.is_some() || self.kind != TabKind::Chart {
            return None;
        }
        let lines = answer::wrap_answer(look, data, layout::text_width(body)).len();
        let parts = layout::parts(body, data.most_listed, lines);
        Some(pane::narrow(parts.chart))
    }

    fn count_places(&self) -> usize {
        self.data.as_ref().map_or(0, |data| data.places.len())
    }

    fn place_at(&self, look: &Look, area: Rect, column: u16) -> Option<usize> {
        let data = self.data.as_ref()?;
        chart::with_chart(look, self, data, area, |chart| {
            data.places.at_column(chart, area, column)
        })
    }

    fn part(&self, _: &Look, _: Rect) -> Zoom {
        self.chart.zoom
    }

    /// The cursor stays inside.
    fn show_part(&mut self, part: Zoom) {
        self.chart.zoom = part;
        if let Some((first, last)) = part {
            self.chart.x = self.chart.x.clamp(first, last.max(first));
        }
    }
}

/// Puts the cursor where the chart was clicked, on a curve that is there.
pub fn select(results: &mut Results, look: &Look, area: Rect, at: Position) {
    let Some(data) = &results.data else { return };
    let near = chart::locate_points(look, results, data, area).nearest(at, CLICK_REACH);
    if let Some((curve, point, _)) = near {
        results.chart.series = curve;
        results.set_x(point.x);
    } else if let Some(place) = results.place_at(look, area, at.x) {
        results.chart.x = place;
        results.pan();
    }
}
