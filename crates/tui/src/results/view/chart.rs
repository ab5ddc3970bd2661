//! The chart: a curve per backend and cache state; where nothing varies along an axis, bars.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{ResultsScene, bars};
use crate::context::ViewContext;
use crate::curves::{self, Curve, Metric};
use crate::plot::{Axis, Chart, Draw, Point, Rule, Scale, Series};
use crate::read_out::{self, CLICK_REACH, LocatedPoints, READ_REACH};
use crate::results::data::{CurvePoints, Data};
use crate::results::state::{Results, TabKind};
use crate::theme::{Look, Role};
use crate::units::column::Unit;
use crate::values::Values;
use crate::view::pane;
use crate::zoom::{Zoom, ZoomChart};

/// Maximum number of drawn curves; with more, only curves around the selected one are drawn.
const MAX_CURVES: usize = 40;

/// Returns the curves to draw.
fn visible<'a>(results: &Results, data: &'a Data) -> Vec<(usize, &'a Curve, &'a CurvePoints)> {
    let on = data
        .curves
        .iter()
        .zip(&data.points)
        .enumerate()
        .filter(|(_, (curve, _))| !results.is_hidden(curve));
    let all: Vec<_> = on.map(|(at, (curve, drawn))| (at, curve, drawn)).collect();
    let cursor = all.iter().position(|(at, ..)| *at >= results.chart.series).unwrap_or(0);
    let first = pane::first_row(cursor, all.len(), MAX_CURVES);
    all.into_iter().skip(first).take(MAX_CURVES).collect()
}

/// The series and rules that a chart borrows.
struct ChartParts<'a> {
    series: Vec<Series<'a>>,
    rules: Vec<Rule<'a>>,
}

fn chart_parts(scene: ResultsScene<'_>) -> ChartParts<'_> {
    let ResultsScene { look, results, data } = scene;
    let on =
        data.expected.iter().filter(|line| !results.chart.hidden_estimates.contains(&line.name));
    let selected = results.expected_at(results.chart.series);
    let mut series: Vec<Series> = on
        .map(|line| Series {
            emphasis: selected.is_some_and(|selected| selected.name == line.name),
            ..line.series(look)
        })
        .collect();
    for (at, curve, drawn) in visible(results, data) {
        let selected = at == results.chart.series;
        let series_of = |points, draw| Series {
            name: "",
            points,
            style: look.series(curve.sign.hue()),
            marker: look.marker(curve.sign),
            draw,
            emphasis: selected,
        };
        if results.chart.mean && drawn.means.iter().any(|p| p.y.is_finite()) {
            let faint = look.style(Role::Dim);
            series.push(Series {
                style: faint,
                emphasis: false,
                ..series_of(&drawn.means, Draw::Dashed)
            });
        }
        let medians = series_of(&drawn.medians, curves::line_of(curve));
        series.extend(Series { name: &curve.name, ..medians }.with_markers());
    }
    let ceilings = data.ceilings.iter().filter(|_| data.metric == Metric::Throughput);
    let rules = ceilings
        .map(|(label, at)| Rule { at: *at, label, style: look.style(Role::Rule) })
        .collect();
    ChartParts { series, rules }
}

fn wrong_sign(look: &Look) -> char {
    look.glyph("×", "X").chars().next().unwrap_or('X')
}

/// Returns the signs of misleading and wrong points, each one row above its point, or one row below
/// it at the top of the chart.
fn warning_points(scene: ResultsScene, chart: &Chart, rows: u16) -> [Vec<Point>; 2] {
    let (low, high) = chart.y_range();
    let even = |y: f64| if chart.y.scale == Scale::Linear { y } else { y.ln() };
    let back = |y: f64| if chart.y.scale == Scale::Linear { y } else { y.exp() };
    let row = (even(high) - even(low)) / f64::from(rows.max(1));
    let beside = |point: &Point| {
        let above = even(point.y) + row;
        Point::new(point.x, back(if above > even(high) { even(point.y) - row } else { above }))
    };
    let all = visible(scene.results, scene.data);
    let of = |points: fn(&CurvePoints) -> &Vec<Point>| {
        all.iter().flat_map(|(_, _, drawn)| points(drawn)).map(beside).collect()
    };
    [of(|drawn| &drawn.misleading), of(|drawn| &drawn.wrong)]
}

/// Returns the first and last visible x.
fn visible_ends(ResultsScene { results, data, .. }: ResultsScene) -> (f64, f64) {
    let all = Some((0, data.places.count().saturating_sub(1)));
    data.places.ends(results.chart.zoom.or(all)).unwrap_or((1.0, 2.0))
}

/// Returns the format of the values of visible points.
fn values_of(scene: ResultsScene, series: &[Series], ends: (f64, f64)) -> Values {
    let ResultsScene { look, results, data } = scene;
    let log = results.is_log(data.metric);
    let inside = series.iter().flat_map(|s| s.points).filter(|p| (ends.0..=ends.1).contains(&p.x));
    Values::new(data.metric, log, look.unit, inside.map(|p| p.y))
}

/// Returns the unit of the value axis; `None` if each tick has its own unit, and for bars.
pub fn unit(scene: ResultsScene) -> Option<Unit> {
    if !scene.data.is_curve() {
        return None;
    }
    let ChartParts { series, .. } = chart_parts(scene);
    values_of(scene, &series, visible_ends(scene)).unit()
}

/// Builds the chart of an area and passes it to `then`, for drawing and for the mouse.
pub fn with_chart<R>(scene: ResultsScene, area: Rect, then: impl FnOnce(&Chart) -> R) -> R {
    let ResultsScene { look, results, data } = scene;
    let ChartParts { series, rules } = chart_parts(scene);
    let ends = visible_ends(scene);
    let name = |x: f64| data.places.axis.tick(x);
    let x = Axis::new(Scale::along(data.places.axis), &name).between(ends.0, ends.1);
    let values = values_of(scene, &series, ends);
    let tick = |y: f64| values.tick(y);
    let y = values.axis(&tick);
    let chart =
        Chart::new(look, x, y, &series).rules(&rules).bands(true).names(true).cursor(results.x());
    if visible(results, data)
        .iter()
        .all(|(_, _, drawn)| drawn.misleading.is_empty() && drawn.wrong.is_empty())
    {
        return then(&chart);
    }
    let [misleading, wrong] = warning_points(scene, &chart, chart.plot_area(area).height);
    let sign = |points, role, marker| Series {
        style: look.style(role),
        marker,
        ..Series::new(look, 0, "", points).draw(Draw::Points)
    };
    let (low, high) = chart.y_range();
    // Behind the curves, because a marker matters more than its sign.
    let mut all =
        vec![sign(&misleading, Role::Misleading, '!'), sign(&wrong, Role::Wrong, wrong_sign(look))];
    all.extend(&series);
    then(&Chart { y: chart.y.between(low, high), series: &all, ..chart })
}

/// Returns the points of the visible curves with their curves and positions.
pub fn locate_points(scene: ResultsScene, area: Rect) -> LocatedPoints {
    let shown = visible(scene.results, scene.data);
    with_chart(scene, area, |chart| {
        LocatedPoints::new(chart, area, shown.iter().map(|(at, curve, _)| (*at, *curve)))
    })
}

pub fn draw(scene: ResultsScene, area: Rect, buf: &mut Buffer) {
    let ResultsScene { look, results, data } = scene;
    let area = pane::narrow(area);
    let nothing = data.view.describe_nothing();
    let text = if data.curves.is_empty() && data.results().is_empty() {
        let lines = pane::wrap(&nothing, area.width.into());
        let above = area.height.saturating_sub(lines.len() as u16) / 2;
        let lines = lines.into_iter().map(|line| look.line(Role::Dim, line).centered());
        return pane::lines(lines, above, area, buf);
    } else if data.curves.is_empty() {
        "no cell has a value for this metric"
    } else if data.curves.iter().all(|curve| results.is_hidden(curve)) {
        if results.kind == TabKind::Glance {
            "all curves are hidden"
        } else {
            "all curves are hidden: space shows the selected one"
        }
    } else if data.is_curve() {
        return with_chart(scene, area, |chart| chart.render(area, buf));
    } else {
        return bars::draw(scene, area, buf);
    };
    pane::line(look.line(Role::Dim, text).centered(), area.height / 2, area, buf);
}

/// Describes the point under the pointer on a chart.
pub fn draw_read_out(scene: ResultsScene, ctx: &ViewContext, area: Rect, buf: &mut Buffer) {
    let data = scene.data;
    let Some(at) = ctx.pointer.filter(|at| area.contains(*at)) else { return };
    let located = locate_points(scene, area);
    let Some((curve, point, place)) = located.nearest(at, READ_REACH) else { return };
    let name = data.curves.get(curve).map_or("", |curve| curve.name.as_str());
    let x = data.places.axis.show(point.x as u64);
    let result = data.results().get(point.result);
    let text = read_out::describe(ctx.look, (name, &x), data.metric, &point, result);
    read_out::draw(ctx.look, &text, place, located.plot, buf);
}

impl ZoomChart for Results {
    fn count_places(&self) -> usize {
        self.data.as_ref().map_or(0, |data| data.places.count())
    }

    fn place_at(&self, look: &Look, area: Rect, column: u16) -> Option<usize> {
        // An opened cell has another chart, without a zoom.
        let data = self.data.as_ref().filter(|_| self.open.is_none())?;
        let scene = ResultsScene { look, results: self, data };
        with_chart(scene, area, |chart| data.places.at_column(chart, area, column))
    }

    fn part(&self, _: &Look, _: Rect) -> Zoom {
        self.chart.zoom
    }

    /// The cursor stays inside.
    fn show_part(&mut self, part: Zoom) {
        self.chart.zoom = part;
        if let Some((first, last)) = part {
            self.chart.x = self.chart.x.clamp(first, last.max(first));
        }
    }
}

/// Puts the cursor where the chart was clicked, on the nearest curve.
pub fn select(results: &mut Results, look: &Look, area: Rect, at: Position) {
    let Some(data) = &results.data else { return };
    let scene = ResultsScene { look, results, data };
    let near = locate_points(scene, area).nearest(at, CLICK_REACH);
    if let Some((curve, point, _)) = near {
        results.chart.series = curve;
        results.set_x(point.x);
    } else if let Some(place) = results.place_at(look, area, at.x) {
        results.chart.x = place;
        results.pan();
    }
}
