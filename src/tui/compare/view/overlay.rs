//! Draws the curves of all sessions in one chart, with a legend of their values.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::tui::compare::data::LoadedComparison;
use crate::tui::compare::layout::beside_legend;
use crate::tui::compare::overlay::Overlay;
use crate::tui::curve_chart::{self, Axes, Drawn};
use crate::tui::keymap::{Action, key_of};
use crate::tui::plot::Draw;
use crate::tui::screen::Screen;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

pub fn draw(
    look: &Look,
    compared: &LoadedComparison,
    overlay: &Overlay,
    log: bool,
    body: Rect,
    buf: &mut Buffer,
) {
    let [plot, legend] = beside_legend(body, legend_rows(overlay).len());
    let x = overlay.at.and_then(|at| overlay.xs().get(at).copied());
    let title = format!("{} by {}", overlay.metric.title(), overlay.axis.title());
    let logarithmic = if log { "log, " } else { "" };
    let inner = pane::frame(
        look,
        &title,
        &format!("{logarithmic}{} sessions", compared.views.len()),
        true,
        plot,
        buf,
    );
    let drawn: Vec<Drawn> = overlay
        .lines
        .iter()
        .enumerate()
        .map(|(at, line)| Drawn {
            curve: &line.curve,
            style: look.series(line.curve.sign.hue()),
            marker: look.marker(line.curve.sign),
            draw: draw_of(line.session),
            emphasis: at == overlay.cursor,
        })
        .collect();
    if drawn.is_empty() {
        pane::line(
            Line::styled(" no measurements in these sessions", look.style(Role::Dim)),
            0,
            inner,
            buf,
        );
    } else {
        curve_chart::draw(
            look,
            Axes { along: overlay.axis, metric: overlay.metric, log },
            &drawn,
            x,
            inner,
            buf,
        );
    }
    self::legend(look, compared, overlay, x, legend, buf);
}

/// Returns how the lines of a session are drawn: colour and marker tell the series.
fn draw_of(session: usize) -> Draw {
    match session {
        0 => Draw::LineAndMarkers,
        1 => Draw::Dashed,
        _ => Draw::Dotted,
    }
}

/// A row of the legend.
enum Entry {
    /// The name of a curve, above its lines.
    Curve(String),
    /// Index into the lines.
    Line(usize),
}

fn legend_rows(overlay: &Overlay) -> Vec<Entry> {
    let mut rows = Vec::new();
    let mut before = None;
    for (at, line) in overlay.lines.iter().enumerate() {
        if before != Some(&line.curve.name) {
            rows.push(Entry::Curve(line.curve.name.clone()));
            before = Some(&line.curve.name);
        }
        rows.push(Entry::Line(at));
    }
    rows
}

fn legend(
    look: &Look,
    compared: &LoadedComparison,
    overlay: &Overlay,
    x: Option<f64>,
    area: Rect,
    buf: &mut Buffer,
) {
    let peak = if overlay.metric.more_is_better() { "peak" } else { "least" };
    let right = x.map_or(peak.into(), |x| format!("at {}", overlay.axis.show(x as u64)));
    let inner = pane::frame(look, "Curves", &right, false, area, buf);
    let rows = legend_rows(overlay);
    let here = rows
        .iter()
        .position(|row| matches!(row, Entry::Line(at) if *at == overlay.cursor))
        .unwrap_or(0);
    let first = pane::first_row(here, rows.len(), usize::from(inner.height));
    for (row, entry) in rows.iter().skip(first).take(usize::from(inner.height)).enumerate() {
        let line = match entry {
            Entry::Curve(name) => Line::styled(
                format!(" {}", pane::fit(name, inner.width.into())),
                look.style(Role::Title),
            ),
            Entry::Line(at) => {
                curve_line(look, compared, overlay, *at, x, usize::from(inner.width))
            }
        };
        if first + row == here && matches!(entry, Entry::Line(_)) {
            pane::line(pane::lit(look, line), row as u16, inner, buf);
            pane::select(look.style(Role::Selected), row as u16, inner, buf);
        } else {
            pane::line(line, row as u16, inner, buf);
        }
    }
    pane::scrollbar(look, first, rows.len(), inner, buf);
    if usize::from(inner.height) > rows.len() + 2 {
        hint(look, inner, buf);
    }
}

/// Draws the keys of the chart at the bottom of the legend.
fn hint(look: &Look, area: Rect, buf: &mut Buffer) {
    let table = key_of(Action::Table, Screen::Compare);
    let keys = [
        (look.glyph("↑↓", "k j"), "curve"),
        (look.glyph("←→", "h l"), "read out"),
        (table, "cells"),
    ];
    let parts = keys.iter().flat_map(|(key, what)| {
        [
            Span::styled(format!(" {key} "), look.style(Role::Key)),
            Span::styled(format!("{what} "), look.style(Role::Dim)),
        ]
    });
    pane::line(Line::from_iter(parts), area.height - 1, area, buf);
}

/// Draws marker, session and value of a curve.
fn curve_line(
    look: &Look,
    compared: &LoadedComparison,
    overlay: &Overlay,
    at: usize,
    x: Option<f64>,
    width: usize,
) -> Line<'static> {
    let line = &overlay.lines[at];
    let value =
        overlay.value(line, x).map_or("-".into(), |value| overlay.metric.show(value, look.unit));
    let room = width.saturating_sub(8 + pane::width(&value));
    let name = pane::fit(compared.name(line.session), room);
    let pad = " ".repeat(room.saturating_sub(pane::width(&name)));
    let (figure, unit) = value.split_once(' ').unwrap_or((&value, ""));
    let hue = look.series(line.curve.sign.hue());
    Line::from(vec![
        Span::styled(format!("  {} ", look.marker(line.curve.sign)), hue),
        Span::styled(format!("{} ", compared.letter(line.session)), look.style(Role::Title)),
        Span::styled(name + &pad, look.style(Role::Text)),
        Span::styled(format!(" {figure} "), look.style(Role::Number)),
        Span::styled(unit.to_string(), look.style(Role::Dim)),
    ])
}
