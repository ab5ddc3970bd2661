//! The latencies of a cell: percentiles and histogram.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::stack::{Scene, Section};
use crate::analysis::LatencyOf;
use crate::plot::Histogram;
use crate::theme::Role;
use crate::units;
use crate::view::pane;

/// Half width of a bucket relative to its value.
const BUCKET_SHARE: f64 = 1.0 / 256.0;

pub fn sections(s: Scene<'_>, height: u16) -> Vec<Section<'_>> {
    let Some(latency) = &s.result.latency else { return Vec::new() };
    let mut text = vec![s.heading("Latency per operation")];
    text.extend(percentile_lines(s, latency));
    let timed = s.data.latency(s.index).map_or(0, |latency| latency.count);
    let every = match latency.every {
        0 | 1 => String::new(),
        every => format!(", 1 in {every}"),
    };
    if timed > 0 {
        let count =
            if timed < 1_000_000 { timed.to_string() } else { units::show_count(timed as f64) };
        let bars = s.data.latency(s.index).is_some_and(|latency| latency.buckets.len() > 1);
        let bars = if bars { "; logarithmic bars" } else { "" };
        text.extend(s.wrap(&format!("{} timed{every}{bars}", noun(&count, timed)), Role::Dim));
    }
    let mut sections = vec![Section::Lines(text)];
    if s.data.latency(s.index).is_some_and(|latency| latency.buckets.len() > 1) {
        sections.push(Section::Picture {
            height,
            draw: Box::new(move |area, buf| histogram(s, area, buf)),
        });
    }
    sections
}

/// Returns the percentiles as lines of the page.
pub fn percentile_lines(s: Scene<'_>, latency: &LatencyOf) -> Vec<Line<'static>> {
    let all = latency.percentiles().into_iter().chain([("mean", Some(latency.mean))]);
    let known: Vec<(&str, String)> =
        all.filter_map(|(name, value)| Some((name, units::show_nanos(value?)))).collect();
    let mut text = Vec::new();
    let (mut line, mut used) = (Vec::new(), 0);
    for (name, value) in known {
        let width = pane::width(name) + pane::width(&value) + 4;
        if used + width > s.width + 3 {
            text.push(Line::from(std::mem::take(&mut line)));
            used = 0;
        }
        used += width;
        line.push(s.look.span(Role::Dim, format!("{name} ")));
        line.push(s.look.span(Role::Number, format!("{value}   ")));
    }
    text.push(Line::from(line));
    text
}

/// Returns `5000 operations`, `1 operation`, for a count and its text.
fn noun(text: &str, count: u64) -> String {
    format!(
        "{text} {}",
        units::verb(count.try_into().unwrap_or(usize::MAX), "operation", "operations")
    )
}

fn histogram(s: Scene, area: Rect, buf: &mut Buffer) {
    let (Some(latency), Some(of)) = (s.data.latency(s.index), &s.result.latency) else { return };
    let bin = |&(nanos, count): &(u64, u64)| {
        let (middle, half) = (nanos as f64, (nanos as f64 * BUCKET_SHARE).max(0.5));
        ((middle - half).max(0.5), middle + half, count)
    };
    let bins: Vec<(f64, f64, u64)> = latency.buckets.iter().map(bin).collect();
    let marks: Vec<(f64, &str)> = [(of.p50, "p50"), (of.p99, "p99"), (of.p999, "p99.9")]
        .into_iter()
        .filter_map(|(value, name)| Some((value?, name)))
        .collect();
    fn brief(nanos: f64) -> String {
        units::show_nanos(nanos).replace(".00", "").replace(".0 ", " ")
    }
    let style = s.look.series(s.hue());
    // Rare operations are of interest here.
    Histogram::new(s.look, &bins, &brief, style).marks(&marks).rare(true).render(area, buf);
}
