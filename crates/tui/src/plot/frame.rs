//! The layout of a chart: its plot, and its axes with their labels.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::axis::{Range, extremes, fit_x, fit_y, row_labels, ticks_between_ends};
use super::canvas::dots_per_cell;
use super::chart::{Chart, Draw, Point};
use crate::theme::Role;

/// A word below the axis.
pub(super) struct Label {
    /// The column of its tick.
    pub at: u16,
    /// Its first column.
    pub start: u16,
    pub text: String,
}

/// A chart laid out in an area.
pub(super) struct Frame {
    pub plot: Rect,
    pub x: Range,
    pub y: Range,
    /// Columns and rows of dots in one cell.
    dots: (u16, u16),
    /// Axes and labels are shown.
    axes: bool,
    /// A row for the labels below; else they are written into the axis.
    below: bool,
    /// A row above for the title of y.
    titled: bool,
    /// The columns from which the plot's labels may begin and where they must end.
    left: u16,
    right: u16,
    rows: Vec<(u16, String)>,
    columns: Vec<Label>,
}

impl Frame {
    /// Lays out a chart; `None` without room for a curve.
    pub fn new(chart: &Chart, area: Rect) -> Option<Frame> {
        if area.width < 3 || area.height < 2 {
            return None;
        }
        let x = Self::x_range(chart);
        let y = Self::y_range(chart, &x);
        let axes = area.width >= 12 && area.height >= 4;
        let (left, right) = (area.x, area.right());
        let (below, titled) =
            (axes && area.height >= 7, axes && area.height >= 9 && !chart.y.title.is_empty());
        let mut frame = Frame {
            plot: area,
            x,
            y,
            dots: dots_per_cell(chart.look.graph()),
            axes,
            below,
            titled,
            left,
            right,
            rows: Vec::new(),
            columns: Vec::new(),
        };
        if axes {
            frame.lay_out(chart, area);
        }
        Some(frame)
    }

    pub fn x_range(chart: &Chart) -> Range {
        let values = chart
            .series
            .iter()
            .flat_map(|series| series.points)
            .filter(|p| p.y.is_finite())
            .map(|p| p.x);
        fit_x(&chart.x, extremes(chart.x.scale, values))
    }

    /// Returns the range that fits what is visible between the ends of x, so that zooming in shows
    /// more.
    pub fn y_range(chart: &Chart, x: &Range) -> Range {
        let scale = chart.y.scale;
        let drawn = |dotted: bool| {
            chart.series.iter().filter(move |series| (series.draw == Draw::Dotted) == dotted)
        };
        let measured = drawn(false).flat_map(|series| series.points).any(|p| p.y.is_finite());
        let points =
            || drawn(!measured).flat_map(|series| series.points).filter(|p| p.y.is_finite());
        let heights =
            |p: &Point| if chart.bands { [p.y, p.low, p.high] } else { [p.y, f64::NAN, f64::NAN] };
        let is_visible = |p: &&Point| (-1e-9..=1.0 + 1e-9).contains(&x.share(p.x));
        let visible_or_all = |of: &dyn Fn(&Point) -> [f64; 3]| {
            extremes(scale, points().filter(is_visible).flat_map(of))
                .or_else(|| extremes(scale, points().flat_map(of)))
        };
        let data = visible_or_all(&heights);
        // A rule or an estimate far above the curves would press them flat, and a wide interval
        // says nothing about where they are; the label of a rule is enough then.
        let curves = visible_or_all(&|p| [p.y, f64::NAN, f64::NAN]);
        let near = |at: &f64| match curves {
            Some((lo, hi)) if scale == super::Scale::Linear && hi > 0.0 => {
                (lo - hi.max(hi - lo)..=hi * 2.0).contains(at)
            }
            _ => true,
        };
        let expected = drawn(true).flat_map(|series| series.points).filter(is_visible).map(|p| p.y);
        let rules =
            extremes(scale, chart.rules.iter().map(|rule| rule.at).chain(expected).filter(near));
        let both = [data, rules].into_iter().flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        fit_y(&chart.y, both)
    }

    fn lay_out(&mut self, chart: &Chart, area: Rect) {
        let title = u16::from(self.titled);
        let height = area.height - 1 - u16::from(self.below) - title;
        let row_of = |value| area.y + title + self.row_of(value, height);
        // The title is the unit, and stands above where there is a row for it.
        let unit = if self.titled { "" } else { chart.y.title };
        self.rows = row_labels(&self.y, &chart.y, unit, height, &row_of);
        let widest = self.rows.iter().map(|(_, text)| text.width()).max().unwrap_or(0);
        let wide = if widest > usize::from(area.width) / 2 { 0 } else { widest as u16 };
        if wide == 0 {
            self.rows.clear();
        }
        self.plot = Rect::new(area.x + wide + 1, area.y + title, area.width - wide - 1, height);
        // Inside the axis a label must not cover the corner.
        self.left = if self.below { area.x } else { self.plot.x };
        self.columns = self.column_labels(chart);
    }

    fn column_labels(&self, chart: &Chart) -> Vec<Label> {
        let axis = &chart.x;
        let place = |values: &[f64]| -> Vec<Label> {
            values.iter().filter_map(|value| self.label(*value, (axis.show)(*value))).collect()
        };
        let gap = if self.below { 2 } else { 3 };
        let apart =
            |pair: &[Label]| pair[0].end() + gap <= pair[1].start && pair[0].text != pair[1].text;
        let most = usize::from(self.plot.width / 3).max(2);
        let values = ticks_between_ends(&self.x, axis, most, &mut |values| {
            place(values).windows(2).all(apart)
        });
        let mut labels = place(&values);
        if !labels.windows(2).all(apart) {
            // Not even two fit: the last one is the better known.
            labels = labels.pop().into_iter().collect();
        }
        labels
    }

    /// Returns a label centred below its value, moved inside where it would stick out.
    fn label(&self, value: f64, text: String) -> Option<Label> {
        let at = self.column_of(value)?;
        let width = text.width() as u16;
        let room = self.right.checked_sub(self.left)?;
        if width == 0 || width > room {
            return None;
        }
        let start = at.saturating_sub(width / 2).clamp(self.left, self.right - width);
        Some(Label { at, start, text })
    }

    /// Returns the column of the screen where a value of x is.
    pub fn column_of(&self, value: f64) -> Option<u16> {
        let (dots_per_cell, share) = (self.dots.0, self.x.share(value));
        let dots = f64::from(self.plot.width * dots_per_cell) - 1.0;
        // Ends that were computed back from the range may lie a hair outside.
        let inside = (-1e-6..=1.0 + 1e-6).contains(&share);
        inside.then(|| self.plot.x + (share.clamp(0.0, 1.0) * dots).round() as u16 / dots_per_cell)
    }

    /// Returns the row of a plot of this height where a value of y is, counted from the top.
    pub fn row_of(&self, value: f64, height: u16) -> u16 {
        let rows = f64::from(height * self.dots.1) - 1.0;
        ((1.0 - self.y.share(value).clamp(0.0, 1.0)) * rows).round() as u16 / self.dots.1
    }

    /// Returns the share of the x axis in the middle of a column.
    pub fn share_of(&self, column: u16) -> f64 {
        let dots_per_cell = f64::from(self.dots.0);
        let dots = (f64::from(self.plot.width) * dots_per_cell - 1.0).max(1.0);
        (f64::from(column.saturating_sub(self.plot.x)) * dots_per_cell
            + (dots_per_cell - 1.0) / 2.0)
            / dots
    }

    /// Draws the axes and their labels.
    pub fn draw(&self, chart: &Chart, buf: &mut Buffer) {
        if !self.axes {
            return;
        }
        let look = chart.look;
        let (line, dim) = (look.style(Role::Border), look.style(Role::Dim));
        let (plot, axis) = (self.plot, self.plot.x - 1);
        if self.titled {
            buf.set_stringn(
                self.left,
                plot.y - 1,
                chart.y.title,
                usize::from(self.right - self.left),
                dim,
            );
        }
        for row in plot.rows() {
            buf.set_string(axis, row.y, look.glyph("│", "|"), line);
        }
        for (row, text) in &self.rows {
            buf.set_string(axis - text.width() as u16, *row, text, dim);
            buf.set_string(axis, *row, look.glyph("┤", "+"), line);
        }
        let bottom = plot.bottom();
        buf.set_string(axis, bottom, look.glyph("└", "+"), line);
        for column in plot.left()..plot.right() {
            buf.set_string(column, bottom, look.glyph("─", "-"), line);
        }
        let row = if self.below { bottom + 1 } else { bottom };
        for label in &self.columns {
            if self.below {
                buf.set_string(label.at, bottom, look.glyph("┬", "+"), line);
                buf.set_string(label.start, row, &label.text, dim);
            } else {
                // A blank on both sides, as far as there is room: a minus sign is not part of the
                // axis.
                let before = u16::from(label.start > self.left);
                buf.set_stringn(label.start - before, row, " ", usize::from(before), dim);
                buf.set_string(label.start, row, &label.text, dim);
                buf.set_stringn(
                    label.end(),
                    row,
                    " ",
                    usize::from(self.right - label.end()).min(1),
                    dim,
                );
            }
        }
        self.draw_title(chart, buf);
    }

    /// Draws the title of x at the end of the axis, if there is room.
    fn draw_title(&self, chart: &Chart, buf: &mut Buffer) {
        let (title, width) = (chart.x.title, chart.x.title.width());
        if self.below && width > 0 && width + 8 <= usize::from(self.plot.width) {
            let start = self.plot.right() - width as u16 - 3;
            buf.set_string(
                start,
                self.plot.bottom(),
                format!(" {title} "),
                chart.look.style(Role::Dim),
            );
        }
    }
}

impl Label {
    fn end(&self) -> u16 {
        self.start + self.text.width() as u16
    }
}
