//! Latencies of the last trial.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::scene::{LiveScene, figure, frame};
use crate::plan::Job;
use crate::plot::Histogram;
use crate::record::Latency;
use crate::theme::{Look, Role};
use crate::units;
use crate::view::pane;

/// Upper end of a bucket relative to its lower end.
const BUCKET_RATIO: f64 = 1.01;

/// Returns the percentiles that the number of operations supports, and the maximum.
fn percentiles(latency: &Latency) -> Vec<(&'static str, f64)> {
    let all = [
        ("p50", latency.p50),
        ("p90", latency.p90),
        ("p99", latency.p99),
        ("p99.9", latency.p999),
        ("max", Some(latency.max)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Returns as many of them as fit into a line, chosen by importance.
pub fn percentile_line(look: &Look, latency: &Latency, room: usize) -> Vec<Span<'static>> {
    let mut parts: Vec<Span> = Vec::new();
    let mut left = room;
    let all = percentiles(latency);
    let by_importance = ["p50", "p99", "max", "p99.9", "p90"];
    let mut chosen: Vec<&str> = Vec::new();
    for name in by_importance {
        let Some((_, value)) = all.iter().find(|(known, _)| *known == name) else { continue };
        let width = name.len() + 1 + pane::width(&units::show_nanos(*value)) + 2;
        // The last one needs no space behind it.
        if width <= left + 2 {
            chosen.push(name);
            left = left.saturating_sub(width);
        }
    }
    for (name, value) in all.iter().filter(|(name, _)| chosen.contains(name)) {
        if !parts.is_empty() {
            parts.push(Span::raw("  "));
        }
        parts.push(look.span(Role::Dim, format!("{name} ")));
        parts.extend(figure(look, &units::show_nanos(*value), true));
    }
    parts
}

pub fn draw(scene: &LiveScene, area: Rect, buf: &mut Buffer) {
    let (look, view) = (scene.look, scene.view);
    let last = view.last.as_ref();
    let label = last.and_then(|last| view.job(last.cell)).map(Job::label).unwrap_or_default();
    let commits = last.is_some_and(|last| last.commits.is_some());
    let title = if commits { "Latency of commits" } else { "Latency" };
    let inner = frame(look, title, vec![look.span(Role::Dim, label)], area, buf);
    let Some(latency) = last.and_then(|last| last.latency.as_deref()) else {
        let text = if last.is_some() { "not timed" } else { "no trial has finished yet" };
        return pane::line(Line::from(look.span(Role::Dim, text)), 0, inner, buf);
    };
    let every =
        if latency.every > 1 { format!("  1 in {} timed", latency.every) } else { String::new() };
    let room = usize::from(inner.width);
    let mut parts = percentile_line(look, latency, room);
    if Line::from(parts.clone()).width() + every.len() <= room {
        parts.push(look.span(Role::Dim, every));
    }
    pane::line(Line::from(parts), 0, inner, buf);
    let plot = Rect::new(inner.x, inner.y + 1, inner.width, inner.height.saturating_sub(1));
    let bins: Vec<(f64, f64, u64)> = latency
        .buckets
        .iter()
        .map(|(at, count)| (*at as f64, *at as f64 * BUCKET_RATIO, *count))
        .collect();
    let marks: Vec<(f64, &str)> = percentiles(latency)
        .into_iter()
        .filter(|(name, _)| *name != "max")
        .map(|(name, at)| (at, name))
        .collect();
    fn show(nanos: f64) -> String {
        units::show_nanos(nanos).replace(".00", "").replace(".0 ", " ")
    }
    Histogram::new(look, &bins, &show, look.series(view.hue(last.map_or(0, |last| last.cell))))
        .marks(&marks)
        .render(plot, buf);
}
