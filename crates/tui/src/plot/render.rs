//! Draws the layers of a chart in order.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::canvas::Canvas;
use super::chart::Chart;
use super::curve::Curve;
use super::frame::Frame;
use super::overlay::{self, Marks};

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
