//! Results so far: a curve per backend and cache state, with its intervals.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::scene::{LiveScene, frame};
use crate::curves::{self, Curve};
use crate::plot::{Axis, Bar, Bars, Chart, Point, Rule, Scale, Series};
use crate::theme::Role;
use crate::values::Values;
use crate::view::pane;

pub fn draw(scene: &LiveScene, area: Rect, buf: &mut Buffer) {
    let view = scene.view;
    let title = &view.title();
    let inner = frame(scene.look, title, Vec::new(), area, buf);
    let values = || view.plan.cells.iter().map(|job| view.axis.value_of(job) as f64);
    let (low, high) =
        values().fold((f64::INFINITY, 0.0), |(low, high), value| (value.min(low), value.max(high)));
    let is_known = !view.curves.is_empty() || !view.expected.is_empty();
    if !is_known {
        // An axis would be made up.
        let text = Line::from(scene.look.span(Role::Dim, "results appear here")).centered();
        return pane::line(text, inner.height / 2, inner, buf);
    }
    if low < high { chart(scene, (low, high), inner, buf) } else { bars(scene, inner, buf) }
}

fn chart(scene: &LiveScene, (low, high): (f64, f64), area: Rect, buf: &mut Buffer) {
    let view = scene.view;
    let points: Vec<Vec<Point>> = view.curves.iter().map(curves::chart_points).collect();
    let curves = view.curves.iter().zip(&points).flat_map(|(curve, points)| {
        let (style, marker) = (scene.look.series(curve.sign.hue()), scene.look.marker(curve.sign));
        let (name, draw) = (curve.name.as_str(), curves::line_of(curve));
        Series { name, points, style, marker, draw, emphasis: false }.with_markers()
    });
    let series: Vec<Series> =
        view.expected.iter().map(|line| line.series(scene.look)).chain(curves).collect();
    let rule = |(label, at): &(&'static str, f64)| Rule {
        at: *at,
        label,
        style: scene.look.style(Role::Rule),
    };
    // Estimates end at the ceilings: a line for each would take the place of the data.
    let ceilings = view.ceilings.iter().filter(|_| view.expected.is_empty());
    let rules: Vec<Rule> = ceilings.map(rule).collect();
    let metric = view.metric();
    let measured = points.iter().flatten();
    let estimated = view.expected.iter().flat_map(|line| &line.points);
    // An estimate far above the results is outside of the picture.
    let shown = measured.chain(estimated.filter(|_| view.curves.is_empty()));
    let place = |value: f64| view.axis.short(value);
    let values = Values::new(
        metric,
        scene.is_log(view.measure()),
        scene.look.unit,
        shown.map(|point| point.y),
    );
    let amount = |value: f64| values.tick(value);
    let x = Axis::new(Scale::along(view.axis), &place).between(low, high);
    Chart::new(scene.look, x, values.axis(&amount), &series)
        .rules(&rules)
        .bands(true)
        .names(true)
        .render(area, buf);
}

/// Draws a bar per curve where nothing varies along an axis.
fn bars(scene: &LiveScene, area: Rect, buf: &mut Buffer) {
    let metric = scene.view.metric();
    fn value(curve: &Curve) -> f64 {
        curve.points.first().map_or(f64::NAN, |point| point.y)
    }
    let figures: Vec<String> =
        scene.view.curves.iter().map(|curve| metric.show(value(curve), scene.look.unit)).collect();
    let bars: Vec<Bar> = scene
        .view
        .curves
        .iter()
        .zip(&figures)
        .map(|(curve, figure)| {
            Bar::new(&curve.name, value(curve), scene.look.series(curve.sign.hue()), figure)
        })
        .collect();
    Bars::new(scene.look, &bars).render(area, buf);
}
