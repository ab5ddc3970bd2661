//! Draws the palette.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use tui_input::Input;

use super::{pane, window};
use crate::tui::model::Model;
use crate::tui::palette::{self, Entry};
use crate::tui::theme::{Look, Role};

/// Columns of the places, of the titles and of the keys.
const PLACE: usize = 9;
const TITLE: usize = 22;
const KEY: usize = 10;

pub fn draw(model: &Model, input: &Input, cursor: usize, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let area = window::middle(body, 100, 20.min(body.height));
    let inner = window::draw_window(look, "What do you want to do?", area, buf);
    let field = Rect::new(inner.x + 1, inner.y, inner.width.saturating_sub(2), 1);
    pane::field(look, input, true, field.intersection(inner), buf);
    let list = Rect::new(inner.x, inner.y + 1, inner.width, inner.height.saturating_sub(1));
    let rows = palette::find(&model.palette_sources(), input.value());
    let first = pane::first_row(cursor, rows.len(), usize::from(list.height));
    for (row, entry) in rows.iter().skip(first).take(usize::from(list.height)).enumerate() {
        pane::line(line(look, entry, usize::from(list.width)), row as u16, list, buf);
        if first + row == cursor {
            pane::select(look.style(Role::Selected), row as u16, list, buf);
        }
    }
    if rows.is_empty() {
        let text = " nothing has this name: try export, peak, uring, budget 2m";
        let text = pane::fit(text, usize::from(list.width));
        pane::line(Line::styled(text, look.style(Role::Dim)), 0, list, buf);
    }
    pane::scrollbar(look, first, rows.len(), list, buf);
}

/// Returns key, title and explanation at the left, the place at the right.
fn line(look: &Look, entry: &Entry, width: usize) -> Line<'static> {
    let key = if width >= 70 { KEY } else { 5 };
    let room = width.saturating_sub(key + PLACE + 3);
    let title = pane::fit(&entry.title, room);
    // Short titles line up; a long one takes the room.
    let column = if entry.about.is_empty() { room } else { TITLE.min(room) };
    let used = pane::width(&title).max(column.min(room));
    let about = pane::fit_words(&entry.about, room.saturating_sub(used + 1));
    let pad = |text: &str, columns: usize| " ".repeat(columns.saturating_sub(pane::width(text)));
    let gap = room.saturating_sub(used + 1 + pane::width(&about));
    Line::from(vec![
        Span::styled(format!(" {:<key$}", pane::fit(entry.key, key)), look.style(Role::Key)),
        Span::styled(title.clone() + &pad(&title, used) + " ", look.style(Role::Text)),
        Span::styled(about + &" ".repeat(gap), look.style(Role::Dim)),
        Span::styled(format!(" {:>PLACE$}", entry.place), look.style(Role::Title)),
    ])
}
