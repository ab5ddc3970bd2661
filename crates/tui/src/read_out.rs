//! The read-out of a chart: one line about the point nearest to the pointer.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::widgets::{Clear, Widget};

use super::curves::{Curve, CurvePoint, Metric};
use super::plot::Chart;
use super::theme::{Look, Role};
use super::view::pane;
use crate::analysis::CellResult;
use crate::report::table::origin;
use crate::units;

/// Maximum distance between the pointer and the point that is read, in columns.
pub const READ_REACH: i32 = 12;
/// Maximum distance between a click and the point that it selects, in columns.
pub const CLICK_REACH: i32 = 2;

/// The points of a chart with the indexes of their curves and their positions on the screen.
#[derive(Debug)]
pub struct LocatedPoints {
    points: Vec<(usize, CurvePoint)>,
    cells: Vec<Option<Position>>,
    pub plot: Rect,
}

impl LocatedPoints {
    pub fn new<'a>(
        chart: &Chart,
        area: Rect,
        curves: impl Iterator<Item = (usize, &'a Curve)>,
    ) -> LocatedPoints {
        let points: Vec<(usize, CurvePoint)> = curves
            .flat_map(|(index, curve)| curve.points.iter().map(move |point| (index, *point)))
            .collect();
        let cells = chart.locate(area, points.iter().map(|(_, point)| (point.x, point.y)));
        LocatedPoints { points, cells, plot: chart.plot_area(area) }
    }

    /// Returns curve, point and position of the nearest point within `reach` columns.
    pub fn nearest(&self, at: Position, reach: i32) -> Option<(usize, CurvePoint, Position)> {
        let near = nearest_within(at, &self.cells, reach)?;
        let (curve, point) = self.points.get(near)?;
        Some((*curve, *point, (*self.cells.get(near)?)?))
    }
}

/// Returns the index of the nearest point: a row is as high as two columns are wide.
fn nearest_within(at: Position, points: &[Option<Position>], reach: i32) -> Option<usize> {
    let away = |point: &Position| {
        let (columns, rows) =
            (i32::from(point.x) - i32::from(at.x), 2 * (i32::from(point.y) - i32::from(at.y)));
        columns * columns + rows * rows
    };
    points
        .iter()
        .enumerate()
        .filter_map(|(index, point)| Some((index, away(point.as_ref()?))))
        .filter(|(_, away)| *away <= reach * reach)
        .min_by_key(|(_, away)| *away)
        .map(|(index, _)| index)
}

/// Describes a point: `read warm  64 KiB  6.20 GiB/s ±23 %, cache 99 %`.
pub fn describe(
    look: &Look,
    (name, place): (&str, &str),
    metric: Metric,
    point: &CurvePoint,
    result: Option<&CellResult>,
) -> String {
    let mut text = format!("{name}  {place}  {}", metric.show(point.y, look.unit));
    match metric {
        _ if point.high.is_nan() => {}
        Metric::Latency => text += &format!(", p99 {}", units::show_nanos(point.high)),
        _ => {
            let half = point.half_percent().map(units::show_percent);
            text.extend(half.map(|half| format!(" ±{half} %")));
        }
    }
    text.extend(result.and_then(origin::describe_source).map(|source| format!(", {source}")));
    text
}

/// Draws the line above its point, or below at the top of the chart, and lights the point.
pub fn draw(look: &Look, text: &str, at: Position, plot: Rect, buf: &mut Buffer) {
    let plot = plot.intersection(buf.area);
    if !plot.contains(at) || plot.width < 4 {
        return;
    }
    if let Some(cell) = buf.cell_mut(at) {
        cell.modifier |= Modifier::REVERSED | Modifier::BOLD;
    }
    let text = format!(" {} ", pane::fit(text, usize::from(plot.width - 2)));
    let width = pane::width(&text) as u16;
    let y = if at.y > plot.y { at.y - 1 } else { at.y + 1 };
    let last = plot.right().saturating_sub(width).max(plot.x);
    let x = at.x.saturating_sub(width / 2).clamp(plot.x, last);
    let place = Rect::new(x, y, width, 1).intersection(plot);
    Clear.render(place, buf);
    look.line(Role::Selected, text).render(place, buf);
}

/// Two clicks at one place within this time are a double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pointer {
    /// Its position over a chart; `None` elsewhere.
    pub over: Option<Position>,
    last: Option<(Duration, Position)>,
}

impl Pointer {
    /// Notes that the button was pressed; returns whether that is the second click of two.
    pub fn press(&mut self, now: Duration, at: Position) -> bool {
        let is_second = self.last.is_some_and(|(before, place)| {
            place == at && now.saturating_sub(before) <= DOUBLE_CLICK
        });
        // A third click is the first of the next two.
        self.last = (!is_second).then_some((now, at));
        is_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_count_as_two_columns() {
        let points = [Some((10, 10)), None, Some((16, 10)), Some((10, 13))]
            .map(|at| at.map(|(x, y)| Position::new(x, y)));
        let at = |x, y| nearest_within(Position::new(x, y), &points, READ_REACH);
        assert_eq!([at(10, 10), at(14, 10), at(10, 12)], [Some(0), Some(2), Some(3)]);
        assert_eq!([at(40, 10), at(10, 30)], [None, None]);
    }

    #[test]
    fn read_outs_name_the_source() {
        let mut read = crate::testing::shown().results.remove(0);
        let mut written = read.clone();
        written.cell.op = crate::plan::Op::Write;
        let none = crate::record::Source {
            device: 0.0,
            page_cache: 0.0,
            hole: 0.0,
            unknown: 0.0,
            below: 0.0,
        };
        read.source = Some(crate::record::Source { device: 1.0, ..none });
        written.source = Some(crate::record::Source { unknown: 1.0, ..none });
        let point = |low, high| CurvePoint {
            result: 0,
            x: 4096.0,
            y: 1e9,
            low,
            high,
            mean: 1e9,
            worst: None,
        };
        let said = |point, result: Option<&CellResult>| {
            describe(&Look::default(), ("pread", "4 KiB"), Metric::Throughput, &point, result)
        };
        assert_eq!(
            said(point(0.98e9, 1.01e9), Some(&read)),
            "pread  4 KiB  954 MiB/s ±2.0 %, device 100 %"
        );
        assert_eq!(
            said(point(0.9e9, 1.1e9), Some(&written)),
            "pread  4 KiB  954 MiB/s ±10 %, written"
        );
        assert_eq!(said(point(f64::NAN, f64::NAN), None), "pread  4 KiB  954 MiB/s");
    }

    #[test]
    fn the_line_stays_inside() {
        let plot = Rect::new(5, 2, 30, 6);
        for (x, y) in [(5, 2), (34, 2), (5, 7), (34, 7), (20, 4), (0, 0), (99, 99)] {
            let mut buf = Buffer::empty(Rect::new(0, 0, 40, 10));
            draw(&Look::default(), "read warm  64 KiB", Position::new(x, y), plot, &mut buf);
            let drawn: String = buf.content.iter().map(|cell| cell.symbol()).collect();
            assert_eq!(
                drawn.contains("read warm  64 KiB"),
                plot.contains((x, y).into()),
                "{x} {y}"
            );
        }
        draw(&Look::default(), "x", Position::new(0, 0), plot, &mut Buffer::empty(Rect::ZERO));
    }

    #[test]
    fn quick_clicks_are_a_double_click() {
        let mut pointer = Pointer::default();
        let (here, there) = (Position::new(3, 4), Position::new(4, 4));
        let mut press = |millis, at| pointer.press(Duration::from_millis(millis), at);
        assert!(!press(0, here));
        assert!(press(300, here));
        assert!(!press(400, here), "a third press is no double click");
        assert!(!press(500, there));
        assert!(!press(2000, there));
    }
}
