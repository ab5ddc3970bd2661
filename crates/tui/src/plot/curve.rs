//! One series: its line, its markers, its intervals.

use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthChar;

use super::canvas::{Canvas, Dash, dots_per_cell, put};
use super::chart::{Draw, Point, Series};
use super::frame::Frame;
use crate::stats::reduce;

/// Draws series after series; holds the dots of the piece that is drawn.
pub(super) struct Curve<'f> {
    frame: &'f Frame,
    piece: Vec<(f64, f64)>,
}

impl<'f> Curve<'f> {
    pub fn new(frame: &'f Frame) -> Curve<'f> {
        Curve { frame, piece: Vec::new() }
    }

    /// Returns a point in dots; NaN in one of them: nowhere.
    fn dots(&self, canvas: &Canvas, x: f64, y: f64) -> (f64, f64) {
        let (width, height) = canvas.size();
        // Infinity is not a measurement.
        let y = if y.is_finite() { y } else { f64::NAN };
        (self.frame.x.share(x) * (width - 1.0), (1.0 - self.frame.y.share(y)) * (height - 1.0))
    }

    /// Draws the line, interrupted by gaps.
    pub fn draw_line(&mut self, series: &Series, canvas: &mut Canvas) {
        if series.draw == Draw::Points {
            return;
        }
        let mut dash = match series.draw {
            Draw::Dashed => Dash { on: 3, off: 3, position: 0 },
            Draw::Dotted => Dash { on: 1, off: 2, position: 0 },
            _ => Dash::SOLID,
        };
        self.piece.clear();
        for point in series.points {
            let (x, y) = self.dots(canvas, point.x, point.y);
            if x.is_nan() || y.is_nan() {
                self.stroke(series.draw, &mut dash, canvas);
            } else {
                self.piece.push((x, y));
            }
        }
        self.stroke(series.draw, &mut dash, canvas);
        canvas.flush(series_style(series));
    }

    /// Draws the piece up to a gap and forgets it.
    fn stroke(&mut self, draw: Draw, dash: &mut Dash, canvas: &mut Canvas) {
        if let (Some(first), Some(last)) = (self.piece.first(), self.piece.last()) {
            let columns = (last.0 - first.0).abs().ceil() as usize + 1;
            if self.piece.len() > columns * 2 {
                self.piece = reduce(&self.piece, columns);
            }
        }
        if canvas.is_ascii() && draw != Draw::Step {
            self.merge_columns(canvas);
        }
        for pair in self.piece.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            if draw == Draw::Step {
                canvas.line(from, (to.0, from.1), dash);
                canvas.line((to.0, from.1), to, dash);
            } else {
                canvas.line(from, to, dash);
            }
        }
        self.piece.clear();
    }

    /// Merges points for plain characters, where a column can show one height or a span: the points
    /// of a column become their middle, and those far from it a vertical line behind the curve.
    fn merge_columns(&mut self, canvas: &mut Canvas) {
        let mut merged = 0;
        let mut start = 0;
        while start < self.piece.len() {
            let column = self.piece[start].0.round();
            let group = self.piece[start..].iter().take_while(|dot| dot.0.round() == column);
            let (mut count, mut top, mut bottom) = (0, f64::INFINITY, f64::NEG_INFINITY);
            for dot in group {
                (count, top, bottom) = (count + 1, top.min(dot.1), bottom.max(dot.1));
            }
            // Less than two rows is not a span.
            if bottom - top >= 6.0 {
                canvas.line((column, top), (column, bottom), &mut Dash::SOLID.clone());
            }
            let middle =
                if count > 1 { (column, f64::midpoint(top, bottom)) } else { self.piece[start] };
            self.piece[merged] = middle;
            merged += 1;
            start += count;
        }
        self.piece.truncate(merged);
    }

    /// Draws the markers, including one for each point without a line; returns their cells.
    pub fn draw_markers(&self, series: &Series, canvas: &mut Canvas) -> Vec<(u16, u16)> {
        let style = series_style(series);
        let marker = if series.marker.width() == Some(1) { series.marker } else { '*' };
        let mut before: Option<u16> = None;
        let mut shown = Vec::new();
        for (index, point) in series.points.iter().enumerate() {
            let (x, y) = self.dots(canvas, point.x, point.y);
            let Some((column, row)) = canvas.cell_of(x, y) else { continue };
            let is_shown = match series.draw {
                Draw::Points => true,
                // Side by side they would hide the line between them.
                Draw::LineAndMarkers => {
                    before.is_none_or(|at| column.abs_diff(at) >= 2)
                        || is_alone(series.points, index)
                }
                Draw::Line | Draw::Dashed | Draw::Dotted | Draw::Step => {
                    is_alone(series.points, index)
                }
            };
            if is_shown {
                before = Some(column);
                shown.push((column, row));
                if let Some(cell) = canvas.cell(column, row) {
                    cell.set_bg(Color::Reset);
                    put(cell, marker, style);
                }
            }
        }
        shown
    }

    /// Draws the intervals, behind everything else.
    pub fn draw_band(&self, series: &Series, canvas: &mut Canvas) {
        let has_interval = |p: &&Point| p.low.is_finite() && p.high.is_finite() && p.y.is_finite();
        let (first, last) = (
            series.points.iter().find(has_interval),
            series.points.iter().rev().find(has_interval),
        );
        let (Some(first), Some(last)) = (first, last) else { return };
        let columns = (self.frame.x.share(last.x) - self.frame.x.share(first.x)).abs()
            * f64::from(canvas.area.width);
        let count = series.points.iter().filter(has_interval).count();
        let style = series.style;
        if count as f64 * 2.0 <= columns.max(2.0) + 2.0 {
            series
                .points
                .iter()
                .filter(has_interval)
                .for_each(|point| self.draw_whisker(point, style, canvas));
        } else {
            let pairs =
                series.points.windows(2).filter(|pair| pair.iter().all(|p| has_interval(&p)));
            pairs.for_each(|pair| self.fill_band(&pair[0], &pair[1], canvas));
            canvas.flush_behind(style);
        }
    }

    /// Draws a vertical line through the middle of the point's column, precise to half a cell.
    fn draw_whisker(&self, point: &Point, style: Style, canvas: &mut Canvas) {
        let (x, low) = self.dots(canvas, point.x, point.low);
        let (_, high) = self.dots(canvas, point.x, point.high);
        let (columns, rows) = canvas.size();
        if low.is_nan() || high.is_nan() || !(-0.5..columns - 0.5).contains(&x) {
            return;
        }
        let (across, down) = dots_per_cell(canvas.graph);
        let column = canvas.area.x + x.round() as u16 / across;
        let (top, bottom) = rows_between(low, high, rows).into_inner();
        let down = i32::from(down);
        for row in top / down..=bottom / down {
            // The halves of the cell that are covered.
            let (upper, lower) = (top < row * down + down / 2, bottom >= row * down + down / 2);
            let symbol = match (upper, lower) {
                _ if canvas.is_ascii() => ':',
                (true, false) => '╵',
                (false, true) => '╷',
                _ => '│',
            };
            let row = canvas.area.y + row as u16;
            if top <= bottom
                && canvas.is_blank(column, row)
                && let Some(cell) = canvas.cell(column, row)
            {
                put(cell, symbol, style);
            }
        }
    }

    /// Draws a light pattern of dots between two points' intervals.
    fn fill_band(&self, from: &Point, to: &Point, canvas: &mut Canvas) {
        let ((x0, low0), (_, high0)) =
            (self.dots(canvas, from.x, from.low), self.dots(canvas, from.x, from.high));
        let ((x1, low1), (_, high1)) =
            (self.dots(canvas, to.x, to.low), self.dots(canvas, to.x, to.high));
        let (columns, rows) = canvas.size();
        if [x0, x1, low0, low1, high0, high1].iter().any(|dot| dot.is_nan()) || x1 < x0 {
            return;
        }
        for column in x0.round().max(0.0) as i32..=x1.round().min(columns) as i32 {
            let part =
                if x1 > x0 { ((f64::from(column) - x0) / (x1 - x0)).clamp(0.0, 1.0) } else { 0.0 };
            let (low, high) = (low0 + part * (low1 - low0), high0 + part * (high1 - high0));
            // Every second column, the rows of neighbours shifted: an eighth of the dots, no
            // stripes.
            let shift = (column / 2) % 2 * 2;
            let ascii = canvas.is_ascii();
            for dot in rows_between(low, high, rows).filter(|dot| {
                if ascii {
                    (dot / 3 + column) % 2 == 0
                } else {
                    column % 2 == 0 && (dot + shift) % 4 == 0
                }
            }) {
                canvas.dot(column, dot);
            }
        }
    }
}

/// Returns the rows of dots from one to the other that are on the canvas.
fn rows_between(low: f64, high: f64, rows: f64) -> std::ops::RangeInclusive<i32> {
    let (top, bottom) = (low.min(high).round().max(0.0), low.max(high).round().min(rows - 1.0));
    top as i32..=bottom as i32
}

/// Returns whether no line leads to the point: both its neighbours are gaps.
fn is_alone(points: &[Point], index: usize) -> bool {
    fn gap(point: Option<&Point>) -> bool {
        point.is_none_or(|p| !p.y.is_finite() || !p.x.is_finite())
    }
    gap(index.checked_sub(1).and_then(|i| points.get(i))) && gap(points.get(index + 1))
}

fn series_style(series: &Series) -> Style {
    if series.emphasis { series.style.add_modifier(Modifier::BOLD) } else { series.style }
}
