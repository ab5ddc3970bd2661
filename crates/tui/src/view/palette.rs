//! Draws the palette.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use tui_input::Input;

use super::hits::{Hits, Part};
use super::list::List;
use super::pane;
use crate::model::Model;
use crate::palette::{self, Entry};
use crate::theme::{Look, Role};

/// Columns of the places, of the titles and of the keys.
const PLACE: usize = 9;
const TITLE: usize = 22;
const KEY: usize = 10;

pub fn draw(
    model: &Model,
    input: &Input,
    cursor: usize,
    body: Rect,
    buf: &mut Buffer,
    hits: &mut Hits,
) {
    let look = &model.look;
    let area = pane::middle(body, 100, 20.min(body.height));
    let inner = pane::draw_window(look, "What do you want to do?", area, buf);
    let field = Rect::new(inner.x + 1, inner.y, inner.width.saturating_sub(2), 1);
    pane::field(look, input, true, field.intersection(inner), buf);
    let rows = palette::find(&model.palette_sources(), input.value());
    let below = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
    let list = List::around(cursor, rows.len(), below);
    hits.list(Part::Popup, list);
    let width = usize::from(list.area.width);
    list.draw(look, Some(cursor), |at| line(look, &rows[at], width), buf);
    if rows.is_empty() {
        let why = palette::explain(input.value());
        let why =
            why.as_deref().unwrap_or("nothing has this name: try export, peak, uring, budget 2m");
        let why = pane::paragraph(look, Role::Dim, " ", why, width.saturating_sub(2));
        pane::lines(why, 0, list.area, buf);
    }
}

/// Returns key, title and explanation at the left, the place at the right.
fn line(look: &Look, entry: &Entry, width: usize) -> Line<'static> {
    let room = width.saturating_sub(KEY + PLACE + 3);
    let title = pane::fit(&entry.title, room);
    // Short titles line up; a long one takes the room.
    let column = if entry.about.is_empty() { room } else { TITLE.min(room) };
    let used = pane::width(&title).max(column.min(room));
    let rest = room.saturating_sub(used + 1);
    let about = pane::fit_words(&entry.about, rest);
    Line::from(vec![
        look.span(Role::Key, format!(" {:<KEY$}", pane::fit(entry.key, KEY))),
        look.span(Role::Text, pane::pad(&title, used + 1)),
        look.span(Role::Dim, pane::pad(&about, rest)),
        look.span(Role::Title, format!(" {:>PLACE$}", entry.place)),
    ])
}
