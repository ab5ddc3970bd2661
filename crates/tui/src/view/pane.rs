//! Parts that panes share: the frame with its title, lists that scroll, text fields, text that
//! fits.

pub use crate::text::{width, wrap};

use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};
use tui_input::Input;

use crate::text;
use crate::theme::{Look, Role};

/// The text of a frame that stays whole where both have no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    Title,
    Right,
}

/// Draws a frame with a title at the left and a short text at the right, of which the title stays
/// whole; returns its inside.
pub fn frame(
    look: &Look,
    title: &str,
    right: &str,
    focused: bool,
    area: Rect,
    buf: &mut Buffer,
) -> Rect {
    frame_with(look, [title, right], Whole::Title, focused, area, buf)
}

/// Draws the same with a chosen text whole.
pub fn frame_with(
    look: &Look,
    [title, right]: [&str; 2],
    whole: Whole,
    focused: bool,
    area: Rect,
    buf: &mut Buffer,
) -> Rect {
    let border = look.style(if focused { Role::Focus } else { Role::Border });
    let name = look.style(if focused { Role::Focus } else { Role::Title });
    let room = usize::from(area.width.saturating_sub(4));
    let others = if whole == Whole::Right && !right.is_empty() { width(right) + 3 } else { 0 };
    let title = fit(title, room.saturating_sub(others));
    let left_over = room.saturating_sub(width(&title) + 3);
    let mut block = Block::bordered().border_set(look.border_set()).border_style(border);
    if !title.is_empty() {
        block = block.title_top(Line::from(vec![
            Span::raw(" "),
            Span::styled(title, name),
            Span::raw(" "),
        ]));
    }
    if !right.is_empty() && left_over > 2 {
        let right = fit_front(right, left_over);
        block = block.title_top(
            Line::from(vec![Span::raw(" "), look.span(Role::Number, right), Span::raw(" ")])
                .right_aligned(),
        );
    }
    let inner = block.inner(area);
    block.render(area, buf);
    inner
}

/// Returns the inside of a frame.
pub fn inside(area: Rect) -> Rect {
    area.inner(Margin::new(1, 1))
}

/// Returns an area without its outer columns.
pub fn narrow(area: Rect) -> Rect {
    area.inner(Margin::new(1, 0))
}

/// Returns the first row to show so that the cursor is seen, with a row of what comes before and
/// after where there is room.
pub fn first_row(cursor: usize, rows: usize, height: usize) -> usize {
    if rows <= height || height == 0 {
        return 0;
    }
    // The same cursor always gives the same picture: no state, and half of the rows lie before the
    // cursor.
    cursor.saturating_sub(height / 2).min(rows - height)
}

/// Draws a mark at the right border of a list that is longer than its pane.
pub fn scrollbar(look: &Look, first: usize, rows: usize, area: Rect, buf: &mut Buffer) {
    let height = usize::from(area.height);
    if rows <= height || height == 0 || area.width == 0 {
        return;
    }
    let size = (height * height / rows).max(1);
    let at = (first * (height - size)).checked_div(rows - height).unwrap_or(0);
    for row in at..at + size {
        if let Some(cell) = buf.cell_mut((area.right(), area.y + row as u16)) {
            cell.set_symbol(look.glyph("┃", "#")).set_style(look.style(Role::Border));
        }
    }
}

/// Draws a line from border to border at a row inside of the frame.
pub fn divider(look: &Look, row: Rect, buf: &mut Buffer) {
    if row.is_empty() {
        return;
    }
    let style = look.style(Role::Border);
    for column in row.x - 1..=row.right() {
        let symbol = match column {
            c if c < row.x => look.glyph("├", "+"),
            c if c == row.right() => look.glyph("┤", "+"),
            _ => look.glyph("─", "-"),
        };
        if let Some(cell) = buf.cell_mut((column, row.y)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }
}

/// Draws a title in a line, at this column from its start.
pub fn draw_text(look: &Look, text: &str, role: Role, row: Rect, at: u16, buf: &mut Buffer) {
    if row.is_empty() || text.is_empty() {
        return;
    }
    let text = format!(" {} ", fit(text, usize::from(row.width.saturating_sub(at + 3))));
    let place = Rect::new(row.x + at, row.y, width(&text) as u16, 1).intersection(row);
    look.line(role, text).render(place, buf);
}

/// Draws one line of text at a row of an area, cut to it with a mark.
pub fn line(text: impl Into<Line<'static>>, row: u16, area: Rect, buf: &mut Buffer) {
    if row >= area.height || area.width == 0 {
        return;
    }
    let (text, columns) = (text.into(), usize::from(area.width));
    let is_cut = text.width() > columns && width(text.to_string().trim_end()) > columns;
    text.render(Rect::new(area.x, area.y + row, area.width, 1), buf);
    let last = (area.right() - 1, area.y + row);
    if is_cut && let Some(cell) = buf.cell_mut(last) {
        cell.set_symbol("…");
        // A wide character before it would cover it.
        if let Some(before) = last.0.checked_sub(1).filter(|x| *x >= area.x)
            && let Some(cell) = buf.cell_mut((before, last.1)).filter(|c| width(c.symbol()) > 1)
        {
            cell.set_symbol(" ");
        }
    }
}

/// Draws lines of text below each other from a row of an area on, as many as fit.
pub fn lines(
    lines: impl IntoIterator<Item = impl Into<Line<'static>>>,
    row: u16,
    area: Rect,
    buf: &mut Buffer,
) {
    for (row, text) in (row..area.height).zip(lines) {
        line(text, row, area, buf);
    }
}

/// Paints the background of a row: the cursor of a focused pane.
pub fn select(style: Style, row: u16, area: Rect, buf: &mut Buffer) {
    if row < area.height {
        // Reversed hues would be a patchwork.
        let is_patchy = style.fg.is_none() && style.add_modifier.contains(Modifier::REVERSED);
        let style = if is_patchy { style.fg(Color::Reset) } else { style };
        let style = if is_patchy { style.remove_modifier(Modifier::DIM) } else { style };
        buf.set_style(Rect::new(area.x, area.y + row, area.width, 1), style);
    }
}

/// Takes the colours from what a popup covers: the popup is what counts now.
pub fn dim(look: &Look, area: Rect, buf: &mut Buffer) {
    let style = look.style(Role::Dim);
    for position in area.intersection(buf.area).positions() {
        if let Some(cell) = buf.cell_mut(position) {
            let ground = cell.bg;
            cell.modifier = Modifier::empty();
            cell.set_style(style);
            cell.bg = ground;
        }
    }
}

/// Returns the line of the row under the cursor, in one style, so that a reversed row looks even.
pub fn lit(look: &Look, mut line: Line<'static>) -> Line<'static> {
    for span in &mut line.spans {
        span.style = look.style(Role::Selected);
    }
    line
}

/// Draws a text field; the cursor is a reversed cell, and long text is shown around it.
pub fn field(look: &Look, input: &Input, focused: bool, area: Rect, buf: &mut Buffer) {
    let room = usize::from(area.width.max(1)) - 1;
    let skip = input.visual_scroll(room);
    let style = look.style(Role::Text).add_modifier(Modifier::UNDERLINED);
    let shown: String = input.value().chars().skip(skip).collect();
    Line::styled(format!("{:<width$}", fit(&shown, room), width = usize::from(area.width)), style)
        .render(area, buf);
    let at = input.visual_cursor().saturating_sub(skip).min(room) as u16;
    if focused && let Some(cell) = buf.cell_mut((area.x + at, area.y)) {
        cell.modifier |= Modifier::REVERSED;
    }
}

/// Draws the filter of a list in the first row of an area.
pub fn filter(look: &Look, input: &Input, focused: bool, area: Rect, buf: &mut Buffer) {
    line(look.line(Role::Key, " /"), 0, area, buf);
    let place = Rect::new(area.x + 3, area.y, area.width.saturating_sub(4), area.height.min(1));
    field(look, input, focused, place, buf);
}

/// Returns the text, cut at its end to this many columns.
pub fn fit(text: &str, most: usize) -> String {
    text::cut_end(text, most, "…")
}

/// Returns the text, cut between words if most of it is left.
pub fn fit_words(text: &str, most: usize) -> String {
    let cut = fit(text, most);
    let end = cut
        .trim_end_matches('…')
        .rfind(' ')
        .filter(|end| width(text) > most && width(&cut[..*end]) * 3 >= most * 2);
    end.map_or_else(
        || cut.clone(),
        |end| format!("{}…", cut[..end].trim_end_matches([' ', ',', ':', ';'])),
    )
}

/// Returns a line after which more would follow: whole words, and a mark.
pub fn fit_more(text: &str, most: usize) -> String {
    if width(text) < most {
        format!("{}…", text.trim_end_matches([' ', ',', ':', ';']))
    } else {
        fit_words(&format!("{text} x"), most)
    }
}

/// Joins parts with `dot`; drops the last ones where they do not fit, then words.
pub fn fit_parts(text: &str, dot: &str, most: usize) -> String {
    let ends = || text.match_indices(dot).map(|(at, _)| at);
    // Only as many as fit are measured, however many there are.
    let fitting = ends().take_while(|end| width(&text[..*end]) <= most).last();
    let end = fitting.or_else(|| ends().next()).filter(|_| width(text) > most);
    let shown = end.map_or(text, |end| &text[..end]);
    fit_words(shown, most)
}

/// Joins parts with `dot`; drops the first ones where they do not fit, then the front of the last.
pub fn fit_last_parts(text: &str, dot: &str, most: usize) -> String {
    let starts = || text.rmatch_indices(dot).map(|(at, _)| at + dot.len());
    let fitting = starts().take_while(|start| width(&text[*start..]) <= most).last();
    let start = fitting.or_else(|| starts().next()).filter(|_| width(text) > most);
    let shown = start.map_or(text, |start| &text[start..]);
    fit_front(shown, most)
}

/// Returns the text, cut in its middle: both ends of a message matter.
pub fn fit_middle(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_string();
    }
    let head = fit(text, most.div_ceil(2));
    format!("{head}{}", text::cut_front(text, most - width(&head), ""))
}

/// Returns the text, cut at its front: a path keeps the name of its file.
pub fn fit_front(text: &str, most: usize) -> String {
    text::cut_front(text, most, "…")
}

/// Returns the text, with blanks behind it up to this many columns.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns the text, with blanks before it up to this many columns.
pub fn pad_front(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns a cell of a table with the gap behind it; `right`: aligned to the right.
pub fn cell(text: &str, columns: usize, right: bool, gap: usize, style: Style) -> Span<'static> {
    let text = if right { pad_front(text, columns) } else { pad(text, columns) };
    Span::styled(text + &" ".repeat(gap), style)
}

/// Wraps each paragraph of a text like [`wrap`].
pub fn paragraphs(text: &str, columns: usize) -> Vec<String> {
    text.split("\n\n").flat_map(|paragraph| wrap(paragraph, columns)).collect()
}

/// Wraps text in the style of a role, each line behind an indent.
pub fn paragraph(
    look: &Look,
    role: Role,
    indent: &str,
    text: &str,
    columns: usize,
) -> Vec<Line<'static>> {
    let line = |part| look.line(role, format!("{indent}{part}"));
    wrap(text, columns).into_iter().map(line).collect()
}

/// Puts a mark before the first of these lines; the others begin below the text of the first.
pub fn hang(
    mark: impl Into<Span<'static>>,
    parts: Vec<String>,
    style: Style,
) -> Vec<Line<'static>> {
    let mark = mark.into();
    let blank = Span::styled(" ".repeat(mark.width()), mark.style);
    let heads = std::iter::once(mark).chain(std::iter::repeat(blank));
    let line = |(head, part)| Line::from(vec![head, Span::styled(part, style)]);
    heads.zip(parts).map(line).collect()
}

/// Builds a bar of `width` cells, filled to `share`, then a thin line.
pub fn progress_bar(look: &Look, share: f64, width: u16, style: Style) -> Vec<Span<'static>> {
    let filled = (share.clamp(0.0, 1.0) * f64::from(width)).round() as usize;
    vec![
        Span::styled(look.glyph("━", "#").repeat(filled), style),
        look.span(Role::Border, look.glyph("─", "-").repeat(usize::from(width) - filled)),
    ]
}

/// Centres it in the body, at this size if there is room.
pub fn middle(body: Rect, columns: u16, rows: u16) -> Rect {
    let (columns, rows) = (columns.min(body.width.saturating_sub(2)), rows.min(body.height));
    Rect::new(body.x + (body.width - columns) / 2, body.y + (body.height - rows) / 2, columns, rows)
}

/// Draws an empty frame over the screen; returns its inside.
pub fn draw_window(look: &Look, title: &str, area: Rect, buf: &mut Buffer) -> Rect {
    Clear.render(area, buf);
    frame(look, title, "", true, area, buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_lines_end_in_a_mark() {
        let drawn = |text: &'static str, columns: u16| {
            let mut buf = Buffer::empty(Rect::new(0, 0, columns + 2, 1));
            line(text, 0, Rect::new(1, 0, columns, 1), &mut buf);
            buf.content.iter().map(|cell| cell.symbol()).collect::<String>()
        };
        assert_eq!(drawn("14 more", 7), " 14 more ");
        assert_eq!(drawn("14 more", 5), " 14 m… ");
        assert_eq!(drawn("14   ", 3), " 14  ", "blanks are nothing");
        assert_eq!((drawn("文書", 3).as_str(), drawn("a", 0).as_str()), (" 文 … ", "  "));
        assert_eq!(drawn("a文書", 3), " a … ");
    }

    #[test]
    fn paragraphs_begin_on_new_lines() {
        assert_eq!(paragraphs("one two\nthree\n\nfour", 8), ["one two", "three", "four"]);
    }

    #[test]
    fn lines_hang_behind_a_mark() {
        let of = |parts: &[&str]| {
            let parts = parts.iter().map(|part| (*part).to_string()).collect();
            let lines = hang(" √ ", parts, Style::new());
            lines.iter().map(Line::to_string).collect::<Vec<_>>()
        };
        assert_eq!(of(&["one", "two", "three"]), [" √ one", "   two", "   three"]);
        assert_eq!(of(&[]), [""; 0]);
    }

    #[test]
    fn long_paths_keep_their_end() {
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit_front("/a/long/path/file.iso", 10), "…/file.iso");
        assert_eq!(fit_front("short", 10), "short");
        assert_eq!(fit("x", 0), "");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit_middle("not written: no space", 11), "not w…space");
        assert_eq!([0, 1, 2, 3].map(|most| width(&fit_middle("abcdef", most))), [0, 1, 2, 3]);
        assert_eq!(fit_front("日本語", 5), "…本語");
    }

    #[test]
    fn parts_without_room_disappear_whole() {
        assert_eq!(fit_words("one two, three", 10), "one two…");
        assert_eq!(fit_words("a verylongword", 10), "a verylon…");
        assert_eq!(fit_words("short", 5), "short");
        assert_eq!(
            [fit_more("one two,", 20), fit_more("one two, six", 12), fit_more("one", 4)],
            ["one two…", "one two…", "one…"]
        );
        assert_eq!(fit_parts("enter run · y copy · d all of it", " · ", 20), "enter run · y copy");
        assert_eq!(fit_parts("enter run it now · y copy", " · ", 12), "enter run…");
        assert_eq!(fit_last_parts("ext4 · 400 MiB · big.iso", " · ", 16), "big.iso");
        assert_eq!(fit_last_parts("ext4 · long.iso", " · ", 5), "….iso");
    }

    #[test]
    fn the_cursor_is_always_seen() {
        for rows in 0..40 {
            for height in 0..12 {
                for cursor in 0..rows {
                    let first = first_row(cursor, rows, height);
                    assert!(
                        height == 0 || (first <= cursor && cursor < first + height),
                        "{cursor} {rows} {height}"
                    );
                    assert!(rows <= height || first + height <= rows.max(height));
                }
            }
        }
    }
}
