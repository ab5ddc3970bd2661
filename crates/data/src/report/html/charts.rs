//! The charts: every figure of the session with its legend, bars for cells without a curve, and
//! every trial over time, each drawn as in the pictures.
//!
//! A click switches a chart between a linear and a logarithmic scale: it is drawn on both.

use std::io::{self, Write};

use super::chart::{HtmlChart, WIDE};
use super::page::HtmlPage;
use super::parts::begin_section;
use super::timeline::TrialChart;
use crate::analysis::{ProbeResult, SummaryOf};
use crate::report::figure::{
    Figure, FigureBars, FigureGroup, FigureOf, FigurePoint, LegendKey, LineStyle,
};
use crate::report::picture;
use crate::report::svg;
use crate::report::table::origin;
use crate::report::text::xml;
use crate::units::{self, show_count, show_nanos, show_rate};

/// Writes every chart that has something to show, each group below its legend.
pub fn write(page: &HtmlPage, out: &mut dyn Write) -> io::Result<()> {
    let over_time = TrialChart::new(page);
    if page.groups.is_empty() && over_time.is_none() {
        return Ok(());
    }
    begin_section("charts", "Charts", out)?;
    let mut ids = ChartIds::default();
    for (group, first) in page.groups.iter().zip(&page.first) {
        if page.groups.len() > 1 {
            writeln!(out, "<h3 class=\"group\">{}</h3>", xml(&group.title))?;
        }
        match &group.bars {
            Some(bars) => write_bars(page, group, bars, out)?,
            None => write_figures(page, group, *first, &mut ids, out)?,
        }
    }
    let notes = picture::notes(page.session, &page.groups);
    if !notes.is_empty() {
        writeln!(out, "<p class=\"quiet\">{}</p>", xml(&notes))?;
    }
    if let Some(timeline) = over_time {
        writeln!(out, "<div class=\"charts\">")?;
        timeline.write(ids.next(&timeline.figure), out)?;
        writeln!(out, "</div>")?;
    }
    writeln!(out, "</section>")
}

fn write_figures(
    page: &HtmlPage,
    group: &FigureGroup,
    first: usize,
    ids: &mut ChartIds,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_legend(group, first, out)?;
    writeln!(out, "<div class=\"charts\">")?;
    for (nth, figure) in group.figures.iter().enumerate() {
        for panel in &figure.panels {
            let wide = figure.panels.len() == 1 && (nth == 0 || group.figures.len() == 2);
            let describe = |key: &LegendKey, point: &FigurePoint| match figure.of {
                _ if key.line == LineStyle::Marks => {
                    picture::describe_point(figure, &key.name, point)
                }
                FigureOf::Probe => describe_probe(page, point.of),
                _ => describe_cell(page, point.of),
            };
            HtmlChart {
                id: ids.next(figure),
                figure,
                panel,
                keys: &group.keys,
                first,
                wide,
                describe: &describe,
            }
            .write(out)?;
        }
    }
    writeln!(out, "</div>")
}

fn write_legend(group: &FigureGroup, first: usize, out: &mut dyn Write) -> io::Result<()> {
    if group.keys.iter().all(|key| key.name.is_empty()) {
        return Ok(());
    }
    writeln!(out, "<ul class=\"legend\" aria-label=\"Series\">")?;
    for (index, key) in (first..).zip(&group.keys) {
        write!(out, "<li data-series=\"{index}\">")?;
        svg::write_inline(&picture::swatch(key), "swatch", out)?;
        writeln!(out, "<span>{}</span></li>", xml(&key.name))?;
    }
    writeln!(out, "</ul>")
}

/// Ids of the charts so far; repeated ones get a number.
#[derive(Default)]
struct ChartIds(Vec<&'static str>);

impl ChartIds {
    fn next(&mut self, figure: &Figure) -> String {
        let id = match figure.of {
            FigureOf::Cells(metric) => metric.id(),
            FigureOf::CommitTail => "commit-tail",
            FigureOf::Probe => "probe",
            FigureOf::Trials => "time",
            FigureOf::Latencies => "latencies",
        };
        self.0.push(id);
        match self.0.iter().filter(|known| **known == id).count() {
            1 => id.into(),
            count => format!("{id}-{count}"),
        }
    }
}

/// Returns the read-out of a probe's cell.
fn describe_probe(page: &HtmlPage, of: usize) -> String {
    let Some(probe) = page.probes.get(of) else { return String::new() };
    let mut lines = vec![probe.cell.label()];
    lines.extend(probe_figures(probe));
    lines.join("\n")
}

fn probe_figures(probe: &ProbeResult) -> Vec<String> {
    let Some((unit, value)) = probe.unit.zip(probe.value) else { return Vec::new() };
    let mut lines = vec![show_figure(value, |value| unit.show(value))];
    lines.extend(probe.estimate.as_ref().map(|of| {
        format!("expected {} to {}: {}", unit.show(of.low), unit.show(of.high), of.reason)
    }));
    let known = probe.reference.iter();
    lines.extend(known.map(|of| format!("{} reported by {}", unit.show(of.value), of.session)));
    lines.extend(probe.wrong().map(|warning| format!("× {}", warning.message)));
    lines
}

/// Returns `2.71 GiB/s (95 %: 2.68 GiB/s to 2.75 GiB/s)`.
fn show_figure(of: SummaryOf, show: impl Fn(f64) -> String) -> String {
    let median = show(of.summary.median);
    match of.summary.low.zip(of.summary.high) {
        Some((low, high)) => format!("{median} (95 %: {} to {})", show(low), show(high)),
        None => median,
    }
}

/// Draws the cells without a curve: name, bar and value.
fn write_bars(
    page: &HtmlPage,
    group: &FigureGroup,
    bars: &FigureBars,
    out: &mut dyn Write,
) -> io::Result<()> {
    if page.groups.len() == 1 {
        writeln!(out, "<h3 class=\"group\">{}</h3>", xml(&bars.title))?;
    }
    writeln!(out, "<p class=\"quiet\">{}</p>", xml(&bars.scale.about()))?;
    writeln!(out, "<figure class=\"chart bars\"><div class=\"scroll\">")?;
    svg::write_inline(&picture::bars_scene(bars, &group.keys, WIDE.0), "area", out)?;
    writeln!(out, "</div></figure>")
}

/// Returns the read-out of a cell: its label, every figure with its unit, the source of its bytes.
fn describe_cell(page: &HtmlPage, of: usize) -> String {
    let Some(result) = page.results.get(of) else { return String::new() };
    let mut lines = vec![result.cell.label()];
    lines.extend(result.throughput.map(|of| show_figure(of, show_rate)));
    let calls = |value| format!("{}/s", show_count(value));
    lines.extend(result.operations.map(|of| show_figure(of, calls)));
    if let Some(latency) = result.latency {
        let percentiles = [("p50", latency.p50), ("p99", latency.p99), ("max", Some(latency.max))];
        let known = percentiles
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", show_nanos(value?))));
        lines.push(known.collect::<Vec<_>>().join(", "));
    }
    let from = result.source.as_ref().map(origin::source_shares).unwrap_or_default();
    let from: Vec<String> =
        from.iter().map(|(word, share)| format!("{word} {}", origin::percent(*share))).collect();
    lines.extend((!from.is_empty()).then(|| format!("from {}", from.join(", "))));
    let trials = result.counted_trials().len();
    lines.push(units::show_trials(trials));
    lines.extend(result.wrong().map(|warning| format!("× {}", warning.message)));
    lines.join("\n")
}
