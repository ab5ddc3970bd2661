//! Draws the curves of all sessions in one chart, with a legend of their values.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::CompareScene;
use crate::analysis::letter;
use crate::compare::state::{Compare, Overlay};
use crate::context::ViewContext;
use crate::curves::{self, Axes, Drawn};
use crate::keymap::{Action, key_of};
use crate::plot::{Chart, Draw};
use crate::read_out::{self, LocatedPoints, READ_REACH};
use crate::screen::Screen;
use crate::theme::{Look, Role};
use crate::units::counted;
use crate::view::list::List;
use crate::view::{Hits, pane};
use crate::vocabulary::{DASHED, DOTTED, SOLID, Sign};

pub fn draw(scene: CompareScene, ctx: &ViewContext, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let CompareScene { look, compare, got } = scene;
    let (overlay, log) = (&compare.overlay, compare.log());
    let [plot, legend] = split(body, legend_rows(overlay).len());
    let title = overlay.metric.title_by(overlay.places.axis);
    let logarithmic = if log { "log, " } else { "" };
    let inner = pane::frame(
        look,
        &title,
        &format!("{logarithmic}{} sessions", got.views.len()),
        true,
        plot,
        buf,
    );
    if overlay.lines.is_empty() {
        pane::line(look.line(Role::Dim, " no measurements in these sessions"), 0, inner, buf);
    } else {
        hits.chart(inner);
        with_chart(look, overlay, log, |chart| chart.render(inner, buf));
        draw_read_out(scene, ctx, inner, buf);
    }
    self::legend(scene, legend, buf);
}

/// Returns the areas of the chart and of a legend with `rows` rows: side by side on a wide screen,
/// else one above the other.
fn split(body: Rect, rows: usize) -> [Rect; 2] {
    if body.width >= 110 {
        let legend = (body.width * 3 / 10).clamp(36, 60);
        Layout::horizontal([Constraint::Min(40), Constraint::Length(legend)]).areas(body)
    } else {
        let legend = (rows as u16 + 2).min(body.height / 2);
        Layout::vertical([Constraint::Min(6), Constraint::Length(legend)]).areas(body)
    }
}

/// Builds the chart and passes it to `then`, for drawing and for the mouse.
pub fn with_chart<R>(
    look: &Look,
    overlay: &Overlay,
    log: bool,
    then: impl FnOnce(&Chart) -> R,
) -> R {
    let between = overlay.places.ends(overlay.zoom);
    let axes = Axes { along: overlay.places.axis, metric: overlay.metric, log, between };
    let x = overlay.x();
    // Sessions share colours and markers: their letters tell the curves apart.
    let letters: Vec<String> = overlay.lines.iter().map(|line| letter(line.session)).collect();
    let drawn: Vec<Drawn> = overlay
        .lines
        .iter()
        .zip(&letters)
        .enumerate()
        .map(|(at, (line, letter))| Drawn {
            curve: &line.curve,
            name: letter,
            style: look.series(line.curve.sign.hue()),
            marker: look.marker(line.curve.sign),
            draw: line_of(line.session).0,
            emphasis: at == overlay.cursor,
        })
        .collect();
    curves::with_chart(look, axes, &drawn, x, then)
}

/// Returns the points of all curves, each with its line, and where they are.
pub fn locate_points(look: &Look, overlay: &Overlay, log: bool, area: Rect) -> LocatedPoints {
    let curves = || overlay.lines.iter().map(|line| &line.curve).enumerate();
    with_chart(look, overlay, log, |chart| LocatedPoints::new(chart, area, curves()))
}

/// Describes the point under the pointer.
fn draw_read_out(scene: CompareScene, ctx: &ViewContext, area: Rect, buf: &mut Buffer) {
    let CompareScene { compare, got, .. } = scene;
    let Some(at) = ctx.pointer.filter(|at| area.contains(*at)) else { return };
    let overlay = &compare.overlay;
    let located = locate_points(ctx.look, overlay, compare.log(), area);
    let Some((line, point, place)) = located.nearest(at, READ_REACH) else { return };
    let Some(line) = overlay.lines.get(line) else { return };
    let name = format!("{} {}", got.letter(line.session), line.curve.name);
    let x = overlay.places.axis.show(point.x as u64);
    let result = got.views.get(line.session).and_then(|view| view.results.get(point.result));
    let text = read_out::describe(ctx.look, (&name, &x), overlay.metric, &point, result);
    read_out::draw(ctx.look, &text, place, located.plot, buf);
}

/// Returns the line style of a session and its sample in the legend; colour and marker belong to
/// the series.
fn line_of(session: usize) -> (Draw, Sign) {
    match session {
        0 => (Draw::LineAndMarkers, SOLID),
        1 => (Draw::Dashed, DASHED),
        _ => (Draw::Dotted, DOTTED),
    }
}

/// A row of the legend.
enum Entry {
    /// The name of a curve, above its lines.
    Curve(String),
    /// Index into the lines.
    Line(usize),
    /// Number of figures that are not on a curve.
    Singles(usize),
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
    rows.extend((overlay.singles > 0).then_some(Entry::Singles(overlay.singles)));
    rows
}

fn legend(scene: CompareScene, area: Rect, buf: &mut Buffer) {
    let (look, overlay) = (scene.look, &scene.compare.overlay);
    let peak = if overlay.metric.more_is_better() { "peak" } else { "least" };
    let right =
        overlay.x().map_or(peak.into(), |x| format!("at {}", overlay.places.axis.show(x as u64)));
    let inner = pane::frame(look, "Curves", &right, false, area, buf);
    let rows = legend_rows(overlay);
    let here = rows
        .iter()
        .position(|row| matches!(row, Entry::Line(at) if *at == overlay.cursor))
        .unwrap_or(0);
    let width = usize::from(inner.width);
    let line = |at: usize| match &rows[at] {
        Entry::Curve(name) => look.line(Role::Title, format!(" {}", pane::fit(name, width))),
        Entry::Line(line) => {
            let text = curve_line(scene, *line, width);
            if at == here { pane::lit(look, text) } else { text }
        }
        Entry::Singles(count) => {
            let (count, key) = (counted(*count, "single figure"), table_key());
            look.line(Role::Dim, pane::fit(&format!(" {count}: {key} lists them"), width))
        }
    };
    let selected = Some(here).filter(|here| matches!(rows.get(*here), Some(Entry::Line(_))));
    List::around(here, rows.len(), inner).draw(look, selected, line, buf);
    if usize::from(inner.height) > rows.len() + 2 {
        hint(look, inner, buf);
    }
}

/// Returns the key of the list of cells.
fn table_key() -> &'static str {
    key_of(Action::Table, Screen::Compare)
}

/// Draws the keys of the chart at the bottom of the legend.
fn hint(look: &Look, area: Rect, buf: &mut Buffer) {
    let keys = [
        (look.glyph("↑↓", "k j"), "curve"),
        (look.glyph("←→", "h l"), "read out"),
        (table_key(), "cells"),
    ];
    let parts = keys.iter().flat_map(|(key, what)| {
        [look.span(Role::Key, format!(" {key} ")), look.span(Role::Dim, format!("{what} "))]
    });
    pane::line(Line::from_iter(parts), area.height - 1, area, buf);
}

/// Draws marker, line, session and value of a curve.
fn curve_line(scene: CompareScene, at: usize, width: usize) -> Line<'static> {
    let CompareScene { look, compare: Compare { overlay, .. }, got } = scene;
    let line = &overlay.lines[at];
    let value = overlay
        .value(line, overlay.x())
        .map_or("-".into(), |value| overlay.metric.show(value, look.unit));
    let room = width.saturating_sub(12 + pane::width(&value));
    let name = pane::fit(got.name(line.session), room);
    let (figure, unit) = value.split_once(' ').unwrap_or((&value, ""));
    let hue = look.series(line.curve.sign.hue());
    let sample = line_of(line.session).1.on(look);
    Line::from(vec![
        Span::styled(format!("  {} {sample} ", look.marker(line.curve.sign)), hue),
        look.span(Role::Title, format!("{} ", got.letter(line.session))),
        look.span(Role::Text, pane::pad(&name, room)),
        look.span(Role::Number, format!(" {figure} ")),
        look.span(Role::Dim, unit.to_string()),
    ])
}
