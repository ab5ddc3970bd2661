//! Figures with their panels, curves, points and bars, independent of the output.

use super::scale::{Across, Scale, Span};
use crate::analysis::EstimateLine;
use crate::units::column::Unit;

/// Distinguishable colours, with a contrast of at least 3:1 to both backgrounds.
pub const COLORS: [&str; 8] =
    ["#0b7fc4", "#d55e00", "#0a9270", "#c2569a", "#9a7400", "#7a6fe0", "#d0444f", "#5f7d8c"];

/// The colour of expected or reported values, which were not measured.
pub const NEUTRAL: &str = "#808890";

/// Figures that share curves and thus a legend.
pub struct Group {
    /// Its subject, if a session has several groups: `memory latency`.
    pub title: String,
    pub keys: Vec<Key>,
    pub figures: Vec<Figure>,
    pub bars: Option<Bars>,
}

/// An entry of a legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    pub name: String,
    /// The index that determines its colour and mark.
    pub look: usize,
    pub line: Line,
}

/// Describes the points of a figure and the lines through them.
pub fn about<'a>(points: impl Iterator<Item = &'a Point> + Clone) -> &'static str {
    let expected = points.clone().any(|point| point.expected.is_some());
    match (points.clone().any(|point| point.span.0 < point.span.2), expected) {
        (true, true) => "median and 95 % interval; shaded: the expected range",
        (true, false) => "median and 95 % interval",
        (false, true) => "median; shaded: the expected range",
        (false, false) => "median",
    }
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    Solid,
    /// Cold curves, so that the colour identifies the backend.
    Dashed,
    /// Marks only: reported values.
    Marks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    Throughput,
    Operations,
    Latency,
    /// The value of a probe.
    Value,
}

pub struct Figure {
    pub metric: Metric,
    /// `Throughput by block size`.
    pub title: String,
    /// The meaning of a point and its line.
    pub about: &'static str,
    pub units: &'static [Unit],
    pub across: Across,
    pub scale: Scale,
    /// A thin line at the mean of each curve.
    pub means: bool,
    /// It shows the points of another figure of the group in another unit.
    pub again: bool,
    /// The panels, all with the same scales.
    pub panels: Vec<Panel>,
}

pub struct Panel {
    /// What distinguishes it from the other panels; empty if it is the only one.
    pub title: String,
    pub curves: Vec<Curve>,
    pub expected: Vec<EstimateLine>,
}

impl Panel {
    /// Returns the opacity of each curve's band, 0 to 1: the curves must stay visible even if all
    /// bands overlap.
    pub fn haze(&self) -> f64 {
        let bands = self
            .curves
            .iter()
            .filter(|curve| curve.points.iter().any(|point| point.expected.is_some()))
            .count();
        0.28 / bands.max(2) as f64
    }
}

pub struct Curve {
    /// Index into the keys of the group.
    pub key: usize,
    pub points: Vec<Point>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub at: f64,
    pub span: Span,
    /// The expected value.
    pub expected: Option<(f64, f64)>,
    pub wrong: bool,
    /// The index of its result.
    pub of: usize,
}

/// Cells that are on no curve, each with a bar, on a common scale.
pub struct Bars {
    pub title: String,
    /// Whether the cells are those of jobs, not of probes.
    pub jobs: bool,
    pub scale: Scale,
    pub rows: Vec<Bar>,
}

pub struct Bar {
    pub label: String,
    pub point: Point,
    pub show: String,
    /// Reported values with their sources.
    pub reported: Vec<(String, f64)>,
}

impl Key {
    pub fn color(&self) -> &'static str {
        if self.line == Line::Marks { NEUTRAL } else { COLORS[self.look % COLORS.len()] }
    }

    /// Returns the index into [`MARKS`]: beyond the number of colours, the same colour gets another
    /// mark.
    pub fn mark(&self) -> usize {
        (self.look + self.look / COLORS.len()) % MARKS.len()
    }
}

/// Closed shapes around 0, so that each can be hollow: first a circle, then these corners.
pub const MARKS: [&[(f64, f64)]; 8] = [
    &[],
    &[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)],
    &[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)],
    &[(0.0, -4.8), (4.8, 3.5), (-4.8, 3.5)],
    &[(0.0, 4.8), (-4.8, -3.5), (4.8, -3.5)],
    &[(-4.8, 0.0), (3.5, -4.8), (3.5, 4.8)],
    &[(4.8, 0.0), (-3.5, 4.8), (-3.5, -4.8)],
    &[(-4.6, 0.0), (-2.3, -4.0), (2.3, -4.0), (4.6, 0.0), (2.3, 4.0), (-2.3, 4.0)],
];

/// The radius of the round mark.
pub const ROUND: f64 = 4.0;
