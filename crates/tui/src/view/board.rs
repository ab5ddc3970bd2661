//! The picture of a question: a large figure, the sentences next to it, and a table that proves it.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{digits, findings, pane};
use crate::analysis::{Board, BoardColumn, Holds};
use crate::plot::{Bar, Bars};
use crate::record::Severity;
use crate::theme::{Look, Role};
use crate::units::counted;

/// Rows of the large figure with its title.
pub const HEAD: u16 = digits::ROWS + 1;
/// Columns between the columns of the table.
const GAP: u16 = 2;
/// Minimum and maximum length of a bar.
const BAR: (u16, u16) = (6, 30);

/// Returns the rows that are needed, and that are used at most.
pub fn heights(board: &Board) -> (u16, u16) {
    let rows = board.rows.len().clamp(1, 100) as u16;
    (HEAD + 1 + rows.min(4), HEAD + 2 + rows)
}

/// Draws the large figure and the table below it.
pub fn draw(look: &Look, board: &Board, area: Rect, buf: &mut Buffer) {
    draw_head(look, board, area, buf);
    // A row below the figure, where there is room.
    let above =
        HEAD + u16::from(usize::from(area.height) > usize::from(HEAD) + board.rows.len() + 1);
    let below = Rect { y: area.y + above, height: area.height.saturating_sub(above), ..area };
    draw_table(look, board, below.intersection(area), buf);
}

/// Draws title, digits with unit and interval, and the sentences at their right.
pub fn draw_head(look: &Look, board: &Board, area: Rect, buf: &mut Buffer) {
    pane::line(look.line(Role::Title, board.title.clone()), 0, area, buf);
    let place = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let place = place.intersection(area);
    let style = look.style(role(board));
    digits::draw(look, &board.number, 1, style, place, buf);
    let right = |x: u16| Rect { x: place.x + x, width: place.width.saturating_sub(x), ..place };
    let mut used = digits::width(look, &board.number, 1) + GAP;
    let interval = board.figure.map_or(String::new(), |figure| figure.describe_certainty());
    pane::line(look.line(Role::Text, board.unit.clone()), 1, right(used), buf);
    pane::line(look.line(Role::Dim, interval.clone()), 2, right(used), buf);
    used += pane::width(&interval).max(pane::width(&board.unit)) as u16 + GAP;
    let place = right(used);
    let said = board.beside.iter().flat_map(|said| pane::wrap(said, place.width.into()));
    for (row, line) in said.take(digits::ROWS.into()).enumerate() {
        pane::line(look.line(Role::Text, line), row as u16, place, buf);
    }
}

/// Returns the role of the large figure: that of its outcome, or of its certainty.
fn role(board: &Board) -> Role {
    match (board.figure, board.outcome) {
        (Some(figure), _) if figure.wrong => Role::Wrong,
        (Some(figure), _) if !figure.is_firm() => Role::Text,
        (_, Some(Holds::Fail)) => Role::Wrong,
        (_, Some(Holds::Pass)) => Role::Good,
        _ => Role::Number,
    }
}

/// Draws the table, with a bar for each rate; the last row counts those without room.
fn draw_table(look: &Look, board: &Board, area: Rect, buf: &mut Buffer) {
    let room = usize::from(area.height.saturating_sub(1));
    let all = board.rows.len();
    let count = if all > room { room.saturating_sub(1) } else { all };
    // The row of the large figure is among them.
    let first = board.lead.map_or(0, |lead| (lead + 1).saturating_sub(count));
    let shown = first..first + count;
    let names = std::iter::once(board.axis).chain(board.rows.iter().map(String::as_str));
    let wide = names.clone().map(pane::width).max().unwrap_or(0) as u16 + 2;
    pane::line(look.line(Role::Dim, format!("  {}", board.axis)), 0, area, buf);
    for (at, row) in shown.clone().enumerate() {
        let (name, is_lead) = (&board.rows[row], board.lead == Some(row));
        let sign = if is_lead { look.glyph("► ", "> ") } else { "  " };
        let role = if is_lead { Role::Title } else { Role::Text };
        pane::line(look.line(role, format!("{sign}{name}")), at as u16 + 1, area, buf);
    }
    let mut x = wide + GAP;
    for (at, column) in board.columns.iter().enumerate() {
        let left = board.columns.len() - at - 1;
        let place = Rect { x: area.x + x, width: area.width.saturating_sub(x), ..area };
        x += draw_column(look, column, (shown.clone(), left), place, buf) + GAP;
    }
    if count < all {
        let text = format!("  and {} more", counted(all - count, "row"));
        pane::line(look.line(Role::Dim, text), count as u16 + 1, area, buf);
    }
}

/// Draws a column from the left edge of an area, and returns its width; `left` others follow it.
fn draw_column(
    look: &Look,
    column: &BoardColumn,
    (shown, left): (Range<usize>, usize),
    area: Rect,
    buf: &mut Buffer,
) -> u16 {
    let (title, texts) = column.texts();
    let figures = texts.iter().map(|text| pane::width(text)).max().unwrap_or(0);
    let certainties: Vec<String> =
        (0..column.cells.len()).map(|row| column.describe_certainty(row)).collect();
    let certainty = certainties.iter().map(|text| pane::width(text)).max().unwrap_or(0);
    let marks = 2;
    let text = (figures + 1 + certainty + marks) as u16;
    // A column that follows has about as much text.
    let room = area.width.saturating_sub(1 + text + left as u16 * (text + GAP));
    let bar = if column.is_rate() && room >= BAR.0 { room.min(BAR.1) } else { 0 };
    let (max, gap) = (column.highest(), if bar > 0 { bar + 1 } else { 0 });
    pane::line(look.line(Role::Dim, title.clone()), 0, area, buf);
    for (at, row) in shown.enumerate() {
        let figure = column.cells[row].as_ref().map(|cell| cell.figure);
        let place = Rect { y: area.y + at as u16 + 1, height: 1, ..area }.intersection(area);
        let median = figure.map_or(0.0, |figure| figure.summary.median);
        let bars = [Bar::new("", median, look.style(Role::Number), "")];
        if bar > 0 {
            let place = Rect { width: bar.min(place.width), ..place };
            Bars::new(look, &bars).max(max).render(place, buf);
        }
        let beside = Rect { x: place.x + gap, width: place.width.saturating_sub(gap), ..place };
        let role =
            if figure.is_some_and(|figure| figure.is_firm()) { Role::Number } else { Role::Text };
        let mut line = Line::from(vec![
            look.span(role, texts[row].clone()),
            look.span(Role::Dim, format!(" {}", pane::pad(&certainties[row], certainty))),
        ]);
        let severity = figure.and_then(|figure| match (figure.wrong, figure.misleading) {
            (true, _) => Some(Severity::Wrong),
            (false, true) => Some(Severity::Misleading),
            (false, false) => None,
        });
        if let Some(severity) = severity {
            let (role, sign) = findings::severity(look, severity);
            line.push_span(Span::styled(format!(" {sign}"), look.style(role)));
        }
        pane::line(line, 0, beside, buf);
    }
    (gap + text).max(pane::width(&title) as u16)
}
