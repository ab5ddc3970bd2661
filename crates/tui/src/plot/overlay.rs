//! Help for reading the curves: rules with their labels, the cursor, and the names of series, each
//! next to a marker that is clearly its own.

use std::collections::BTreeMap;

use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::canvas::{Canvas, put};
use super::chart::{Chart, Draw, Point, Series};
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

/// A cell of the screen: column and row.
type Place = (u16, u16);

/// The series that have a marker in a cell, by their points; the last one is seen.
#[derive(Default)]
pub(super) struct Marks(BTreeMap<Place, Vec<*const Point>>);

impl Marks {
    /// Adds the markers of the next series.
    pub fn add(&mut self, series: &Series, cells: Vec<Place>) {
        for cell in cells {
            let all = self.0.entry(cell).or_default();
            if !all.contains(&series.points.as_ptr()) {
                all.push(series.points.as_ptr());
            }
        }
    }

    /// Returns whether a series alone has a marker in the cell.
    fn are_of(&self, cell: Place, series: &Series) -> bool {
        self.0.get(&cell).is_some_and(|all| all[..] == [series.points.as_ptr()])
    }
}

/// Returns the columns and rows from a word that begins at `start` to a cell.
fn distance((start, row): Place, width: u16, cell: Place) -> (u16, u16) {
    let end = start.saturating_add(width.saturating_sub(1));
    (start.saturating_sub(cell.0).max(cell.0.saturating_sub(end)), row.abs_diff(cell.1))
}

/// Names each series at its last marker that it shares with no other. A series without such a
/// marker is named together with the series in the same cell, or not at all.
pub(super) fn draw_names(chart: &Chart, frame: &Frame, marks: &Marks, canvas: &mut Canvas) {
    let (columns, rows) = canvas.size();
    let mut groups: Vec<Place> = Vec::new();
    chart.for_each_series(|series| {
        let visible = |p: &&Point| p.y.is_finite() && frame.column_of(p.x).is_some();
        let cell_of = |p: &Point| {
            let (x, y) = (frame.x.share(p.x), 1.0 - frame.y.share(p.y));
            canvas.cell_of(x * (columns - 1.0), y * (rows - 1.0))
        };
        let cells: Vec<Place> =
            series.points.iter().rev().filter(visible).filter_map(cell_of).collect();
        if series.name.is_empty() || cells.is_empty() {
            return;
        }
        let mut own: Vec<Place> =
            cells.iter().copied().filter(|cell| marks.are_of(*cell, series)).collect();
        // A line is also seen where it ends.
        if series.draw != Draw::Points && !marks.0.contains_key(&cells[0]) {
            own.insert(0, cells[0]);
        }
        if !own.is_empty() {
            return draw_name(series.name, series.style, &own, marks, canvas);
        }
        let has_it = |all: &Vec<*const Point>| all.contains(&series.points.as_ptr());
        let shared = cells.iter().find(|cell| marks.0.get(cell).is_some_and(has_it));
        let Some(cell) = shared.filter(|cell| !groups.contains(cell)) else { return };
        groups.push(*cell);
        let named = |of: &*const Point| {
            chart.series.iter().find(|own| own.points.as_ptr() == *of && !own.name.is_empty())
        };
        let Some(all) = marks.0[cell].iter().map(named).collect::<Option<Vec<&Series>>>() else {
            return;
        };
        let names: Vec<&str> = all.iter().map(|of| of.name).collect();
        let seen = all.last().map_or(Style::new(), |of| of.style);
        draw_name(&names.join(", "), seen, &[*cell], marks, canvas);
    });
}

/// Writes a name next to the first of these cells, nearer to them than to any other marker;
/// not at all without room.
fn draw_name(name: &str, style: Style, own: &[Place], marks: &Marks, canvas: &mut Canvas) {
    let (column, row) = own[0];
    let text = format!(" {name} ");
    let width = text.width() as u16;
    if width > canvas.area.width {
        return;
    }
    let near = |cell: &&Place| cell.1.abs_diff(row) <= 8;
    let own: Vec<Place> = own.iter().filter(near).copied().collect();
    let others: Vec<Place> =
        marks.0.keys().filter(near).filter(|cell| !own.contains(cell)).copied().collect();
    let belongs = |(at, row): Place| {
        let to = |cell: &Place| distance((at + 1, row), width - 2, *cell);
        // A row is as high as two columns.
        let nearest = |cells: &[Place]| cells.iter().map(to).map(|(x, y)| x + 2 * y).min();
        let beside = own.iter().map(to).any(|(across, rows)| across <= 2 && rows <= 2);
        let apart =
            nearest(&others).is_none_or(|other| nearest(&own).is_some_and(|own| own + 1 < other));
        beside && apart
    };
    // Behind the last point, else above or below it.
    let after = (column + 1, row);
    let last = (canvas.area.right() - width).min(column + 1);
    let first = column.saturating_sub(width + 2).max(canvas.area.left());
    let around = [1i32, -1, 2, -2]
        .into_iter()
        .filter_map(|away| u16::try_from(i32::from(row) - away).ok())
        .flat_map(|row| (first..=last).rev().map(move |at| (at, row)));
    let place = std::iter::once(after)
        .chain(around)
        .find(|(at, row)| has_room(canvas, *at, *row, width) && belongs((*at, *row)));
    if let Some((at, row)) = place {
        write(canvas, at, row, &text, style);
    }
}
