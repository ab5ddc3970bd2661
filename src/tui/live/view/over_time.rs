//! Throughput and system calls over the time of the run.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::scene::Scene;
use super::text::{figure, frame, span};
use crate::backend::HUES;
use crate::record::LaneSample;
use crate::tui::live::series::{Measure, Slice};
use crate::tui::plot::{Axis, Chart, Point, Scale, Series};
use crate::tui::theme::Role;
use crate::units::ticks;

impl Measure {
    fn title(self) -> &'static str {
        match self {
            Measure::Bytes => "Throughput",
            Measure::Operations => "Operations",
            Measure::SystemCalls => "System calls",
        }
    }

    fn lane_value(self) -> fn(&LaneSample) -> u64 {
        match self {
            Measure::Bytes => |lane| lane.bytes,
            Measure::Operations => |lane| lane.ops,
            Measure::SystemCalls => |lane| lane.syscalls,
        }
    }
}

pub fn draw(scene: &Scene, measure: Measure, area: Rect, buf: &mut Buffer) {
    let inner = frame(scene.look, measure.title(), title_parts(scene, measure), area, buf);
    let view = scene.view;
    let (from, to) = scene.zoom.ends(view.now);
    // A full window ends now, at 0: labels stay in place while the lines move.
    let is_sliding = scene.zoom.is_sliding(view.now);
    let zero = if is_sliding { view.now } else { 0.0 };
    let lines = build_lines(view.series.slices_since(from), measure, (zero, from), HUES);
    let series: Vec<Series> = lines
        .iter()
        .enumerate()
        .filter(|(_, points)| !points.is_empty())
        .map(|(hue, points)| match hue < lines.len() - 1 {
            true => Series::new(scene.look, hue, "", points),
            false => Series {
                style: scene.look.style(Role::Text),
                ..Series::new(scene.look, hue, "", points)
            },
        })
        .collect();
    let sticky = if measure == Measure::SystemCalls { view.axes.below } else { view.axes.above };
    let time = |at: f64| format_time(at, is_sliding);
    let (factor, unit) = sticky.unit;
    let amount = |value: f64| ticks::label(value / factor);
    let top = if sticky.top > 0.0 { sticky.top } else { 1.0 };
    let y = Axis::new(Scale::Linear, &amount).round_in(factor).title(unit).between(0.0, top);
    let x = Axis::new(Scale::Linear, &time).between(from - zero, to - zero).time();
    Chart::new(scene.look, x, y, &series).render(inner, buf);
}

/// Returns the state of the picture and the current rate, dim if the trial has ended.
fn title_parts(scene: &Scene, measure: Measure) -> Vec<Span<'static>> {
    let view = scene.view;
    let mut parts = Vec::new();
    let state = if scene.frozen {
        "frozen"
    } else if view.outcome.is_some() {
        "ended"
    } else {
        ""
    };
    if !state.is_empty() && measure != Measure::SystemCalls {
        parts.push(span(scene.look, Role::Misleading, state));
    }
    if let Some(rate) = view.recent.rate(measure.lane_value()) {
        if !parts.is_empty() {
            parts.push(span(scene.look, Role::Dim, scene.look.glyph(" · ", " - ")));
        }
        parts.extend(figure(
            scene.look,
            &measure.metric().show(rate, scene.look.unit),
            view.recent.fresh,
        ));
    }
    parts
}

/// Builds a line per colour, and a last one for merged slices; interrupted where a piece ends.
fn build_lines(
    slices: &[Slice],
    measure: Measure,
    (zero, from): (f64, f64),
    hues: usize,
) -> Vec<Vec<Point>> {
    let mut lines: Vec<Vec<Point>> = vec![Vec::new(); hues + 1];
    let mut before: Option<&Slice> = None;
    for slice in slices {
        let hue = slice.hue.unwrap_or(hues).min(hues);
        let line = &mut lines[hue];
        let (rate, (low, high)) = slice.rate(measure);
        let is_continued =
            before.is_some_and(|before| before.piece == slice.piece && before.hue == slice.hue);
        if !is_continued {
            line.push(Point::gap(slice.from - zero));
            line.push(Point::new(slice.from.max(from) - zero, rate));
        }
        let middle = f64::midpoint(slice.from, slice.to).max(from) - zero;
        // Both extremes of merged slices: no peak is lost.
        if high > low {
            line.extend([Point::new(middle, low), Point::new(middle, high)]);
        }
        line.push(Point::new(middle, rate));
        line.push(Point::new(slice.to - zero, rate));
        before = Some(slice);
    }
    lines
}

/// Formats a time since the start, or before now.
fn format_time(at: f64, before_now: bool) -> String {
    match at.abs().round() {
        0.0 if before_now => "now".into(),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s % 60.0 == 0.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0}:{:02.0}", (s / 60.0).floor(), s % 60.0),
    }
}
