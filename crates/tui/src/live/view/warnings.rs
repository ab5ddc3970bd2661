//! Warnings about the results so far.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::scene::{LiveScene, frame};
use crate::keymap::{Action, key_of};
use crate::live::run_warnings::{RunWarning, RunWarnings};
use crate::record::Severity;
use crate::screen::Screen;
use crate::theme::{Look, Role};
use crate::view::{findings, pane};

pub fn severity_sign(look: &Look, severity: Severity) -> Span<'static> {
    let (role, sign) = findings::severity(look, severity);
    look.span(role, format!("{sign} "))
}

/// Limit on the lines of one warning.
const MAX_LINES: usize = 3;

/// Wraps a warning into at most `max_lines` lines.
fn wrap_finding(
    look: &Look,
    finding: &RunWarning,
    room: usize,
    max_lines: usize,
) -> Vec<Line<'static>> {
    let parts = pane::wrap(&finding.message, room.saturating_sub(2));
    let count = if finding.cells.len() > 1 {
        format!("  {} cells", finding.cells.len())
    } else {
        String::new()
    };
    let fits = parts.last().is_some_and(|last| pane::width(last) + count.len() + 2 <= room);
    if max_lines < 2 || parts.len() > max_lines || !fits {
        return vec![summarize(look, finding, room)];
    }
    let signs = std::iter::once(severity_sign(look, finding.severity))
        .chain(std::iter::repeat(Span::raw("  ")));
    let mut lines: Vec<Line> = parts
        .into_iter()
        .zip(signs)
        .map(|(part, sign)| Line::from(vec![sign, look.span(Role::Text, part)]))
        .collect();
    if let Some(last) = lines.last_mut() {
        last.push_span(look.span(Role::Dim, count));
    }
    lines
}

/// Returns the rows that all of them need.
pub fn count_rows(look: &Look, found: &RunWarnings, columns: u16) -> usize {
    found
        .iter()
        .map(|finding| wrap_finding(look, finding, usize::from(columns), MAX_LINES).len())
        .sum()
}

/// Fits a warning into one line.
pub fn summarize(look: &Look, finding: &RunWarning, room: usize) -> Line<'static> {
    let cells = finding.cells.len();
    let count = if cells > 1 { format!("  {cells} cells") } else { String::new() };
    let room = room.saturating_sub(2 + count.len());
    // A whole short text says more than the beginning of a long one.
    let whole = pane::width(&finding.message) <= room;
    let text = pane::fit(if whole { &finding.message } else { &finding.words }, room);
    Line::from(vec![
        severity_sign(look, finding.severity),
        look.span(Role::Text, text),
        look.span(Role::Dim, count),
    ])
}

pub fn draw(scene: &LiveScene, area: Rect, buf: &mut Buffer) {
    let (look, found) = (scene.look, &scene.view.warnings);
    let inner =
        frame(look, "Warnings", vec![look.span(Role::Number, found.len().to_string())], area, buf);
    let skipped = scene.scroll.min(found.len().saturating_sub(1));
    let (mut left, mut row) = (found.len() - skipped, 0);
    for finding in found.iter().skip(skipped) {
        // Each later warning keeps a row while there are rows; the last row counts the rest.
        let free = usize::from(inner.height) - row;
        if free == 0 || (free == 1 && left > 1) {
            break;
        }
        let lines = wrap_finding(
            look,
            finding,
            usize::from(inner.width),
            (free + 1).saturating_sub(left).clamp(1, MAX_LINES),
        );
        for line in lines {
            pane::line(line, row as u16, inner, buf);
            row += 1;
        }
        left -= 1;
    }
    if left > 0 {
        let text = format!("{left} more: {}", key_of(Action::Down, Screen::Live));
        pane::line(Line::from(look.span(Role::Dim, text)), row as u16, inner, buf);
    }
}
