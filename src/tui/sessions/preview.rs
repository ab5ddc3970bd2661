//! The session under the cursor: what it is, its curves, its answer in words.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::super::curves::{self, Curve, Metric};
use super::super::model::Model;
use super::super::shown::Shown;
use super::super::theme::{Look, Role};
use super::super::view::pane;
use super::chart::{self, Drawn};
use super::columns;
use super::list::{called, cells, when};
use crate::session::{Axis, Listed};
use crate::units;

/// Less is no chart.
const LEAST: u16 = 5;

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let (look, sessions) = (&model.look, &model.sessions);
    let Some(listed) = sessions.current() else {
        pane::frame(look, "", "", false, area, buf);
        return;
    };
    let loaded = sessions.preview.as_ref().filter(|preview| preview.id == listed.id).map(|preview| &preview.result);
    let best = loaded.and_then(|result| result.as_ref().ok()).map_or(String::new(), |shown| best(shown));
    let inner = pane::frame(look, called(listed), &best, false, area, buf);
    let inner = Rect::new(inner.x + 1, inner.y, inner.width.saturating_sub(2), inner.height);
    match loaded {
        Some(Ok(shown)) => whole(look, listed, shown, inner, buf),
        Some(Err(why)) => words(look, why, Role::Wrong, inner, buf),
        None if sessions.asked.as_ref() == Some(&listed.id) => words(look, "loading ...", Role::Dim, inner, buf),
        None if model.running() => words(look, "No preview while a run goes on: reading files would disturb it.", Role::Dim, inner, buf),
        None => {}
    }
}

fn words(look: &Look, text: &str, role: Role, area: Rect, buf: &mut Buffer) {
    for (row, part) in pane::wrap(text, usize::from(area.width)).into_iter().enumerate() {
        pane::line(Line::styled(part, look.style(role)), row as u16, area, buf);
    }
}

/// The highest median.
fn best(shown: &Shown) -> String {
    let Some(best) = &shown.answer.best else { return String::new() };
    match (&best.throughput, &best.operations) {
        (Some(rate), _) => format!("best {}", Metric::Throughput.show(rate.summary.median)),
        (None, Some(rate)) => format!("best {}", Metric::Operations.show(rate.summary.median)),
        (None, None) => String::new(),
    }
}

fn whole(look: &Look, listed: &Listed, shown: &Shown, area: Rect, buf: &mut Buffer) {
    let width = usize::from(area.width);
    let jobs = shown.results.iter().map(|result| &result.cell);
    let axis = curves::axis(jobs);
    let (metric, curves) = of(shown, axis);
    let legend = legend(look, &curves, width);
    let answer = pane::wrap(&shown.answer.text, width);
    // The chart gets what the words leave, and the words at most a third where they would crowd it out.
    let (legend_rows, most) = ((legend.len() as u16).min(area.height / 6), (area.height / 3).max(2));
    let answer_rows = (answer.len() as u16).min(most);
    let facts_rows = if area.height >= LEAST + legend_rows + answer_rows + 4 { 3 } else { 0 };
    let [facts, chart, below, answered] = Layout::vertical([
        Constraint::Length(facts_rows),
        Constraint::Min(0),
        Constraint::Length(legend_rows),
        Constraint::Length(answer_rows + u16::from(facts_rows > 0)),
    ])
    .areas(area);
    for (row, line) in self::facts(look, listed, shown, width).into_iter().enumerate() {
        pane::line(line, row as u16, facts, buf);
    }
    let drawn: Vec<Drawn> = curves
        .iter()
        .map(|curve| Drawn { curve, style: look.series(curve.hue), marker: look.marker(curve.index), emphasis: false })
        .collect();
    if !drawn.is_empty() {
        chart::draw(look, (axis, metric), &drawn, None, chart, buf);
    }
    for (row, line) in legend.into_iter().enumerate() {
        pane::line(line, row as u16, below, buf);
    }
    let shift = answered.height - answer_rows.min(answered.height);
    let cut = answer.len() > usize::from(answer_rows);
    for (row, part) in answer.into_iter().take(usize::from(answer_rows)).enumerate() {
        let last = cut && row + 1 == usize::from(answer_rows);
        let part = if last { pane::fit(&format!("{part} {}", "·".repeat(width)), width.min(pane::width(&part) + 2)) } else { part };
        pane::line(Line::styled(part, look.style(Role::Text)), row as u16 + shift, answered, buf);
    }
}

/// Throughput, or the number of calls where no bytes are moved.
fn of(shown: &Shown, axis: Axis) -> (Metric, Vec<Curve>) {
    let throughput = curves::curves(&shown.results, axis, Metric::Throughput);
    if throughput.is_empty() {
        return (Metric::Operations, curves::curves(&shown.results, axis, Metric::Operations));
    }
    (Metric::Throughput, throughput)
}

/// Two lines: the target; when, how long, how much, how good.
fn facts(look: &Look, listed: &Listed, shown: &Shown, width: usize) -> Vec<Line<'static>> {
    let (dim, number) = (look.style(Role::Dim), look.style(Role::Number));
    let dot = look.glyph(" · ", " - ");
    let mut parts = vec![Span::styled(format!("{} UTC", when(&listed.created)), dim)];
    if let Some(seconds) = listed.seconds {
        parts.extend([Span::styled(dot, dim), Span::styled(units::three_digits(seconds), number), Span::styled(" s", dim)]);
    }
    parts.extend([Span::styled(dot, dim), Span::styled(cells(listed), number), Span::styled(" cells", dim)]);
    if let Some(verdict) = listed.verdict {
        let (badge, role) = columns::verdict(look, Some(verdict), true);
        parts.extend([Span::styled(dot, dim), Span::styled(badge, look.style(role))]);
    }
    let presets = shown.session.plan.presets.join(", ");
    if !presets.is_empty() {
        parts.extend([Span::styled(dot, dim), Span::styled(presets, dim)]);
    }
    let parts = parts.into_iter().map(|span| Span::styled(span.content.into_owned(), span.style)).collect::<Vec<_>>();
    let target = pane::fit_front(&shown.target(), width);
    vec![Line::styled(target, look.style(Role::Text)), Line::from(parts)]
}

/// The curves by marker and name, as many to a line as fit.
fn legend(look: &Look, curves: &[Curve], width: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<(usize, Vec<Span<'static>>)> = vec![(0, Vec::new())];
    for curve in curves {
        let own = pane::width(&curve.name) + 5;
        if lines.last().is_some_and(|(used, _)| *used > 0 && used + own > width + 3) {
            lines.push((0, Vec::new()));
        }
        if let Some((used, spans)) = lines.last_mut() {
            *used += own;
            spans.push(Span::styled(format!("{} ", look.marker(curve.index)), look.series(curve.hue)));
            spans.push(Span::styled(format!("{}   ", curve.name), look.style(Role::Text)));
        }
    }
    lines.into_iter().map(|(_, spans)| Line::from(spans)).collect()
}
