//! Help for reading the curves: rules, the cursor, and labels in the free cells.

use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::canvas::{Canvas, put};
use super::chart::{Chart, Draw, Point};
use super::frame::Frame;
use crate::tui::theme::Role;

const RULE: char = '┄';
/// No curve has it; at every second column.
const ASCII_RULE: char = '=';

/// Returns the row of a rule, and whether it is inside of the axis (-1: below, 1: above).
fn row_of(at: f64, frame: &Frame, canvas: &Canvas) -> Option<(u16, i8)> {
    let share = frame.y.share(at);
    if !at.is_finite() || share.is_nan() {
        return None;
    }
    let dots = canvas.size().1 - 1.0;
    let dot = (1.0 - share.clamp(0.0, 1.0)) * dots;
    let beyond = if share > 1.0 + 1e-9 { 1 } else { -i8::from(share < -1e-9) };
    Some((canvas.cell_of(0.0, dot)?.1, beyond))
}

/// Draws the lines of the rules, behind the curves.
pub(super) fn draw_rules(chart: &Chart, frame: &Frame, canvas: &mut Canvas) {
    for rule in chart.rules {
        let Some((row, 0)) = row_of(rule.at, frame, canvas) else { continue };
        for column in canvas.area.left()..canvas.area.right() {
            let symbol = if canvas.is_ascii() { ASCII_RULE } else { RULE };
            let shown = !canvas.is_ascii() || (column - canvas.area.left()).is_multiple_of(2);
            if shown && canvas.is_blank(column, row) {
                fill(canvas, column, row, symbol, rule.style);
            }
        }
    }
}

/// Returns whether a cell shows a piece of an interval, which would be a bar if it were reversed.
fn is_interval(symbol: &str) -> bool {
    matches!(symbol, "│" | "╵" | "╷" | ":")
}

/// Draws the cursor, behind the curves; where it crosses one, that is reversed. No series has its
/// colour, and no interval its kind of line.
pub(super) fn draw_cursor(chart: &Chart, frame: &Frame, canvas: &mut Canvas) {
    let Some(column) = chart.cursor.and_then(|x| frame.column_of(x)) else { return };
    let style = chart.look.style(Role::Cursor);
    let symbol = if canvas.is_ascii() { '|' } else { '┊' };
    for row in canvas.area.top()..canvas.area.bottom() {
        if is_free(canvas, column, row) {
            fill(canvas, column, row, symbol, style);
        } else if let Some(cell) = canvas.cell(column, row)
            && !is_interval(cell.symbol())
        {
            cell.set_style(Style::new().add_modifier(ratatui::style::Modifier::REVERSED));
        }
    }
}

/// Places the labels of rules, then the names of series, each where it covers nothing; skips those
/// without room.
pub(super) fn draw_labels(chart: &Chart, frame: &Frame, canvas: &mut Canvas) {
    for rule in chart.rules.iter().filter(|rule| !rule.label.is_empty()) {
        let Some((row, beyond)) = row_of(rule.at, frame, canvas) else { continue };
        let text = match beyond {
            0 => format!(" {} ", rule.label),
            1 => format!(" {} {} ", rule.label, chart.look.glyph("↑", "^")),
            _ => format!(" {} {} ", rule.label, chart.look.glyph("↓", "v")),
        };
        let width = text.width() as u16;
        let Some(last) = canvas.area.right().checked_sub(width) else { continue };
        let first = canvas.area.left();
        // Curves mostly begin low and end high: the left is often free.
        let starts = || {
            [first + 2, last.saturating_sub(2)]
                .into_iter()
                .chain(first..=last)
                .filter(|at| (first..=last).contains(at))
        };
        let rows = [Some(row), row.checked_sub(1), row.checked_add(1)];
        let place = rows
            .into_iter()
            .flatten()
            .find_map(|row| Some((starts().find(|at| has_room(canvas, *at, row, width))?, row)));
        if let Some((column, row)) = place {
            write(canvas, column, row, &text, rule.style);
        }
    }
    if chart.names {
        draw_names(chart, frame, canvas);
    }
}

/// The place of a marker on the screen, and the points that it belongs to.
type PlacedMarker<'a> = ((u16, u16), &'a [Point]);

/// Returns the markers of all series.
fn place_markers<'a>(chart: &Chart<'a>, frame: &Frame, canvas: &Canvas) -> Vec<PlacedMarker<'a>> {
    let (columns, rows) = canvas.size();
    let marked =
        chart.series.iter().filter(|one| matches!(one.draw, Draw::Points | Draw::LineAndMarkers));
    let place = |point: &Point| {
        let y = if point.y.is_finite() { point.y } else { f64::NAN };
        let (x, y) = (frame.x.share(point.x), 1.0 - frame.y.share(y));
        canvas.cell_of(x * (columns - 1.0), y * (rows - 1.0))
    };
    marked
        .flat_map(|one| one.points.iter().map(move |point| (place(point), one.points)))
        .filter_map(|(cell, points)| Some((cell?, points)))
        .collect()
}

/// Returns how far a name that begins at `start` is from a cell: a row is as high as two columns.
fn distance((start, row): (u16, u16), width: u16, cell: (u16, u16)) -> u16 {
    let end = start.saturating_add(width.saturating_sub(1));
    let across = start.saturating_sub(cell.0).max(cell.0.saturating_sub(end));
    across.saturating_add(row.abs_diff(cell.1).saturating_mul(2))
}

/// Draws each name near the last visible point of its series, and nearer to it than to a marker of
/// another one.
fn draw_names(chart: &Chart, frame: &Frame, canvas: &mut Canvas) {
    let rows = canvas.size().1 - 1.0;
    let markers = place_markers(chart, frame, canvas);
    chart.for_each_series(|series| {
        let visible = |p: &&Point| p.y.is_finite() && frame.column_of(p.x).is_some();
        let Some(point) = series.points.iter().rev().find(visible) else { return };
        let (Some(column), share) = (frame.column_of(point.x), frame.y.share(point.y)) else {
            return;
        };
        let Some((_, row)) = canvas.cell_of(0.0, (1.0 - share) * rows) else { return };
        let text = format!(" {} ", series.name);
        let width = text.width() as u16;
        if series.name.is_empty() || width > canvas.area.width {
            return;
        }
        let near = markers.iter().filter(|(cell, _)| cell.1.abs_diff(row) <= 8);
        let (mut own, mut others): (Vec<&PlacedMarker>, Vec<&PlacedMarker>) =
            near.partition(|(_, points)| std::ptr::eq(*points, series.points));
        let end = ((column, row), series.points);
        own.push(&end);
        // Where two curves meet, a name belongs to both.
        others.retain(|(cell, _)| own.iter().all(|(at, _)| at != cell));
        let belongs = |(at, row): (u16, u16)| {
            let nearest = |markers: &[&PlacedMarker]| {
                markers.iter().map(|(cell, _)| distance((at + 1, row), width - 2, *cell)).min()
            };
            nearest(&others).is_none_or(|other| nearest(&own) < Some(other))
        };
        // Behind the last point, else above or below it.
        let after = (column + 1, row);
        let last = (canvas.area.right() - width).min(column + 1);
        // So far to the left that names of curves that end at one point stand side by side.
        let first = column.saturating_sub(2 * width.max(6)).max(canvas.area.left());
        let near = [1i32, -1, 2, -2]
            .into_iter()
            .filter_map(|away| u16::try_from(i32::from(row) - away).ok())
            .flat_map(|row| (first..=last).rev().map(move |at| (at, row)));
        let place = std::iter::once(after)
            .chain(near)
            .find(|(at, row)| has_room(canvas, *at, *row, width) && belongs((*at, *row)));
        if let Some((at, row)) = place {
            write(canvas, at, row, &text, series.style);
        }
    });
}

/// Returns whether the place is blank, or has only a rule.
fn is_free(canvas: &Canvas, column: u16, row: u16) -> bool {
    fn rule(symbol: &str) -> bool {
        symbol.chars().next().is_some_and(|c| c == RULE || c == ASCII_RULE)
    }
    let inside = canvas.area.contains((column, row).into());
    inside
        && canvas
            .buf
            .cell((column, row))
            .is_some_and(|cell| cell.symbol() == " " || rule(cell.symbol()))
}

fn has_room(canvas: &Canvas, start: u16, row: u16, width: u16) -> bool {
    (0..width).all(|i| is_free(canvas, start.saturating_add(i), row))
}

fn fill(canvas: &mut Canvas, column: u16, row: u16, symbol: char, style: Style) {
    if let Some(cell) = canvas.cell(column, row) {
        put(cell, symbol, style);
    }
}

fn write(canvas: &mut Canvas, column: u16, row: u16, text: &str, style: Style) {
    let room = usize::from(canvas.area.right().saturating_sub(column));
    canvas.buf.set_stringn(column, row, text, room, style);
}
