//! The picture of a question: a large figure, the sentences next to it, and a table that proves it.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::digits::{self, LargeFigure};
use super::{findings, pane};
use crate::analysis::{Board, BoardCell, BoardColumn, Holds};
use crate::plot::{Bar, Bars};
use crate::theme::{Look, Role};
use crate::units::counted;

/// Rows of the large figure with its title.
pub const HEAD: u16 = digits::ROWS + 1;
/// Columns between the columns of the table.
const GAP: u16 = 2;
/// Minimum and maximum length of a bar.
const BAR: (u16, u16) = (6, 30);
/// Columns of the names next to large figures: `SEQ128K Q32T1`.
const NAME: u16 = 15;
/// Rows of a large figure: a bar; with details below; with digits above.
const STEPS: [u16; 4] = [6, 5, 2, 1];
/// Columns that digits with their details need.
const MIN_DIGITS: u16 = 42;

/// Returns the rows that are needed, and that are used at most.
pub fn heights(board: &Board) -> (u16, u16) {
    let (head, rows) = (head_rows(board), board.rows.len().clamp(1, 100) as u16);
    let words = (0..board.rows.len()).any(|row| board.caveat(row).is_some());
    match board.large {
        true => (head + rows + 1, head + rows * STEPS[0] + 2),
        false => (head + 1 + rows.min(4), head + 2 + rows + u16::from(words)),
    }
}

/// Returns the rows of the large figure, which has its place before it is known.
fn head_rows(board: &Board) -> u16 {
    if board.large && board.number.is_empty() { 0 } else { HEAD }
}

/// Draws the large figure and the table below it; a mark stands before the figure under the cursor,
/// `(row, column)`.
pub fn draw(
    look: &Look,
    board: &Board,
    cursor: Option<(usize, usize)>,
    area: Rect,
    buf: &mut Buffer,
) {
    let (head, rows) = (head_rows(board), board.rows.len());
    if head > 0 {
        draw_head(look, board, area, buf);
    }
    // A row below the figure, where there is room.
    let is_roomy = head > 0 && usize::from(area.height) > usize::from(head) + rows + 1;
    let above = head + u16::from(is_roomy);
    let below = Rect { y: area.y + above, height: area.height.saturating_sub(above), ..area };
    let (table, below) = (Table { look, board, cursor }, below.intersection(area));
    if board.large { table.draw_large(below, buf) } else { table.draw(below, buf) }
}

/// Draws title, digits with unit and interval, and the sentences at their right.
pub fn draw_head(look: &Look, board: &Board, area: Rect, buf: &mut Buffer) {
    pane::line(look.line(Role::Title, board.title.clone()), 0, area, buf);
    let place = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let place = place.intersection(area);
    let head = LargeFigure {
        number: &board.number,
        unit: &board.unit,
        figure: board.figure.as_ref(),
        range: &board.range(),
        role: match board.outcome {
            Some(Holds::Fail) => Role::Wrong,
            Some(Holds::Pass) => Role::Good,
            _ => Role::Number,
        },
    };
    let used = head.draw(look, 1, place, buf) + GAP;
    let place = Rect { x: place.x + used, width: place.width.saturating_sub(used), ..place };
    let said = board.beside.iter().flat_map(|said| pane::wrap(said, place.width.into()));
    for (row, line) in said.take(digits::ROWS.into()).enumerate() {
        pane::line(look.line(Role::Text, line), row as u16, place, buf);
    }
}

/// A column in text.
struct ColumnTexts {
    title: String,
    /// Of each row.
    texts: Vec<String>,
    certainties: Vec<String>,
    /// The columns of the widest interval.
    certainty: usize,
    /// The columns that figures, intervals and marks take.
    width: u16,
}

/// The table below the large figure.
struct Table<'a> {
    look: &'a Look,
    board: &'a Board,
    cursor: Option<(usize, usize)>,
}

impl Table<'_> {
    /// Draws a row of text for each row, with a bar for each rate; the last row counts those
    /// without room.
    fn draw(&self, area: Rect, buf: &mut Buffer) {
        let (look, board) = (self.look, self.board);
        let room = usize::from(area.height.saturating_sub(1));
        let all = board.rows.len();
        let count = if all > room { room.saturating_sub(1) } else { all };
        // The row of the cursor, or else that of the large figure, is among them.
        let at = self.cursor.map(|(row, _)| row).or(board.lead);
        let first = at.map_or(0, |at| (at + 1).saturating_sub(count));
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
        let texts: Vec<ColumnTexts> =
            (0..board.columns.len()).map(|at| self.column_texts(at)).collect();
        let mut x = wide + GAP;
        for at in 0..texts.len() {
            let place = Rect { x: area.x + x, width: area.width.saturating_sub(x), ..area };
            x += self.draw_column(at, &texts[at..], shown.clone(), place, buf) + GAP;
        }
        let mut free = count as u16 + 1;
        if count < all {
            let text = format!("  and {} more", counted(all - count, "row"));
            pane::line(look.line(Role::Dim, text), free, area, buf);
            free += 1;
        }
        let beside = Rect { x: area.x + x, width: area.width.saturating_sub(x), ..area };
        self.draw_caveats((shown, free), [beside.intersection(area), area], buf);
    }

    /// Draws a column, whose texts are followed by those to the right of it, from the left edge of
    /// an area, and returns its width.
    fn draw_column(
        &self,
        at: usize,
        texts: &[ColumnTexts],
        shown: Range<usize>,
        area: Rect,
        buf: &mut Buffer,
    ) -> u16 {
        let (look, column) = (self.look, &self.board.columns[at]);
        let Some((own, others)) = texts.split_first() else { return 0 };
        let ColumnTexts { title, texts, certainties, certainty, width: text } = own;
        let others: u16 = others.iter().map(|other| other.width + GAP).sum();
        let room = area.width.saturating_sub(1 + text + others);
        let bar = if column.is_rate() && room >= BAR.0 { room.min(BAR.1) } else { 0 };
        let gap = if bar > 0 { bar + 1 } else { 0 };
        pane::line(look.line(Role::Dim, title.clone()), 0, area, buf);
        for (y, row) in shown.enumerate() {
            let place = Rect { y: area.y + y as u16 + 1, height: 1, ..area }.intersection(area);
            self.draw_cursor((row, at), place, buf);
            let Some(cell) = &column.cells[row] else {
                let place = Rect { x: place.x + gap, ..place }.intersection(area);
                pane::line(look.line(Role::Dim, texts[row].clone()), 0, place, buf);
                continue;
            };
            if bar > 0 {
                let place = Rect { width: bar.min(place.width), ..place };
                self.draw_bar(column, cell, place, buf);
            }
            let beside = Rect { x: place.x + gap, width: place.width.saturating_sub(gap), ..place };
            let role = digits::role(&cell.figure);
            let mut line = Line::from(vec![
                look.span(role, texts[row].clone()),
                look.span(Role::Dim, format!(" {}", pane::pad(&certainties[row], *certainty))),
            ]);
            if let Some(severity) = self.board.mark(row, at) {
                let (role, sign) = findings::severity(look, severity);
                line.push_span(Span::styled(format!(" {sign}"), look.style(role)));
            }
            pane::line(line, 0, beside, buf);
        }
        gap + text
    }

    /// Draws why figures are easily misread: at the end of their rows, or without room there below
    /// the table, the row of the large figure first.
    fn draw_caveats(
        &self,
        (shown, mut free): (Range<usize>, u16),
        [beside, area]: [Rect; 2],
        buf: &mut Buffer,
    ) {
        let (look, board) = (self.look, self.board);
        let lead = shown.clone().filter(|row| board.lead == Some(*row));
        let others = shown.clone().filter(|row| board.lead != Some(*row));
        let mut said: Vec<&str> = Vec::new();
        for row in lead.chain(others) {
            let Some((severity, caveat)) = board.caveat(row) else { continue };
            let (role, sign) = findings::severity(look, severity);
            let y = (row - shown.start) as u16 + 1;
            if pane::width(caveat) < beside.width.into() {
                pane::line(look.line(Role::Dim, caveat.to_string()), y, beside, buf);
            } else if !said.contains(&caveat) {
                said.push(caveat);
                let name = format!("{}: {caveat}", board.rows[row]);
                let line = vec![look.span(role, format!("  {sign} ")), look.span(Role::Text, name)];
                pane::line(Line::from(line), free, area, buf);
                free += 1;
            }
        }
    }

    fn column_texts(&self, at: usize) -> ColumnTexts {
        let column = &self.board.columns[at];
        let (title, texts) = column.texts(self.look.unit);
        let widest = |of: &[String]| of.iter().map(|text| pane::width(text)).max().unwrap_or(0);
        let rows = 0..column.cells.len();
        let certainties: Vec<String> =
            rows.clone().map(|row| column.describe_certainty(row)).collect();
        let (figures, certainty) = (widest(&texts), widest(&certainties));
        let is_marked = rows.into_iter().any(|row| self.board.mark(row, at).is_some());
        let text = figures + 1 + certainty + if is_marked { 2 } else { 0 };
        let width = text.max(pane::width(&title)) as u16;
        ColumnTexts { title, texts, certainties, certainty, width }
    }

    /// Draws a mark in the gap before a figure, if that is under the cursor.
    fn draw_cursor(&self, at: (usize, usize), place: Rect, buf: &mut Buffer) {
        if self.cursor == Some(at) && !place.is_empty() {
            let mark = self.look.span(Role::Focus, self.look.glyph("►", ">"));
            buf.set_span(place.x.saturating_sub(GAP), place.y, &mark, 1);
        }
    }

    /// Returns why a figure is easily misread or wrong, with its sign.
    fn caveat(&self, cell: &BoardCell) -> Option<Line<'static>> {
        let (role, sign) = findings::severity(self.look, cell.figure.severity()?);
        let sign = self.look.span(role, format!("{sign} "));
        Some(Line::from(vec![sign, self.look.span(Role::Dim, cell.caveat.clone())]))
    }

    /// Draws the bar of a figure, on the scale of all columns of its unit.
    fn draw_bar(&self, column: &BoardColumn, cell: &BoardCell, area: Rect, buf: &mut Buffer) {
        let style = cell.hue.map_or(self.look.style(Role::Number), |hue| self.look.series(hue));
        let bars = [Bar::new("", cell.figure.summary.median, style, "")];
        let place = Rect { height: area.height.min(1), ..area };
        Bars::new(self.look, &bars).max(self.board.highest(column.units)).render(place, buf);
    }

    /// Draws each figure with its bar, as large as the room allows.
    fn draw_large(&self, area: Rect, buf: &mut Buffer) {
        let (look, board) = (self.look, self.board);
        if area.height < 2 {
            return;
        }
        let count = board.rows.len() as u16;
        let width = area.width.saturating_sub(NAME) / board.columns.len().max(1) as u16;
        let fits = |step: &u16| {
            let digits = *step < 5 || width >= MIN_DIGITS;
            count * step < area.height + u16::from(*step > 1) && digits
        };
        let step = STEPS.into_iter().find(fits).unwrap_or(1);
        // A row below the titles, where there is room.
        let top = if area.height > count * step + 1 { 2 } else { 1 };
        let y_of = |row: usize| area.y + top + row as u16 * step;
        for (at, column) in board.columns.iter().enumerate() {
            let left = area.x + NAME + at as u16 * width;
            let place = Rect { x: left, width: width.saturating_sub(2), ..area };
            let (title, texts) = column.texts(look.unit);
            let (title, unit) = title.split_once(", ").unwrap_or((&title, ""));
            let title = Line::from(vec![
                look.span(Role::Title, title.to_string()),
                look.span(Role::Dim, format!(" {unit}")),
            ]);
            pane::line(title, 0, place, buf);
            for (row, (cell, text)) in column.cells.iter().zip(&texts).enumerate() {
                let place = Rect { y: y_of(row), height: step, ..place }.intersection(area);
                self.draw_cursor((row, at), place, buf);
                match cell {
                    Some(cell) => {
                        self.draw_large_cell((column, cell), text.trim(), step, place, buf)
                    }
                    None => pane::line(look.line(Role::Dim, "not measured"), 0, place, buf),
                }
            }
        }
        for (row, name) in board.rows.iter().enumerate() {
            let place = Rect { y: y_of(row), height: step, width: NAME, ..area }.intersection(area);
            let (name, rest) = name.split_at(name.find(' ').unwrap_or(name.len()));
            let (name, rest) =
                (look.span(Role::Title, name.to_string()), look.span(Role::Dim, rest.to_string()));
            if step > 1 {
                pane::line(Line::from(name), 0, place, buf);
                let rest = rest.content.trim_start().to_string();
                pane::line(look.line(Role::Dim, rest), 1, place, buf);
            } else {
                pane::line(Line::from(vec![name, rest]), 0, place, buf);
            }
        }
    }

    fn draw_large_cell(
        &self,
        (column, cell): (&BoardColumn, &BoardCell),
        number: &str,
        step: u16,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let look = self.look;
        let role = digits::role(&cell.figure);
        let details = describe_details(cell, step);
        let caveat = self.caveat(cell);
        if step >= 5 {
            let range = cell.figure.describe_range(column.factor(look.unit));
            let (figure, range) = (Some(&cell.figure), range.as_str());
            // A prefix has no large digit: `2.80 M`.
            let (number, unit) = number.split_once(' ').unwrap_or((number, ""));
            let head = LargeFigure { number, unit, figure, range, role };
            let wide = head.draw(look, 1, area, buf) + 2;
            let side = Rect { x: area.x + wide, width: area.width.saturating_sub(wide), ..area };
            let fit = |text: String| pane::fit(&text, usize::from(side.width));
            let details = details.into_iter().take(3);
            pane::lines(details.map(|text| look.line(Role::Dim, fit(text))), 0, side, buf);
            self.draw_bar(column, cell, Rect { y: area.y + 3, ..area }, buf);
            return pane::line(caveat.unwrap_or_default(), 4, area, buf);
        }
        pane::line(look.line(role, format!("{number:>6}")), 0, area, buf);
        if let Some(caveat) = caveat.clone() {
            let sign = Rect { x: area.x + 6, width: area.width.saturating_sub(6).min(1), ..area };
            caveat.render(sign, buf);
        }
        let beside = if step == 1 && area.width >= 30 { 11 } else { 0 };
        let bar = Rect { x: area.x + 7, width: area.width.saturating_sub(7 + beside), ..area };
        self.draw_bar(column, cell, bar, buf);
        if step == 1 && beside > 0 {
            let text = pane::fit(details.first().map_or("", String::as_str), 10);
            let place = Rect { x: area.right() - 10, width: 10, ..area };
            pane::line(look.line(Role::Dim, text), 0, place, buf);
        } else if step > 1 {
            let dot = look.glyph(" · ", " - ");
            let place = Rect { x: area.x + 7, width: area.width.saturating_sub(7), ..area };
            let text = pane::fit_parts(&details.join(dot), dot, usize::from(place.width));
            let mut line = look.line(Role::Dim, text);
            let caveat = caveat.filter(|own| line.width() + own.width() < place.width.into());
            let spans = caveat.into_iter().flat_map(|own| [Span::raw(" ")].into_iter().chain(own));
            line.spans.extend(spans);
            pane::line(line, 1, place, buf);
        }
    }
}

/// Returns what stands next to a large figure, the most important first: the interval only where no
/// digits have it.
fn describe_details(cell: &BoardCell, step: u16) -> Vec<String> {
    let (backend, own) = cell.details.split_last().map_or(("", &[][..]), |(a, b)| (a, b));
    let interval = (step < 5).then(|| cell.figure.describe_certainty());
    let rest = interval.into_iter().chain([backend.to_string()]).chain(own.iter().skip(1).cloned());
    let details: Vec<String> = own.first().cloned().into_iter().chain(rest).collect();
    // Next to digits, the second figure is worth more than the name.
    match (details.as_slice(), step >= 5) {
        ([first, backend, second], true) => vec![first.clone(), second.clone(), backend.clone()],
        _ => details,
    }
}
