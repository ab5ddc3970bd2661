//! The help: the keys of the screen, and on its second page signs and words.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use tui_input::Input;

use super::list::List;
use super::{pane, window, words};
use crate::tui::keymap::{self, Binding};
use crate::tui::model::Model;
use crate::tui::theme::{Look, Role};

/// What is shown of it.
#[derive(Clone, Copy)]
pub struct Page<'a> {
    /// Signs and words, not the keys.
    pub words: bool,
    /// The row under the cursor; of the words the first that is shown.
    pub row: usize,
    pub filter: Option<&'a Input>,
}

fn area(body: Rect) -> Rect {
    window::middle(body, 80, body.height)
}

impl Page<'_> {
    fn wanted(&self) -> &str {
        self.filter.map_or("", Input::value)
    }

    /// Returns the rows of the list, and where it is.
    fn lines(&self, model: &Model, inner: Rect) -> (Vec<Line<'static>>, List) {
        let above = u16::from(self.filter.is_some()).min(inner.height);
        let area = Rect { y: inner.y + above, height: inner.height - above, ..inner };
        if self.words {
            let lines = words::lines(&model.look, self.wanted(), usize::from(area.width));
            let list = List::scrolled(self.row, lines.len(), area);
            return (lines, list);
        }
        let found = keymap::find_listed(model.screen, self.wanted());
        let lines: Vec<Line> = found.into_iter().map(|key| key_line(&model.look, key)).collect();
        let list = List::around(self.row, lines.len(), area);
        (lines, list)
    }

    pub fn list(&self, model: &Model, body: Rect) -> List {
        self.lines(model, pane::inside(area(body))).1
    }

    pub fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer) {
        let look = &model.look;
        let keys = format!("Help: {}", model.screen.title());
        let title = if self.words { "Help: signs and words" } else { &keys };
        let inner = window::draw_window(look, title, area(body), buf);
        if let Some(input) = self.filter {
            pane::line(look.line(Role::Key, " /"), 0, inner, buf);
            let field = Rect::new(inner.x + 3, inner.y, inner.width.saturating_sub(4), 1);
            pane::field(look, input, true, field.intersection(inner), buf);
        }
        let (mut lines, list) = self.lines(model, inner);
        // Words scroll; keys have a cursor, and Enter does what is under it.
        let cursor = (!self.words).then(|| self.row.min(lines.len().saturating_sub(1)));
        if lines.is_empty() {
            let none = format!(" nothing here has {}", self.wanted());
            pane::line(look.line(Role::Dim, none), 0, list.area, buf);
        }
        list.draw(look, cursor, |at| std::mem::take(&mut lines[at]), buf);
    }
}

fn key_line(look: &Look, binding: &Binding) -> Line<'static> {
    Line::from(vec![
        look.span(Role::Key, format!(" {:<16}", binding.keys.join(" "))),
        look.span(Role::Text, binding.help),
    ])
}
