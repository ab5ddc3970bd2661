//! The places along an axis that have a value, and the part of them that is shown.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::curves::Curve;
use super::plot::Chart;
use super::theme::Look;
use super::zoom::{self, Zoom};
use crate::analysis::Axis;

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

    pub fn len(&self) -> usize {
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

    /// Returns the place that is nearest to a column of a chart, and the columns of its plot.
    pub fn at_column(&self, chart: &Chart, area: Rect, column: u16) -> Option<(usize, u16)> {
        let plot = chart.plot_area(area);
        let column = column.clamp(plot.x, plot.right().saturating_sub(1).max(plot.x));
        Some((self.nearest(chart.x_at(area, column)?)?, plot.width))
    }

    /// Returns where a place is along the whole axis, from 0 to 1.
    pub fn share(&self, place: usize) -> f64 {
        let ends = (self.xs.first(), self.xs.get(place), self.xs.last());
        let (Some(first), Some(x), Some(last)) = ends else { return 0.0 };
        let whole = self.distance(*first, *last);
        if whole > 0.0 && whole.is_finite() { self.distance(*first, *x) / whole } else { 0.0 }
    }

    /// Returns the x values at the ends of a part that is moved by a share of a place; `None` for
    /// all.
    pub fn ends(&self, part: Zoom, by: f64) -> Option<(f64, f64)> {
        let (from, to) = part?;
        Some((self.beside(from, by)?, self.beside(to, by)?))
    }

    /// Returns the x value between a place and the one after it, or before it.
    fn beside(&self, place: usize, by: f64) -> Option<f64> {
        let x = self.get(place)?;
        let next = if by < 0.0 { place.checked_sub(1) } else { Some(place + 1) };
        let Some(next) = next.and_then(|next| self.get(next)) else { return Some(x) };
        let share = by.abs();
        Some(match self.axis.is_log() {
            _ if share == 0.0 => x,
            true => (x.ln() * (1.0 - share) + next.ln() * share).exp(),
            false => x * (1.0 - share) + next * share,
        })
    }

    /// Draws the bar that says which part is shown.
    pub fn draw_bar(&self, look: &Look, part: Zoom, row: Rect, buf: &mut Buffer) {
        let (Some((from, to)), Some(first), Some(last)) = (part, self.xs.first(), self.xs.last())
        else {
            return;
        };
        let name = |x: &f64| self.axis.show(*x as u64);
        let shares = (self.share(from), self.share(to));
        zoom::draw_bar(look, shares, (&name(first), &name(last)), row, buf);
    }
}
