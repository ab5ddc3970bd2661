//! A chart: its input, and the order in which its layers are drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::axis::Axis;
use super::canvas::Canvas;
use super::curve::Curve;
use super::frame::Frame;
use super::overlay::{self, Marks};
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

impl Chart<'_> {
    /// Draws the chart inside `area`, or nothing without room.
    pub fn render(&self, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        let Some(frame) = Frame::new(self, area) else { return };
        frame.draw(self, buf);
        let mut canvas = Canvas::new(buf, frame.plot, self.look.graph());
        let mut curve = Curve::new(&frame);
        // Later layers cover earlier ones: markers cover lines, an emphasised series covers the
        // others. Bands, rules, cursor and names only take the cells that are left.
        self.for_each_series(|series| curve.draw_line(series, &mut canvas));
        if self.bands {
            self.for_each_series(|series| curve.draw_band(series, &mut canvas));
        }
        let mut marks = Marks::default();
        self.for_each_series(|series| {
            let cells = curve.draw_markers(series, &mut canvas);
            marks.add(series, cells);
        });
        overlay::draw_rules(self, &frame, &mut canvas);
        overlay::draw_cursor(self, &frame, &mut canvas);
        overlay::draw_labels(self, &frame, &mut canvas);
        if self.names {
            overlay::draw_names(self, &frame, &marks, &mut canvas);
        }
    }

    /// Returns where the curves are, inside of the labels.
    pub fn plot_area(&self, area: Rect) -> Rect {
        Frame::new(self, area).map_or(Rect::ZERO, |frame| frame.plot)
    }

    /// Returns the cell of the screen of each point; None outside of the plot.
    pub fn locate(
        &self,
        area: Rect,
        points: impl Iterator<Item = (f64, f64)>,
    ) -> Vec<Option<Position>> {
        let Some(frame) = Frame::new(self, area) else { return points.map(|_| None).collect() };
        let locate = |(x, y): (f64, f64)| {
            let inside = (-1e-9..=1.0 + 1e-9).contains(&frame.y.share(y));
            let column = frame.column_of(x).filter(|_| inside)?;
            Some(Position::new(column, frame.plot.y + frame.row_of(y, frame.plot.height)))
        };
        points.map(locate).collect()
    }

    /// Returns the x under a column of the screen, for the mouse; `None` outside of the plot.
    pub fn x_at(&self, area: Rect, column: u16) -> Option<f64> {
        let frame = Frame::new(self, area)?;
        let inside = column >= frame.plot.left() && column < frame.plot.right();
        inside.then(|| frame.x.value(frame.share_of(column)))
    }

    /// Returns the ends of the y axis, for an axis that is to stay.
    pub fn y_range(&self) -> (f64, f64) {
        Frame::y_range(self, &Frame::x_range(self)).ends()
    }
}
