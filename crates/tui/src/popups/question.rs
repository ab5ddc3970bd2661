//! A question, and a line of text.

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui_input::Input;

use super::{After, KeyNames, Layer};
use crate::keymap::Action;
use crate::keys::{Key, edit};
use crate::model::Model;
use crate::popup::{Purpose, Question, TextLine, Then};
use crate::theme::{Look, Role};
use crate::update::run;
use crate::update::screens::try_with_screens;
use crate::view::hits::Hits;
use crate::view::pane;
use crate::{lab, sessions, setup};

impl Layer for Question {
    fn footer(&self, _: &Model) -> KeyNames {
        &[("y", "yes"), ("n", "no")]
    }

    fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer, _: &mut Hits) {
        ask(&model.look, [&self.text, &self.detail, "y yes    n no"], body, buf);
    }

    /// `y` or Enter means yes, as `q` does where it asked, and `n` means no.
    fn press(&mut self, model: &mut Model, key: Key, _: Option<Action>) -> After {
        match key.letter().map(|letter| letter.to_ascii_lowercase()) {
            Some('n') => return After::Close(Vec::new()),
            Some('y') => {}
            Some('q') if matches!(self.then, Then::Quit) => {}
            _ if key.code == KeyCode::Enter => {}
            _ => return After::Stay(Vec::new()),
        }
        After::Close(match &self.then {
            Then::Quit => run::leave(model, 0),
            Then::Do(effect) => vec![effect.clone()],
        })
    }
}

/// Draws a question, a remark on it, and its keys.
pub fn ask(look: &Look, [text, detail, keys]: [&str; 3], body: Rect, buf: &mut Buffer) {
    let lines = [(text, Role::Title), (detail, Role::Dim), ("", Role::Dim), (keys, Role::Key)];
    let columns = lines.iter().map(|(text, _)| pane::width(text) as u16).max().unwrap_or(0) + 4;
    let inner = pane::draw_window(look, "", pane::middle(body, columns.max(30), 6), buf);
    let fit = |text| pane::fit(text, usize::from(inner.width.saturating_sub(2)));
    let lines = lines.map(|(text, role)| look.line(role, format!(" {}", fit(text))));
    pane::lines(lines, 0, inner, buf);
}

impl Layer for TextLine {
    fn footer(&self, _: &Model) -> KeyNames {
        &[("enter", "accept"), ("esc", "close")]
    }

    fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer, _: &mut Hits) {
        let look = &model.look;
        let inner = pane::draw_window(look, &self.title, pane::middle(body, 64, 5), buf);
        let field = Rect::new(inner.x + 1, inner.y, inner.width.saturating_sub(2), 1);
        pane::field(look, &self.input, true, field, buf);
        let (text, role) = match &self.error {
            Some(why) => (why, Role::Wrong),
            None => (&self.hint, Role::Dim),
        };
        let columns = usize::from(inner.width.saturating_sub(2));
        pane::lines(pane::paragraph(look, role, " ", text, columns), 1, inner, buf);
    }

    fn field(&mut self) -> Option<&mut Input> {
        Some(&mut self.input)
    }

    fn field_changed(&mut self) {
        self.error = None;
    }

    fn press(&mut self, model: &mut Model, key: Key, _: Option<Action>) -> After {
        if key.code == KeyCode::Enter {
            return self.submit(model);
        }
        edit(&mut self.input, key);
        self.error = None;
        After::Stay(Vec::new())
    }
}

impl TextLine {
    /// Accepts the text; an error keeps the line open.
    fn submit(&mut self, model: &mut Model) -> After {
        let text = self.input.value().trim();
        let done = match &self.purpose {
            Purpose::Preset => setup::save_preset(&model.setup, text),
            Purpose::Rename { id } => sessions::rename(id, text),
            Purpose::Import => sessions::import(text),
            Purpose::Setting(name) => try_with_screens(model, |screens, ctx| {
                setup::set_text(screens.setup, ctx, name, text)
            }),
            Purpose::Values(probe) => try_with_screens(model, |screens, ctx| {
                lab::set_values(screens.lab, ctx, probe, text)
            }),
        };
        match done {
            Ok(effects) => After::Close(sessions::ask_before_hiding(&mut model.popups, effects)),
            Err(why) => {
                self.error = Some(why);
                After::Stay(Vec::new())
            }
        }
    }
}
