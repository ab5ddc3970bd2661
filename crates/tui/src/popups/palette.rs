//! The palette: what the typed words find, and what choosing it does.

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use tui_input::Input;

use super::{After, KeyNames, Layer};
use crate::keymap::Action;
use crate::keys::{Key, edit};
use crate::model::Model;
use crate::palette::{self, Entry};
use crate::popup::Palette;
use crate::theme::{Look, Role};
use crate::update::palette::follow;
use crate::view::hits::{Hits, Part};
use crate::view::list::List;
use crate::view::pane;

/// Columns of the places, of the titles and of the keys.
const PLACE: usize = 9;
const TITLE: usize = 22;
const KEY: usize = 10;

impl Layer for Palette {
    fn footer(&self, _: &Model) -> KeyNames {
        &[("enter", "run"), ("down", "next"), ("esc", "close")]
    }

    fn field(&mut self) -> Option<&mut Input> {
        Some(&mut self.input)
    }

    fn field_changed(&mut self) {
        self.cursor = 0;
    }

    fn row(&mut self) -> Option<&mut usize> {
        Some(&mut self.cursor)
    }

    fn choose(&mut self, model: &mut Model) -> After {
        let found = palette::find(&model.palette_sources(), self.input.value());
        match found.into_iter().nth(self.cursor) {
            Some(entry) => After::Close(follow(model, entry)),
            None => After::Stay(Vec::new()),
        }
    }

    /// Edits the text, or moves in what is found.
    fn press(&mut self, model: &mut Model, key: Key, _: Option<Action>) -> After {
        match key.code {
            KeyCode::Enter => return self.choose(model),
            KeyCode::Up => self.move_row(model, Some(Action::Up)),
            KeyCode::Down => self.move_row(model, Some(Action::Down)),
            KeyCode::PageUp => self.move_row(model, Some(Action::PageUp)),
            KeyCode::PageDown => self.move_row(model, Some(Action::PageDown)),
            _ => {
                if edit(&mut self.input, key) {
                    self.cursor = 0;
                }
            }
        }
        After::Stay(Vec::new())
    }

    fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let look = &model.look;
        let area = pane::middle(body, 100, 20.min(body.height));
        let inner = pane::draw_window(look, "What do you want to do?", area, buf);
        let field = Rect::new(inner.x + 1, inner.y, inner.width.saturating_sub(2), 1);
        pane::field(look, &self.input, true, field.intersection(inner), buf);
        let rows = palette::find(&model.palette_sources(), self.input.value());
        let below = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
        let list = List::around(self.cursor, rows.len(), below);
        hits.list(Part::Popup, list);
        let width = usize::from(list.area.width);
        list.draw(look, Some(self.cursor), |at| line(look, &rows[at], width), buf);
        if rows.is_empty() {
            let why = palette::explain(self.input.value());
            let why = why
                .as_deref()
                .unwrap_or("nothing has this name: try export, peak, uring, budget 2m");
            let why = pane::paragraph(look, Role::Dim, " ", why, width.saturating_sub(2));
            pane::lines(why, 0, list.area, buf);
        }
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
