//! A chart: its input, and the order in which its layers are drawn.

use ratatui::style::Style;

use super::axis::Axis;
use crate::theme::Look;

/// One point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    /// NaN: a gap, which interrupts the line.
    pub y: f64,
    /// The interval around `y`; NaN: none.
    pub low: f64,
    pub high: f64,
}

impl Point {
    /// Returns a point without an interval.
    pub const fn new(x: f64, y: f64) -> Point {
        Point { x, y, low: f64::NAN, high: f64::NAN }
    }

    pub const fn gap(x: f64) -> Point {
        Point::new(x, f64::NAN)
    }

    pub const fn within(self, low: f64, high: f64) -> Point {
        Point { low, high, ..self }
    }
}

/// The line style of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Draw {
    #[default]
    Line,
    /// Its markers only.
    Points,
    LineAndMarkers,
    Dashed,
    /// An estimate: far above the others it is outside the picture rather than pressing
    /// them flat.
    Dotted,
    /// Each value holds until the next.
    Step,
}

/// One curve.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    /// Written next to its last point if [`Chart::names`] is set.
    pub name: &'a str,
    pub points: &'a [Point],
    pub style: Style,
    /// [`Look::marker`] or [`Look::ordinal`]; also shows a point that has no neighbour.
    pub marker: char,
    pub draw: Draw,
    /// Bold, and above the others.
    pub emphasis: bool,
}

impl<'a> Series<'a> {
    /// Returns a curve with the colour and marker of an index, for anything but backends.
    pub fn new(look: &Look, index: usize, name: &'a str, points: &'a [Point]) -> Series<'a> {
        Series {
            name,
            points,
            style: look.series(index),
            marker: look.ordinal(index),
            draw: Draw::Line,
            emphasis: false,
        }
    }

    pub fn draw(self, draw: Draw) -> Series<'a> {
        Series { draw, ..self }
    }

    /// Returns it and, where its line has none, its markers as a series of their own, which then
    /// has the name.
    pub fn with_markers(self) -> impl Iterator<Item = Series<'a>> {
        let line = matches!(self.draw, Draw::Line | Draw::Dashed | Draw::Dotted | Draw::Step);
        let markers = if line { self.draw(Draw::Points) } else { self };
        line.then_some(Series { name: "", ..self }).into_iter().chain([markers])
    }
}

/// A horizontal line: a measured ceiling, the mean.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    pub at: f64,
    pub label: &'a str,
    pub style: Style,
}

/// Curves over two axes.
#[derive(Clone, Copy)]
pub struct Chart<'a> {
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    pub series: &'a [Series<'a>],
    pub rules: &'a [Rule<'a>],
    /// Show the intervals of the points: a band where they are dense, else whiskers.
    pub bands: bool,
    /// A vertical line at this x.
    pub cursor: Option<f64>,
    /// Write the name of each series next to its last point, where there is room.
    pub names: bool,
    pub look: &'a Look,
}

impl<'a> Chart<'a> {
    pub fn new(look: &'a Look, x: Axis<'a>, y: Axis<'a>, series: &'a [Series<'a>]) -> Chart<'a> {
        Chart { x, y, series, rules: &[], bands: false, cursor: None, names: false, look }
    }

    pub fn rules(self, rules: &'a [Rule<'a>]) -> Chart<'a> {
        Chart { rules, ..self }
    }

    pub fn bands(self, bands: bool) -> Chart<'a> {
        Chart { bands, ..self }
    }

    pub fn cursor(self, cursor: Option<f64>) -> Chart<'a> {
        Chart { cursor, ..self }
    }

    pub fn names(self, names: bool) -> Chart<'a> {
        Chart { names, ..self }
    }

    /// Visits the series from the back to the front.
    pub(super) fn for_each_series(&self, mut visit: impl FnMut(&Series)) {
        for front in [false, true] {
            self.series.iter().filter(|series| series.emphasis == front).for_each(&mut visit);
        }
    }
}
