//! The charts: throughput, operations and latency along the axis that varies, and every trial over time.

use std::io::{self, Write};

use super::super::svg::curves::{Curve, Span};
use super::super::svg::scale::Scale;
use super::super::table::origin;
use super::super::text::xml;
use super::chart::{Chart, Dot, Line, Series, Tick, mark};
use super::{Page, ticks, timeline};
use crate::session::{self, CellResult, Estimated, SummaryOf};
use crate::units::column::{PER_SECOND, RATE, TIME, Unit};
use crate::units::{show_count, show_nanos, show_rate};

/// What one chart shows of a result.
struct Metric {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    units: &'static [Unit],
    value: fn(&CellResult) -> Option<Span>,
}

const METRICS: [Metric; 3] = [
    Metric {
        id: "throughput",
        title: "Throughput",
        about: "median and 95 % interval",
        units: RATE,
        value: |result| result.throughput.map(span),
    },
    Metric {
        id: "operations",
        title: "Operations",
        about: "median and 95 % interval",
        units: PER_SECOND,
        value: |result| result.operations.map(span),
    },
    Metric { id: "latency", title: "Latency of one operation", about: "p50, the line up to p99", units: TIME, value: latency },
];

fn span(of: SummaryOf) -> Span {
    let summary = of.summary;
    (summary.low.unwrap_or(summary.median), summary.median, summary.high.unwrap_or(summary.median))
}

fn latency(result: &CellResult) -> Option<Span> {
    let latency = result.latency?;
    latency.p50.map(|p50| (p50, p50, latency.p99.unwrap_or(p50)))
}

/// Every chart that has something to show, below one legend for all of them.
pub fn write(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    let mut charts: Vec<Chart> = METRICS.iter().filter_map(|metric| metric.chart(page)).collect();
    charts.extend(timeline::chart(page));
    if charts.is_empty() {
        return Ok(());
    }
    if let Some(first) = charts.first_mut() {
        first.wide = true;
    }
    writeln!(out, "<section aria-labelledby=\"charts\">\n<h2 id=\"charts\">Charts</h2>")?;
    legend(page, out)?;
    writeln!(out, "<div class=\"charts\">")?;
    for chart in &charts {
        chart.write(out)?;
    }
    writeln!(out, "</div>\n</section>")
}

fn legend(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<ul class=\"legend\" aria-label=\"Series\">")?;
    for (index, curve) in page.curves.iter().enumerate() {
        writeln!(
            out,
            "<li data-series=\"{index}\"><svg class=\"swatch{}\" viewBox=\"-14 -7 28 14\" color=\"{}\" aria-hidden=\"true\">\
             <line x1=\"-14\" x2=\"14\"/><path d=\"{}\"/></svg><span>{}</span></li>",
            Line::of(curve.dashed).class(),
            curve.color,
            mark(index),
            xml(&curve.name)
        )?;
    }
    for (index, line) in page.expected.iter().enumerate() {
        writeln!(
            out,
            "<li data-series=\"{}\"><svg class=\"swatch dotted\" viewBox=\"-14 -7 28 14\" color=\"{EXPECTED}\" aria-hidden=\"true\">\
             <line x1=\"-14\" x2=\"14\"/></svg><span>{}</span></li>",
            page.curves.len() + index,
            xml(&line.name)
        )?;
    }
    writeln!(out, "</ul>")?;
    let mut notes = vec![session::estimate_reasons(&page.expected)];
    notes.retain(|note| !note.is_empty());
    notes.extend(page.curves.iter().any(|curve| curve.dashed).then(|| "A dashed line is cold.".to_string()));
    notes.extend(page.curves.iter().any(Curve::wrong).then(|| "A hollow mark is warned to be wrong.".into()));
    notes.extend((page.more_curves > 0).then(|| format!("{} more series are left out here; the table has them.", page.more_curves)));
    if notes.is_empty() { Ok(()) } else { writeln!(out, "<p class=\"quiet\">{}</p>", notes.join(" ")) }
}

impl Metric {
    fn chart<'a>(&self, page: &'a Page) -> Option<Chart<'a>> {
        let value = |of: usize| page.results.get(of).and_then(self.value).filter(drawable);
        let points = page.curves.iter().flat_map(|curve| &curve.points);
        // Places where this metric has nothing take no room.
        let points: Vec<(f64, Option<Span>)> = points.map(|p| (p.at, value(p.of))).filter(|(_, value)| value.is_some()).collect();
        let expected = if self.id == METRICS[0].id { &page.expected[..] } else { &[] };
        let mut scale = Scale::with(page.axis, &points, expected)?;
        let (up, unit) = if scale.log {
            (ticks::logarithmic(scale.low, scale.high, self.units), String::new())
        } else {
            let (ticks, unit) = ticks::linear(scale.high, self.units);
            scale.high = ticks.last().map_or(scale.high, |(value, _)| *value);
            (ticks, format!("{unit}, "))
        };
        let log = if scale.log { ", logarithmic" } else { "" };
        let down = |value: f64| 100.0 * (1.0 - scale.up(value));
        let place = |curve: usize, at: f64| match scale.first < scale.last {
            true => 3.0 + 94.0 * scale.across(at),
            // Side by side where all would stand above each other.
            false => 100.0 * (curve as f64 + 0.5) / page.curves.len() as f64,
        };
        let dot = |curve: usize, at: f64, of: usize, wrong: bool| {
            let (low, middle, high) = value(of)?;
            let whisker = (low < high).then(|| (down(low), down(high)));
            Some(Dot { x: place(curve, at), y: down(middle), whisker, hollow: wrong, says: says(page, of) })
        };
        let series = page.curves.iter().enumerate().map(|(index, curve)| Series {
            index,
            name: &curve.name,
            color: curve.color,
            line: Line::of(curve.dashed),
            joined: true,
            dots: curve.points.iter().filter_map(|point| dot(index, point.at, point.of, point.wrong)).collect(),
        });
        let dotted = expected.iter().enumerate().map(|(index, line)| Series {
            index: page.curves.len() + index,
            name: &line.name,
            color: EXPECTED,
            line: Line::Dotted,
            joined: true,
            dots: line
                .points
                .iter()
                .filter(|(_, rate)| scale.holds(*rate))
                .map(|point| told(line, point, place(0, point.0), down))
                .collect(),
        });
        Some(Chart {
            id: self.id,
            title: format!("{} by {}", self.title, page.axis.title()),
            about: format!("{unit}{}{log}", self.about),
            across: across(page, &points, &scale),
            up: up.into_iter().map(|(value, label)| Tick { at: down(value), label, strong: value == 0.0 }).collect(),
            series: dotted.chain(series).filter(|series| !series.dots.is_empty()).collect(),
            wide: false,
        })
    }
}

/// Neither of a curve's colours, on either background.
const EXPECTED: &str = "#808890";

/// A place on an estimate.
fn told(line: &Estimated, (_, rate): &(f64, f64), x: f64, down: impl Fn(f64) -> f64) -> Dot {
    let says = vec![line.name.clone(), show_rate(*rate), format!("from {}", line.reason)];
    Dot { x, y: down(*rate), whisker: None, hollow: false, says }
}

fn drawable(span: &Span) -> bool {
    span.1 > 0.0 && [span.0, span.1, span.2].iter().all(|value| value.is_finite())
}

/// Labels across that a wide page has room for.
const LABELS: usize = 12;

fn across(page: &Page, points: &[(f64, Option<Span>)], scale: &Scale) -> Vec<Tick> {
    let mut places: Vec<f64> = points.iter().map(|(at, _)| *at).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let every = places.len().div_ceil(LABELS).max(1);
    let tick = |at: &f64| Tick { at: 3.0 + 94.0 * scale.across(*at), label: page.axis.tick(*at), strong: false };
    places.iter().step_by(every).map(tick).collect()
}

/// The read-out of a cell: what it is, every figure with its unit, where the bytes came from.
pub fn says(page: &Page, of: usize) -> Vec<String> {
    let Some(result) = page.results.get(of) else { return Vec::new() };
    let mut lines = vec![result.cell.label()];
    let figure = |of: &SummaryOf, show: fn(f64) -> String| match (of.summary.low, of.summary.high) {
        (Some(low), Some(high)) => format!("{} (95 %: {} to {})", show(of.summary.median), show(low), show(high)),
        _ => show(of.summary.median),
    };
    lines.extend(result.throughput.map(|of| figure(&of, show_rate)));
    lines.extend(result.operations.map(|of| figure(&of, |value| format!("{}/s", show_count(value)))));
    if let Some(latency) = result.latency {
        let percentiles = [("p50", latency.p50), ("p99", latency.p99), ("max", Some(latency.max))];
        let known = percentiles.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", show_nanos(value?))));
        lines.push(known.collect::<Vec<_>>().join(", "));
    }
    let from = result.source.as_ref().map(origin::parts).unwrap_or_default();
    let from: Vec<String> = from.iter().map(|(word, share)| format!("{word} {}", origin::percent(*share))).collect();
    lines.extend((!from.is_empty()).then(|| format!("from {}", from.join(", "))));
    let trials = result.counted().len();
    lines.push(format!("{trials} trial{}", if trials == 1 { "" } else { "s" }));
    lines.extend(result.wrong().map(|warning| format!("✖ {}", warning.message)));
    lines
}
