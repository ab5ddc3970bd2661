//! The legend: the curves with their values at the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::areas::CurveAreas;
use super::frame::select;
use super::{ResultsScene, cell, chart};
use crate::analysis::CellResult;
use crate::curves::{Curve, CurvePoint, Expected, Metric};
use crate::record::Severity;
use crate::report::table::origin;
use crate::results::data::Data;
use crate::theme::{Look, Role};
use crate::units::{column, show_percent};
use crate::view::list::List;
use crate::view::pane::{self, draw_text};
use crate::view::{Hits, Part, findings};
use crate::vocabulary::{APPROXIMATE, ESTIMATE, HIDDEN};

/// A column; `right`: aligned to the right.
struct LegendColumn {
    title: &'static str,
    width: usize,
    right: bool,
}

/// A row: a text with its style for each column.
type LegendRow = Vec<(String, Style)>;

pub fn draw(scene: ResultsScene, parts: &CurveAreas, buf: &mut Buffer, hits: &mut Hits) {
    let ResultsScene { look, results, data } = scene;
    let title = match results.x() {
        Some(x) if data.is_curve() => format!("At {}", data.places.axis.show(x as u64)),
        _ => "Cells".into(),
    };
    draw_text(look, &title, Role::Title, parts.legend_title, u16::from(!parts.beside), buf);
    let area = pane::narrow(parts.legend);
    let listed = results.listed();
    let cursor = listed.iter().position(|row| *row == results.chart.series).unwrap_or(0);
    let list = List::around(cursor, listed.len(), parts.legend);
    hits.list(Part::Legend, list);
    let visible: Vec<usize> = list.rows().map(|(at, _)| listed[at]).collect();
    let shown: Vec<&Curve> = visible.iter().filter_map(|row| data.curves.get(*row)).collect();
    let readout = Readout::new(scene, &shown);
    let mut rows: Vec<LegendRow> = shown.iter().map(|curve| readout.row(scene, curve)).collect();
    let expected = visible.iter().filter_map(|row| results.expected_at(*row));
    rows.extend(expected.map(|line| readout.expected_row(scene, line)).collect::<Vec<_>>());
    let columns = readout.columns(&rows, usize::from(area.width));
    let taken = pane::width(&title) as u16 + 5;
    draw_titles(look, &columns, taken, parts.legend_title, area.x, buf);
    for (cells, (at, place)) in rows.iter().zip(list.rows()) {
        row_line(&columns, cells).render(pane::narrow(place), buf);
        if listed[at] == results.chart.series {
            select(look, place, buf);
        }
    }
    let others = data.curves.iter().filter(|curve| point_at(curve, readout.x).is_none()).count();
    if data.is_curve() && others > 0 && rows.len() < usize::from(area.height) {
        let text = match others {
            1 => "1 curve has no point here".to_string(),
            _ => format!("{others} curves have no point here"),
        };
        pane::line(look.line(Role::Dim, text), rows.len() as u16, area, buf);
    }
    let bar = Rect { width: parts.legend.width.saturating_sub(1), ..parts.legend };
    pane::scrollbar(look, list.first, list.count, bar, buf);
}

/// Draws the titles on the line above, over their columns.
fn draw_titles(
    look: &Look,
    columns: &[LegendColumn],
    taken: u16,
    row: Rect,
    left: u16,
    buf: &mut Buffer,
) {
    let mut at = left;
    for column in columns {
        let width = pane::width(column.title);
        let indent = if column.right { column.width.saturating_sub(width) } else { 0 };
        let start = at + indent as u16;
        if width > 0
            && start > row.x + taken
            && usize::from(start) + width < usize::from(row.right())
        {
            let place = Rect::new(start - 1, row.y, width as u16 + 2, 1).intersection(buf.area);
            look.line(Role::Dim, format!(" {} ", column.title)).render(place, buf);
        }
        at += column.width as u16 + GAP;
    }
}

const GAP: u16 = 2;

/// Minimum width of a name; the verdict is cut instead.
const MIN_NAME: usize = 14;
/// The prefix of an estimate's name, which is dropped first, as the marker has the same meaning.
const ESTIMATED: &str = "estimate: ";

fn row_line(columns: &[LegendColumn], cells: &LegendRow) -> Line<'static> {
    let cell = |(column, (text, style)): (&LegendColumn, &(String, Style))| {
        let fits = pane::width(text) <= column.width;
        let text = if fits { text } else { text.strip_prefix(ESTIMATED).unwrap_or(text) };
        let text = pane::fit(text, column.width);
        pane::cell(&text, column.width, column.right, GAP.into(), *style)
    };
    columns.iter().zip(cells).map(cell).collect()
}

/// The data that all rows share.
struct Readout {
    x: f64,
    factor: f64,
    unit: &'static str,
    /// The best value at the cursor among the visible curves.
    best: Option<f64>,
    values: Vec<(usize, String)>,
}

impl Readout {
    fn new(scene: ResultsScene, shown: &[&Curve]) -> Readout {
        let ResultsScene { results, data, .. } = scene;
        let x = results.x().unwrap_or(f64::NAN);
        let at = |curve: &Curve| point_at(curve, x).map(|point| point.y);
        let on = data.curves.iter().filter(|curve| !results.is_hidden(curve));
        let more = data.metric.more_is_better();
        // Results with too few trials have no rank and may keep others from being the best.
        let (mut ranked, mut open) = (Vec::new(), Vec::new());
        for point in on.filter_map(|curve| point_at(curve, x)) {
            let Some(result) = data.results().get(point.result) else { continue };
            if result.is_unfinished() { open.push(point.y) } else { ranked.push(point.y) }
        }
        let better = |a: f64, b: f64| if (a > b) == more { a } else { b };
        let best = ranked.into_iter().reduce(better);
        let best = best.filter(|best| open.iter().all(|y| better(*best, *y) == *best));
        let all: Vec<Option<f64>> = shown.iter().map(|curve| at(curve)).collect();
        // The unit of the axis, so that a figure can be found on the chart.
        let own = || column::unit(all.iter().flatten().copied(), data.metric.units(results.unit));
        let (factor, unit) = chart::unit(scene).unwrap_or_else(own);
        let texts = column::align(&all, factor);
        let values = shown.iter().map(|curve| curve.index).zip(texts).collect();
        Readout { x, factor, unit, best, values }
    }

    fn row(&self, scene: ResultsScene, curve: &Curve) -> LegendRow {
        let ResultsScene { look, results, data } = scene;
        let is_off = results.is_hidden(curve);
        let role = |role: Role| look.style(if is_off { Role::Off } else { role });
        let hue = if is_off { look.style(Role::Off) } else { look.series(curve.sign.hue()) };
        let marker =
            if is_off { HIDDEN.on(look).into() } else { look.marker(curve.sign).to_string() };
        let mut row = vec![(marker, hue), (curve.name.clone(), role(Role::Text))];
        let Some((point, result)) =
            point_at(curve, self.x).and_then(|p| Some((p, data.results().get(p.result)?)))
        else {
            row.push(("-".into(), role(Role::Dim)));
            row.extend(std::iter::repeat_n((String::new(), Style::new()), 4));
            return row;
        };
        let value = self
            .values
            .iter()
            .find(|(index, _)| *index == curve.index)
            .map_or("-".into(), |(_, text)| text.clone());
        row.push(if result.is_unfinished() {
            (format!("{} {value}", APPROXIMATE.on(look)), role(Role::Dim))
        } else {
            (value, role(Role::Number))
        });
        row.push((self.interval(data.metric, point), role(Role::Dim)));
        if results.chart.mean {
            row.push((column::figure(point.mean / self.factor), role(Role::Text)));
        }
        row.push(match self.best {
            _ if is_off => ("off".into(), look.style(Role::Off)),
            _ if result.is_unfinished() => (String::new(), Style::new()),
            Some(best) if best == point.y => ("best".into(), look.style(Role::Good)),
            Some(best) if best > 0.0 => (show_ratio(point.y / best), role(Role::Text)),
            _ => (String::new(), Style::new()),
        });
        row.push((origin::main_source(result), role(Role::Text)));
        let (badge, style) = badge(look, data, result);
        row.push((badge, if is_off { look.style(Role::Off) } else { style }));
        row
    }

    /// Builds the row of an estimate: its value at the cursor.
    fn expected_row(&self, scene: ResultsScene, line: &Expected) -> LegendRow {
        let ResultsScene { look, results, .. } = scene;
        let is_off = results.chart.hidden_estimates.contains(&line.name);
        let style = look.style(if is_off { Role::Off } else { Role::Rule });
        let marker = if is_off { HIDDEN.on(look) } else { ESTIMATE.on(look) };
        let value = line
            .points
            .iter()
            .find(|point| point.x == self.x)
            .map(|point| column::figure(point.y / self.factor));
        let texts = [marker.to_string(), line.name.clone(), value.unwrap_or_else(|| "-".into())];
        texts
            .into_iter()
            .map(|text| (text, style))
            .chain(std::iter::repeat_n((String::new(), Style::new()), 4))
            .collect()
    }

    /// Formats half of the interval in percent, or the 99th percentile of latencies.
    fn interval(&self, metric: Metric, point: &CurvePoint) -> String {
        match metric {
            _ if point.high.is_nan() => String::new(),
            Metric::Latency => column::figure(point.high / self.factor),
            _ => point.half_percent().map_or(String::new(), show_percent),
        }
    }

    /// Fits the columns of these rows: the name shrinks first, then the last column is cut.
    fn columns(&self, rows: &[LegendRow], width: usize) -> Vec<LegendColumn> {
        let cells = rows.iter().map(Vec::len).max().unwrap_or(7);
        let latency =
            self.unit == "ns" || column::TIME[1..].iter().any(|(_, unit)| *unit == self.unit);
        let mut titles = vec![
            ("", false),
            ("", false),
            (self.unit, true),
            (if latency { "p99" } else { "±%" }, true),
        ];
        if cells > 7 {
            titles.push(("mean", true));
        }
        titles.extend([("of best", true), ("from", false), ("verdict", false)]);
        let widest = |at: usize| {
            rows.iter()
                .filter_map(|row| row.get(at))
                .map(|(text, _)| pane::width(text))
                .max()
                .unwrap_or(0)
        };
        let mut columns: Vec<LegendColumn> = titles
            .into_iter()
            .enumerate()
            .map(|(at, (title, right))| match widest(at) {
                // Nothing to rank.
                0 if title == "of best" => LegendColumn { title: "", width: 0, right },
                width => LegendColumn { title, width: width.max(pane::width(title)), right },
            })
            .collect();
        // The title of the legend needs room above the name.
        columns[1].width = columns[1].width.max(11);
        let last = columns.len() - 1;
        let others: usize = columns[..last]
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != 1)
            .map(|(_, column)| column.width + usize::from(GAP))
            .sum();
        // The name shrinks first, down to a minimum; then the verdict is cut.
        let free = width.saturating_sub(others + usize::from(GAP));
        let least = (width / 5).clamp(MIN_NAME, 28).min(columns[1].width);
        columns[1].width =
            columns[1].width.min(free.saturating_sub(columns[last].width).max(least));
        columns[last].width = columns[last].width.min(free.saturating_sub(columns[1].width));
        columns
    }
}

fn point_at(curve: &Curve, x: f64) -> Option<&CurvePoint> {
    curve.points.iter().find(|point| point.x == x)
}

/// Returns `0.45x`, `12x`.
fn show_ratio(ratio: f64) -> String {
    match ratio {
        100.0.. => format!("{ratio:.0}x"),
        10.0.. => format!("{ratio:.1}x"),
        0.01.. => format!("{ratio:.2}x"),
        _ => format!("{ratio:.4}x"),
    }
}

/// Returns the verdict of a figure: its progress, its warnings in a few words after the sign of the
/// worst, or `ok`.
fn badge(look: &Look, data: &Data, result: &CellResult) -> (String, Style) {
    let words = data.own_warnings(result);
    let progress = result.is_unfinished().then(|| result.describe_progress());
    match (result.shown_severity(), progress) {
        (None, None) => ("ok".into(), look.style(Role::Good)),
        (Some(worst), progress) if !words.is_empty() && worst > Severity::Note => {
            let (role, sign) = findings::severity(look, worst);
            let words: Vec<String> = progress.into_iter().chain(words).collect();
            (format!("{sign} {}", words.join(", ")), look.style(role))
        }
        (_, Some(progress)) => (progress, look.style(Role::Dim)),
        (Some(worst), None) => {
            let (role, sign) = findings::severity(look, worst);
            (format!("{sign} {}", words.join(", ")).trim_end().into(), look.style(role))
        }
    }
}

/// Draws the details of the point under the cursor, at the right of the chart.
pub fn draw_point(scene: ResultsScene, parts: &CurveAreas, buf: &mut Buffer) {
    let ResultsScene { look, results, data } = scene;
    if let Some(line) = results.expected_at(results.chart.series) {
        draw_text(look, "Estimate", Role::Title, parts.point_title, 0, buf);
        let text = format!("Computed before the run, from {}.", line.reason);
        let area = pane::narrow(parts.point);
        let text = pane::paragraph(look, Role::Text, "", &text, usize::from(area.width));
        return pane::lines(text, 0, area, buf);
    }
    let Some((index, result)) =
        results.under_cursor().and_then(|index| Some((index, data.results().get(index)?)))
    else {
        return;
    };
    draw_text(look, &result.cell.label(), Role::Title, parts.point_title, 0, buf);
    cell::draw_brief(look, data, index, pane::narrow(parts.point), buf);
}
