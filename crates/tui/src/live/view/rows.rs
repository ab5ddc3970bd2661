//! Results so far as rows: name, median, trials, interval, warning.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::scene::{LiveScene, frame};
use super::warnings;
use crate::analysis::align_figures;
use crate::live::rows::{CellRow, RowFigures, TICKS, unit};
use crate::plot::sparkline;
use crate::record::Severity;
use crate::theme::Role;
use crate::view::{digits, pane};

/// Columns of the longest name, of a figure, and of an interval.
const NAME: usize = 44;
const FIGURE: usize = 5;
const INTERVAL: usize = 8;
/// Columns around them: marker of the running row, gaps, sign of a warning.
const OTHERS: usize = 7;

/// The columns of a row.
struct Widths {
    name: usize,
    figure: usize,
    ticks: usize,
    words: usize,
}

pub fn draw(scene: &LiveScene, rows: &[CellRow], of: RowFigures, area: Rect, buf: &mut Buffer) {
    let (look, view) = (scene.look, scene.view);
    let (factor, unit) = unit(rows, of, view.metric(), look.unit);
    let unit = if of == RowFigures::Commits { format!("commits, {unit}") } else { unit.into() };
    let inner = frame(look, &scene.view.title(), vec![look.span(Role::Dim, unit)], area, buf);
    let running = view.cell().filter(|_| view.outcome.is_none());
    let height = usize::from(inner.height);
    let count = if rows.len() > height { height.saturating_sub(1) } else { rows.len() };
    // The row that runs is among them.
    let at = rows.iter().position(|row| Some(row.cell) == running).unwrap_or(0);
    let first = (at + 1).saturating_sub(count);
    let texts = align_figures(rows.iter().map(|row| row.figure.as_ref()), factor);
    let figure = texts.iter().map(|text| pane::width(text)).max().unwrap_or(0).max(FIGURE);
    let room = usize::from(inner.width).saturating_sub(figure + INTERVAL + OTHERS);
    let longest = rows.iter().map(|row| pane::width(&row.name)).max().unwrap_or(0);
    let name = longest.min(NAME).min(room);
    // The rest is for the words of a warning.
    let ticks = (room - name).min(TICKS);
    let widths = Widths { name, figure, ticks, words: room - name - ticks };
    for (y, (row, text)) in rows.iter().zip(&texts).skip(first).take(count).enumerate() {
        let line = draw_row(scene, row, Some(row.cell) == running, &widths, text);
        pane::line(line, y as u16, inner, buf);
    }
    if count < rows.len() {
        let text = format!("  and {} more", rows.len() - count);
        pane::line(look.line(Role::Dim, text), count as u16, inner, buf);
    }
}

fn draw_row(
    scene: &LiveScene,
    row: &CellRow,
    runs: bool,
    widths: &Widths,
    text: &str,
) -> Line<'static> {
    let (look, view) = (scene.look, scene.view);
    let name = pane::pad(&pane::fit(&row.name, widths.name), widths.name);
    let certainty = row.figure.map_or(String::new(), |figure| figure.describe_certainty());
    let ticks = &row.ticks[row.ticks.len().saturating_sub(widths.ticks)..];
    let highest = ticks.iter().copied().fold(0.0, f64::max);
    let bars = sparkline(look, ticks.iter().copied(), (0.0, highest));
    let role = row.figure.as_ref().map_or(Role::Text, digits::role);
    let mut line = Line::from(vec![
        look.span(Role::Focus, if runs { look.glyph("► ", "> ") } else { "  " }),
        look.span(if runs { Role::Title } else { Role::Text }, name),
        Span::raw(" "),
        look.span(role, pane::pad_front(text, widths.figure)),
        Span::raw(" "),
        Span::styled(pane::pad(&bars, widths.ticks), scene.sign(row.cell).0),
        Span::raw(" "),
        look.span(Role::Dim, pane::pad(&certainty, INTERVAL)),
    ]);
    // The gravest comes first.
    let found = view.warnings.of_cell(row.cell).find(|found| found.severity > Severity::Note);
    if let Some(found) = found {
        line.push_span(warnings::severity_sign(look, found.severity));
        if pane::width(&found.words) <= widths.words {
            line.push_span(look.span(Role::Dim, found.words.clone()));
        }
    }
    line
}
