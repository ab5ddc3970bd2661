//! Curves as the charts of the screens draw them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::keymap::Action;
use super::plot::{self, Chart, Draw, Point, Scale, Series};
use super::theme::{Look, Role};
use super::values::Values;
use crate::analysis::{self, Axis, Bounds};
use crate::plan::{Cache, Job};

pub use crate::analysis::{Curve, CurvePoint, Metric, axis_of_curves, curves, leave_out_singles};

/// Returns the line style that shows the cache state: cold curves are dashed.
pub fn line_of(curve: &Curve) -> Draw {
    if curve.cache == Cache::Cold { Draw::Dashed } else { Draw::LineAndMarkers }
}

/// Returns the points of a curve for a chart, with their intervals and with its gaps.
pub fn chart_points(curve: &Curve) -> Vec<Point> {
    let points =
        curve.points.iter().map(|point| Point::new(point.x, point.y).within(point.low, point.high));
    let mut drawn: Vec<Point> = points.chain(curve.gaps.iter().map(|x| Point::gap(*x))).collect();
    drawn.sort_by(|a, b| a.x.total_cmp(&b.x));
    drawn
}

/// Returns the metric that an action plots.
pub fn metric_of(action: Action) -> Option<Metric> {
    match action {
        Action::Throughput => Some(Metric::Throughput),
        Action::Operations => Some(Metric::Operations),
        Action::Commits => Some(Metric::Commits),
        Action::SystemCalls => Some(Metric::SystemCalls),
        Action::Latency => Some(Metric::Latency),
        Action::Cpu => Some(Metric::Cpu),
        _ => None,
    }
}

/// Returns the metrics whose axis starts on the scale that is not their default.
pub fn flipped_metrics(look: &Look) -> Vec<Metric> {
    let is_flipped =
        |metric: &Metric| look.begins_log(metric.usually_log()) != metric.usually_log();
    Metric::ALL.iter().copied().filter(is_flipped).collect()
}

/// The expected values of jobs, drawn as a dotted curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// `estimate: call and copy`.
    pub name: String,
    /// The measurements that it is computed from.
    pub reason: String,
    pub points: Vec<Point>,
}

impl Expected {
    pub fn series<'a>(&'a self, look: &Look) -> Series<'a> {
        let style = look.style(Role::Rule);
        Series { style, ..Series::new(look, 0, &self.name, &self.points).draw(Draw::Dotted) }
    }
}

/// Returns the estimates of these jobs, where bytes per second are shown.
pub fn expected_line<'a>(
    jobs: impl Iterator<Item = &'a Job>,
    axis: Axis,
    metric: Metric,
    bounds: &Bounds,
) -> Vec<Expected> {
    if metric != Metric::Throughput {
        return Vec::new();
    }
    let line = |line: analysis::EstimateLine| {
        let points = line.points.into_iter().map(|(x, y)| Point::new(x, y)).collect();
        Expected { name: line.name, reason: line.reason, points }
    };
    analysis::estimate_lines(jobs, axis, bounds).into_iter().map(line).collect()
}

/// A curve with its looks.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    pub curve: &'a Curve,
    /// Written at its end; empty: nothing.
    pub name: &'a str,
    pub style: Style,
    pub marker: char,
    /// Its line style; its points always have markers.
    pub draw: Draw,
    pub emphasis: bool,
}

impl<'a> Drawn<'a> {
    pub fn new(curve: &'a Curve, (style, marker): (Style, char)) -> Drawn<'a> {
        Drawn { curve, name: "", style, marker, draw: line_of(curve), emphasis: false }
    }
}

/// The axes of a chart of curves; `log`: the value axis is logarithmic.
#[derive(Debug, Clone, Copy)]
pub struct Axes {
    pub along: Axis,
    pub metric: Metric,
    pub log: bool,
    /// The part of the axis that is shown; `None`: all.
    pub between: Option<(f64, f64)>,
}

pub fn draw_curves(
    look: &Look,
    axes: Axes,
    drawn: &[Drawn],
    cursor: Option<f64>,
    area: Rect,
    buf: &mut Buffer,
) {
    with_chart(look, axes, drawn, cursor, |chart| chart.render(area, buf));
}

/// Builds the chart and passes it to `then`, for drawing and for the mouse.
pub fn with_chart<R>(
    look: &Look,
    Axes { along: axis, metric, log, between }: Axes,
    drawn: &[Drawn],
    cursor: Option<f64>,
    then: impl FnOnce(&Chart) -> R,
) -> R {
    let all: Vec<Vec<Point>> = drawn.iter().map(|one| chart_points(one.curve)).collect();
    let series: Vec<Series> = drawn
        .iter()
        .zip(&all)
        .flat_map(|(one, points)| {
            let Drawn { name, style, marker, draw, emphasis, .. } = *one;
            Series { name, points, style, marker, draw, emphasis }.with_markers()
        })
        .collect();
    let (low, high) = between.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let inside = all.iter().flatten().filter(|point| (low..=high).contains(&point.x));
    let values = Values::new(metric, log, look.unit, inside.map(|point| point.y));
    let (show_x, show_y) = (|x: f64| axis.short(x), |y: f64| values.tick(y));
    let x = plot::Axis::new(Scale::along(axis), &show_x);
    let x = between.map_or(x, |(low, high)| x.between(low, high));
    then(&Chart::new(look, x, values.axis(&show_y), &series).names(true).cursor(cursor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Sign;
    use crate::catalog::identity;
    use crate::curves::CurvePoint;
    use crate::plan::Cache;

    #[test]
    fn cold_curves_are_dashed() {
        let look = Look::default();
        let point = |x: f64| {
            let none = f64::NAN;
            let (low, high, mean) = (none, none, none);
            CurvePoint { result: 0, x, y: 1e9, low, high, mean, worst: None }
        };
        let count = |cache: Cache, draw: Option<Draw>| {
            let sign = Sign { identity: identity("read"), cache, extra: 0 };
            let points = [4096.0, 65536.0].map(point).to_vec();
            let curve =
                Curve { name: "read".into(), sign, index: 0, cache, points, gaps: Vec::new() };
            let mut drawn = Drawn::new(&curve, (Style::new(), 'o'));
            drawn.draw = draw.unwrap_or(drawn.draw);
            let (along, metric) = (Axis::Block, Metric::Throughput);
            let axes = Axes { along, metric, log: false, between: None };
            let area = Rect::new(0, 0, 40, 8);
            let mut buf = Buffer::empty(area);
            draw_curves(&look, axes, &[drawn], None, area, &mut buf);
            let symbols = buf.content().iter().filter_map(|cell| cell.symbol().chars().next());
            symbols.filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count()
        };
        let (cold, warm) = (count(Cache::Cold, None), count(Cache::Warm, None));
        assert!(0 < cold && cold < warm, "{cold} of {warm}");
        assert_eq!(count(Cache::Cold, Some(Draw::LineAndMarkers)), warm);
    }
}
