//! The charts: every figure of the session with its legend, bars for cells without a curve, and
//! every trial over time.
//!
//! A click switches a chart between a linear and a logarithmic scale: the other scale's positions
//! are stored beside the current ones.

use std::io::{self, Write};

use super::chart::{
    Band, Chart, Dot, OtherScale, Position, Series, Style, Tick, fill_class, outline,
};
use super::page::Page;
use super::parts::begin_section;
use super::timeline;
use crate::analysis::{EstimateLine, ProbeResult, SummaryOf, group_by_key};
use crate::report::Spread;
use crate::report::figure::{
    Bars, Curve, DIAMOND, Figure, Fill, Group, Key, Line, Mark, Metric, NEUTRAL, Panel, Point,
    Scale, estimates, spans,
};
use crate::report::picture;
use crate::report::table::origin;
use crate::report::text::xml;
use crate::units::{self, show_count, show_nanos, show_rate};

/// Returns every chart that has something to show, each group below its legend.
pub fn write(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    let over_time = timeline::chart(page);
    if page.groups.is_empty() && over_time.is_none() {
        return Ok(());
    }
    begin_section("charts", "Charts", out)?;
    let mut ids = Ids::default();
    for (at, group) in page.groups.iter().enumerate() {
        if page.groups.len() > 1 {
            writeln!(out, "<h3 class=\"group\">{}</h3>", xml(&group.title))?;
        }
        write_legend(page, at, out)?;
        writeln!(out, "<div class=\"charts\">")?;
        for (nth, figure) in group.figures.iter().enumerate() {
            for panel in &figure.panels {
                let wide = figure.panels.len() == 1 && (nth == 0 || group.figures.len() == 2);
                PanelChart { page, group, first: page.first[at], figure, panel }
                    .chart(&mut ids, wide)
                    .write(out)?;
            }
        }
        writeln!(out, "</div>")?;
        group.bars.iter().try_for_each(|bars| write_bars(page, bars, out))?;
    }
    let notes = picture::notes(page.session, &page.groups);
    if !notes.is_empty() {
        writeln!(out, "<p class=\"quiet\">{}</p>", xml(&notes))?;
    }
    if let Some(chart) = over_time {
        writeln!(out, "<div class=\"charts\">")?;
        chart.write(out)?;
        writeln!(out, "</div>")?;
    }
    writeln!(out, "</section>")
}

/// Returns the names of a group's estimates, without duplicates.
fn unique_estimates(group: &Group) -> Vec<&EstimateLine> {
    let lines = group.figures.iter().flat_map(|figure| estimates(&figure.panels));
    group_by_key(lines, |line| &line.name).into_iter().map(|(_, lines)| lines[0]).collect()
}

/// Counts the series of a group: its curves, its estimates, and the backends of its bars.
pub fn count_series(group: &Group) -> usize {
    let bars = group.bars.as_ref().map_or(0, |bars| bars.keys.len());
    group.keys.len() + unique_estimates(group).len() + bars
}

fn write_legend(page: &Page, at: usize, out: &mut dyn Write) -> io::Result<()> {
    let group = &page.groups[at];
    if group.keys.iter().all(|key| key.name.is_empty()) {
        return Ok(());
    }
    let first = page.first[at];
    writeln!(out, "<ul class=\"legend\" aria-label=\"Series\">")?;
    let keys = group.keys.iter().map(|key| {
        let class = format!("{}{}", style(key).class(), fill_class(key.mark.fill));
        let mark = format!("<path d=\"{}\"/>", outline(key.mark.shape));
        (class, key.color(), mark, &key.name)
    });
    let estimates = unique_estimates(group).into_iter();
    let estimates = estimates.map(|line| (" dotted".into(), NEUTRAL, String::new(), &line.name));
    for (index, (class, color, mark, name)) in (first..).zip(keys.chain(estimates)) {
        writeln!(
            out,
            "<li data-series=\"{index}\"><svg class=\"swatch{class}\" viewBox=\"-14 -7 28 14\" color=\"{color}\" aria-hidden=\"true\">\
             <line x1=\"-14\" x2=\"14\"/>{mark}</svg><span>{}</span></li>",
            xml(name)
        )?;
    }
    writeln!(out, "</ul>")
}

pub fn style(key: &Key) -> Style {
    match key.line {
        Line::Solid => Style::Solid,
        Line::Dashed => Style::Dashed,
        Line::Marks => Style::Marks,
    }
}

/// Ids made unique by a number from the second on.
#[derive(Default)]
struct Ids(Vec<(&'static str, usize)>);

impl Ids {
    fn next(&mut self, id: &'static str) -> String {
        let at = self.0.iter().position(|(own, _)| *own == id).unwrap_or_else(|| {
            self.0.push((id, 0));
            self.0.len() - 1
        });
        self.0[at].1 += 1;
        if self.0[at].1 == 1 { id.into() } else { format!("{id}-{}", self.0[at].1) }
    }
}

/// One panel of a figure on the page.
struct PanelChart<'a> {
    page: &'a Page<'a>,
    group: &'a Group,
    /// The number of the group's first series.
    first: usize,
    figure: &'a Figure,
    panel: &'a Panel,
}

fn down(scale: &Scale, value: f64) -> f64 {
    100.0 * (1.0 - scale.share(value))
}

fn ticks(scale: &Scale) -> Vec<Tick> {
    let tick = |(value, label): &(f64, String)| Tick {
        at: down(scale, *value),
        label: label.clone(),
        strong: *value == 0.0,
    };
    scale.ticks.iter().map(tick).collect()
}

impl<'a> PanelChart<'a> {
    /// Returns the alternative scale, shown after a click.
    fn other_scale(&self) -> Option<Scale> {
        let spread = if self.figure.scale.log { Spread::Linear } else { Spread::Log };
        Scale::for_values(spans(&self.figure.panels), spread, self.figure.units)
    }

    fn across(&self, at: f64) -> f64 {
        3.0 + 94.0 * self.figure.across.share(at)
    }

    fn chart(&self, ids: &mut Ids, wide: bool) -> Chart<'a> {
        let figure = self.figure;
        let other = self.other_scale();
        let id = match figure.metric {
            Metric::Throughput => "throughput",
            Metric::Operations => "operations",
            Metric::Latency => "latency",
            Metric::Commits => "commits",
            Metric::CommitTail => "commit-tail",
            Metric::Value => "probe",
        };
        let title = if self.panel.title.is_empty() {
            figure.title.clone()
        } else {
            format!("{}, {}", figure.title, self.panel.title)
        };
        let about = |scale: &Scale| format!("{}: {}", scale.about(), figure.about);
        let up = |value: f64| Position {
            own: down(&figure.scale, value),
            other: other.as_ref().map(|scale| down(scale, value)),
        };
        let labels = figure.across.labels(|label| label.chars().count() as f64 * 0.012 + 0.012);
        let across = labels
            .into_iter()
            .map(|(at, label)| Tick { at: self.across(at), label, strong: false })
            .collect();
        Chart {
            id: ids.next(id),
            title,
            about: about(&figure.scale),
            across,
            up: ticks(&figure.scale),
            other: other.as_ref().map(|scale| OtherScale {
                about: about(scale),
                up: ticks(scale),
                log: scale.log,
            }),
            series: self
                .expected_series(&up)
                .into_iter()
                .chain(self.panel.curves.iter().map(|curve| self.curve(curve, &up)))
                .collect(),
            wide,
        }
    }

    fn expected_series(&self, up: &dyn Fn(f64) -> Position) -> Vec<Series<'a>> {
        let all = unique_estimates(self.group);
        let series = |line: &'a EstimateLine| {
            let at = all.iter().position(|known| known.name == line.name).unwrap_or(0);
            let near = line.points.iter().filter(|(_, rate)| self.figure.scale.contains(*rate));
            let dots = near.map(|(at, rate)| Dot {
                x: self.across(*at),
                y: up(*rate),
                whisker: None,
                struck: false,
                says: vec![line.name.clone(), show_rate(*rate), format!("from {}", line.reason)],
            });
            let index = self.first + self.group.keys.len() + at;
            Series {
                index,
                mark: Mark { shape: 0, fill: Fill::Full },
                name: &line.name,
                color: NEUTRAL,
                line: Style::Dotted,
                joined: true,
                band: None,
                dots: dots.collect(),
            }
        };
        self.panel.expected.iter().map(series).collect()
    }

    fn curve(&self, curve: &'a Curve, up: &dyn Fn(f64) -> Position) -> Series<'a> {
        let key = &self.group.keys[curve.key];
        let dot = |point: &Point| {
            let (low, middle, high) = point.span;
            let whisker = (low < high).then(|| (up(low), up(high)));
            let says = if key.line == Line::Marks {
                vec![key.name.clone(), self.value(point)]
            } else {
                self.describe_point(point)
            };
            Dot { x: self.across(point.at), y: up(middle), whisker, struck: point.wrong, says }
        };
        let known: Vec<(f64, f64, f64)> = curve
            .points
            .iter()
            .filter_map(|p| p.expected.map(|(low, high)| (self.across(p.at), low, high)))
            .collect();
        let band = (known.len() > 1 && key.line != Line::Marks).then(|| Band {
            haze: self.panel.haze(),
            points: known
                .iter()
                .map(|(x, low, _)| (*x, up(*low)))
                .chain(known.iter().rev().map(|(x, _, high)| (*x, up(*high))))
                .collect(),
        });
        Series {
            index: self.first + curve.key,
            mark: key.mark,
            name: &key.name,
            color: key.color(),
            line: style(key),
            joined: key.line != Line::Marks,
            band,
            dots: curve.points.iter().map(dot).collect(),
        }
    }

    fn value(&self, point: &Point) -> String {
        let place = (self.figure.across.show)(point.at);
        let unit = self.page.probes.get(point.of).and_then(|probe| probe.unit);
        let value = unit.map(|unit| unit.show(point.span.1));
        format!("{place}: {}", value.unwrap_or_default())
    }

    fn describe_point(&self, point: &Point) -> Vec<String> {
        match self.figure.metric {
            Metric::Value => self.page.probes.get(point.of).map(describe_probe).unwrap_or_default(),
            _ => describe_cell(self.page, point.of),
        }
    }
}

/// Returns the read-out of a probe's cell.
fn describe_probe(probe: &ProbeResult) -> Vec<String> {
    let mut lines = vec![probe.cell.label()];
    let Some((unit, value)) = probe.unit.zip(probe.value) else { return lines };
    lines.push(show_figure(value, |value| unit.show(value)));
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
fn write_bars(page: &Page, bars: &Bars, out: &mut dyn Write) -> io::Result<()> {
    if page.groups.len() == 1 {
        writeln!(out, "<h3 class=\"group\">{}</h3>", xml(&bars.title))?;
    }
    writeln!(out, "<p class=\"quiet\">{}</p>\n<dl class=\"bars\">", xml(&bars.scale.about()))?;
    let at = |value: f64| 100.0 * bars.scale.share(value);
    for row in &bars.rows {
        let key = &bars.keys[row.key];
        let (label, color) = (xml(&row.label), key.color());
        writeln!(out, "<dt>{label}</dt><dd><svg aria-hidden=\"true\" color=\"{color}\">")?;
        for x in bars.scale.ticks.iter().map(|(value, _)| at(*value)) {
            writeln!(out, "<line class=\"grid\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y2=\"100%\"/>")?;
        }
        let (to, wrong) = (at(row.point.span.1), if row.point.wrong { " wrong" } else { "" });
        // As in pictures: a logarithmic axis has no 0 at which a bar could begin.
        if bars.scale.log {
            writeln!(
                out,
                "<svg class=\"value{wrong}{}\" x=\"{to:.2}%\" y=\"50%\" overflow=\"visible\"><path d=\"{}\"/></svg>",
                fill_class(key.mark.fill),
                outline(key.mark.shape)
            )?;
        } else {
            writeln!(
                out,
                "<rect class=\"value{wrong}\" y=\"20%\" width=\"{to:.2}%\" height=\"60%\"/>"
            )?;
        }
        if let Some((low, high)) = row.point.expected {
            let (low, high) = (at(low), at(high));
            let wide = (high - low).max(0.4);
            writeln!(
                out,
                "<rect class=\"expected\" x=\"{low:.2}%\" width=\"{wide:.2}%\" height=\"100%\"/>"
            )?;
        }
        for (name, value) in &row.reported {
            let (x, name, mark) = (at(*value), xml(name), outline(DIAMOND));
            writeln!(
                out,
                "<svg class=\"reported\" x=\"{x:.2}%\" y=\"50%\" overflow=\"visible\"><title>reported by {name}</title><path d=\"{mark}\"/></svg>"
            )?;
        }
        writeln!(out, "</svg><span>{}</span></dd>", xml(&row.show))?;
    }
    writeln!(out, "</dl>")
}

/// Returns the read-out of a cell: its label, every figure with its unit, the source of its bytes.
pub fn describe_cell(page: &Page, of: usize) -> Vec<String> {
    let Some(result) = page.results.get(of) else { return Vec::new() };
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
    lines
}
