//! The places along an axis that have a value, and the part of them that is shown.

use ratatui::layout::Rect;

use super::curves::Curve;
use super::plot::Chart;
use super::zoom::Zoom;
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
