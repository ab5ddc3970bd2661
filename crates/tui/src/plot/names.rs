//! The names of series in the free cells, each next to a marker that is clearly its own.

use std::collections::BTreeMap;

use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::canvas::Canvas;
use super::chart::{Chart, Draw, Point, Series};
use super::frame::Frame;
use super::overlay::{has_room, write};

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

/// Names each series at its last marker that it shares with no other; one that has none is named
/// together with those that it shares a cell with, or not at all.
pub(super) fn draw(chart: &Chart, frame: &Frame, marks: &Marks, canvas: &mut Canvas) {
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

#[cfg(test)]
mod tests;
