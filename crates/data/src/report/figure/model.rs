//! Figures with their panels, curves, points and bars, independent of the output.

use super::scale::{Across, ValueScale, ValueSpan};
use crate::analysis::{EstimateLine, HeatLog, Metric, Sign};
use crate::catalog::{HUES, Shape};
use crate::plan::Cache;
use crate::units::column::Unit;

/// The colours of the hues of backends, with a contrast of at least 3:1 to both backgrounds and
/// unlike the colours of warnings.
pub const COLORS: [&str; HUES] = ["#0b86a8", "#c2509a", "#2a8f52", "#7a6fe0", "#7d8a1e", "#64808f"];

/// The colour of expected or reported values, which were not measured.
pub const NEUTRAL: &str = "#808890";

/// Figures that share curves and thus a legend.
pub struct FigureGroup {
    /// Its subject, if a session has several groups: `memory latency`.
    pub title: String,
    /// The series of its figures, or of its bars.
    pub keys: Vec<LegendKey>,
    pub figures: Vec<Figure>,
    pub bars: Option<FigureBars>,
}

impl FigureGroup {
    /// Returns whether it has maps of latencies, which follow what else is drawn.
    pub fn is_of_latencies(&self) -> bool {
        self.figures.iter().any(|figure| figure.of == FigureOf::Latencies)
    }
}

/// An entry of a legend.
#[derive(Debug, Clone, PartialEq)]
pub struct LegendKey {
    pub name: String,
    /// Index of its colour.
    pub hue: usize,
    pub mark: SeriesMark,
    pub line: LineStyle,
}

/// Describes the points of a figure and the lines through them.
pub fn about<'a>(points: impl Iterator<Item = &'a FigurePoint> + Clone) -> &'static str {
    let expected = points.clone().any(|point| point.expected.is_some());
    match (points.clone().any(|point| point.span.0 < point.span.2), expected) {
        (true, true) => "median and 95 % interval; shaded: the expected range",
        (true, false) => "median and 95 % interval",
        (false, true) => "median; shaded: the expected range",
        (false, false) => "median",
    }
}

/// The line of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStyle {
    Solid,
    /// Cold curves, so that the colour identifies the backend.
    Dashed,
    /// Expected values: without marks.
    Dotted,
    /// Marks only: reported values.
    Marks,
}

/// The subject of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureOf {
    Cells(Metric),
    /// The 99th percentile of a commit.
    CommitTail,
    Probe,
    /// Trials relative to the median of their cell.
    Trials,
    /// A map of latencies over time.
    Latencies,
}

pub struct Figure {
    pub of: FigureOf,
    /// `Throughput by block size`.
    pub title: String,
    /// The meaning of a point and its line.
    pub about: String,
    pub units: &'static [Unit],
    pub across: Across,
    pub scale: ValueScale,
    /// A thin line at the mean of each curve.
    pub means: bool,
    /// It shows the points of another figure of the group in another unit.
    pub again: bool,
    /// The panels, all with the same scales.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// Returns the unit and kind of a scale, and the meaning of the points:
    /// `GiB/s: median and 95 % interval`.
    pub fn caption(&self, scale: &ValueScale) -> String {
        let parts = [scale.about(), self.about.clone()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    }
}

#[derive(Default)]
pub struct Panel {
    /// The part of its curves' names that the other panels lack; empty for a single panel.
    pub title: String,
    pub curves: Vec<PanelCurve>,
    pub expected: Vec<EstimateLine>,
    /// Latencies over time in place of curves, and the hue of their backend.
    pub heat: Option<(HeatLog, usize)>,
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

pub struct PanelCurve {
    /// Index into the keys of the group.
    pub key: usize,
    pub points: Vec<FigurePoint>,
}

/// Returns the points of all curves.
pub fn points(panels: &[Panel]) -> impl Iterator<Item = &FigurePoint> + Clone {
    panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points)
}

/// Returns the expected lines.
pub fn estimates(panels: &[Panel]) -> impl Iterator<Item = &EstimateLine> {
    panels.iter().flat_map(|panel| &panel.expected)
}

/// Returns all values that a scale must hold.
pub fn spans(panels: &[Panel]) -> impl Iterator<Item = ValueSpan> {
    let lines = estimates(panels).flat_map(|line| &line.points);
    let lines = lines.map(|(_, rate)| (*rate, *rate, *rate));
    points(panels).map(|point| point.span).chain(lines)
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub struct FigurePoint {
    pub at: f64,
    pub span: ValueSpan,
    /// The expected value.
    pub expected: Option<(f64, f64)>,
    pub wrong: bool,
    /// The index of its result.
    pub of: usize,
}

/// Cells without a curve: a bar each, on a common scale.
pub struct FigureBars {
    pub title: String,
    /// Whether its cells are jobs, not probes.
    pub jobs: bool,
    pub scale: ValueScale,
    pub rows: Vec<FigureBar>,
}

pub struct FigureBar {
    /// Index into the keys of the group.
    pub key: usize,
    pub label: String,
    pub point: FigurePoint,
    pub show: String,
    /// Reported values with their sources.
    pub reported: Vec<(String, f64)>,
}

/// The look of the points of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesMark {
    /// Index into [`MARKS`].
    pub shape: usize,
    pub fill: MarkFill,
}

/// The filling of a mark, which shows the page cache of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkFill {
    /// Cold, or without a cache state.
    Full,
    /// Warm.
    Hollow,
    /// As the previous trial left it: hollow, and pale.
    Pale,
}

impl MarkFill {
    /// Returns the width of a mark's line.
    pub fn line_width(self) -> f64 {
        match self {
            MarkFill::Full => 0.8,
            MarkFill::Hollow => 1.8,
            MarkFill::Pale => 1.0,
        }
    }
}

impl LegendKey {
    /// Returns the entry of another series than a backend, by its index.
    pub fn ordinal(name: String, index: usize, line: LineStyle) -> LegendKey {
        let fill = if line == LineStyle::Marks { MarkFill::Hollow } else { MarkFill::Full };
        LegendKey { name, hue: index, mark: SeriesMark { shape: index % MARKS.len(), fill }, line }
    }

    /// Returns the entry of a series of jobs, in the colour and with the mark of its backend.
    pub fn of_sign(name: String, sign: Sign, line: LineStyle) -> LegendKey {
        let fill = match sign.cache {
            Cache::Cold => MarkFill::Full,
            Cache::Warm => MarkFill::Hollow,
            Cache::AsIs => MarkFill::Pale,
        };
        let own = match sign.identity.shape {
            Shape::Circle => 0,
            Shape::Square => 1,
            Shape::Up => 2,
            Shape::Right => 3,
            Shape::Left => 4,
            Shape::Letter => 5 + usize::from(sign.identity.letter as u8 - b'A') % (MARKS.len() - 5),
        };
        let shape = if sign.extra == 0 { own } else { (own + 5 + sign.extra) % MARKS.len() };
        LegendKey { name, hue: sign.hue(), mark: SeriesMark { shape, fill }, line }
    }

    /// Returns the entry of expected values.
    pub fn of_estimate(name: String) -> LegendKey {
        LegendKey { line: LineStyle::Dotted, ..LegendKey::ordinal(name, 0, LineStyle::Marks) }
    }

    pub fn color(&self) -> &'static str {
        match self.line {
            LineStyle::Dotted | LineStyle::Marks => NEUTRAL,
            LineStyle::Solid | LineStyle::Dashed => COLORS[self.hue % COLORS.len()],
        }
    }
}

/// Closed shapes around 0, so that each can be hollow: first a circle, then these corners.
pub const MARKS: [&[(f64, f64)]; 16] = [
    &[],
    &[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)],
    &[(0.0, -4.8), (4.8, 3.5), (-4.8, 3.5)],
    &[(4.8, 0.0), (-3.5, 4.8), (-3.5, -4.8)],
    &[(-4.8, 0.0), (3.5, -4.8), (3.5, 4.8)],
    &[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)],
    &[(0.0, 4.8), (-4.8, -3.5), (4.8, -3.5)],
    &[(-4.6, 0.0), (-2.3, -4.0), (2.3, -4.0), (4.6, 0.0), (2.3, 4.0), (-2.3, 4.0)],
    &[(0.0, -4.8), (4.6, -1.5), (2.8, 3.9), (-2.8, 3.9), (-4.6, -1.5)],
    &[(-4.5, -4.5), (4.5, -4.5), (-4.5, 4.5), (4.5, 4.5)],
    &[(-4.5, -4.5), (-4.5, 4.5), (4.5, -4.5), (4.5, 4.5)],
    &[(-5.0, -2.0), (5.0, -2.0), (5.0, 2.0), (-5.0, 2.0)],
    &[(-2.0, -5.0), (2.0, -5.0), (2.0, 5.0), (-2.0, 5.0)],
    &[
        (0.0, -5.5),
        (1.4, -1.4),
        (5.5, 0.0),
        (1.4, 1.4),
        (0.0, 5.5),
        (-1.4, 1.4),
        (-5.5, 0.0),
        (-1.4, -1.4),
    ],
    &[(-3.0, -4.0), (3.0, -4.0), (5.0, 4.0), (-5.0, 4.0)],
    &[(-5.0, -4.0), (5.0, -4.0), (3.0, 4.0), (-3.0, 4.0)],
];

/// The mark of a value that a reference machine reported.
pub const DIAMOND: usize = 5;

/// The radius of the round mark.
pub const ROUND: f64 = 4.0;
