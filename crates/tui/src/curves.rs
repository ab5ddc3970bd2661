//! Curves as the charts of the screens draw them.

use super::keymap::Action;
use super::plot::{Draw, Point, Series};
use super::theme::{Look, Role};
use crate::analysis::{self, Axis, Bounds};
use crate::plan::{Cache, Job};

pub use crate::analysis::{Curve, CurvePoint, Metric, axis_of_curves, curves, leave_out_singles};

/// Returns how a curve is drawn where lines tell the cache state: what is cold is dashed.
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

/// What jobs are expected to reach, drawn dotted beside what they do.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// `estimate: call and copy`.
    pub name: String,
    /// What it was made from.
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
