//! Help for reading the curves: rules with their labels, and the cursor.

use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::canvas::{Canvas, put};
use super::chart::Chart;
use super::frame::Frame;
use crate::theme::Role;

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

/// Places the labels of rules, each where it covers nothing; skips those without room.
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

/// Returns whether a word that begins there would cover nothing.
pub(super) fn has_room(canvas: &Canvas, start: u16, row: u16, width: u16) -> bool {
    (0..width).all(|i| is_free(canvas, start.saturating_add(i), row))
}

fn fill(canvas: &mut Canvas, column: u16, row: u16, symbol: char, style: Style) {
    if let Some(cell) = canvas.cell(column, row) {
        put(cell, symbol, style);
    }
}

pub(super) fn write(canvas: &mut Canvas, column: u16, row: u16, text: &str, style: Style) {
    let room = usize::from(canvas.area.right().saturating_sub(column));
    canvas.buf.set_stringn(column, row, text, room, style);
}
