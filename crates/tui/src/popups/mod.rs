//! The popups over a screen, one per file: how each is drawn, its keys and its clicks.
//!
//! [`Popup`] is the state that the model keeps, and a [`Layer`] is how it
//! behaves. A popup is off the stack while it handles a key, so it may change the whole model;
//! popups that it opens lie on top.

mod export;
mod held_run;
mod help;
mod lists;
mod palette;
mod question;
mod start;
mod texts;
mod themes;
mod warnings;
mod window;

pub use export::finish as finish_export;
pub use help::{SIGNS, word_lines};
pub use warnings::{stay_on_warning, warning_in_view};

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui_input::Input;

use window::Window;

use crate::keymap::{self, Action};
use crate::keys::Key;
use crate::model::Model;
use crate::msg::Effect;
use crate::popup::{Popup, Question, Then};
use crate::view::hits::{Hits, Part};
use crate::view::list::move_cursor;

/// Keys and what they do, for the footer.
pub type KeyNames = &'static [(&'static str, &'static str)];

/// Whether a popup stays open, and what is to be done.
pub enum After {
    Stay(Vec<Effect>),
    Close(Vec<Effect>),
}

/// The behaviour of a popup. By default it is a window with a list.
pub trait Layer {
    /// Returns the keys for the footer.
    fn footer(&self, model: &Model) -> KeyNames;

    /// Lays out a window with a list or a text.
    fn window(&self, _: &Model, _: Rect) -> Option<Window> {
        None
    }

    fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
        if let Some(window) = self.window(model, body) {
            window.draw(&model.look, buf, hits);
        }
    }

    /// Returns the text that letters go to.
    fn field(&mut self) -> Option<&mut Input> {
        None
    }

    /// Follows a change of the text.
    fn field_changed(&mut self) {}

    /// Returns the selected row of a list, or the first visible line of a text.
    fn row(&mut self) -> Option<&mut usize> {
        None
    }

    /// Returns whether it scrolls and has no selected row.
    fn is_text(&self) -> bool {
        false
    }

    /// Shows what was selected.
    fn select(&self, _: &mut Model) {}

    /// Does what the selected row stands for.
    fn choose(&mut self, _: &mut Model) -> After {
        After::Stay(Vec::new())
    }

    /// Takes back what it has shown.
    fn close(&mut self, _: &mut Model) {}

    /// Returns the action that opens it, and closes it again.
    fn opened_by(&self) -> Option<Action> {
        None
    }

    fn press(&mut self, model: &mut Model, _: Key, action: Option<Action>) -> After {
        match action {
            Some(Action::Enter | Action::Toggle) => return self.choose(model),
            Some(_) if action == self.opened_by() => {
                self.close(model);
                return After::Close(Vec::new());
            }
            _ => self.move_row(model, action),
        }
        After::Stay(Vec::new())
    }

    /// Moves the cursor, or scrolls.
    fn move_row(&mut self, model: &mut Model, action: Option<Action>) {
        let Some(action) = action.filter(|action| action.moves_rows()) else { return };
        let (list, is_text) = (model.hits.drawn(Part::Popup), self.is_text());
        let Some(row) = self.row() else { return };
        *row = if is_text {
            list.scroll(action)
        } else {
            let cursor = (*row).min(list.count.saturating_sub(1));
            move_cursor(cursor, list.count, action, list.page())
        };
        self.select(model);
    }

    /// Selects the row that was clicked, or does what the selected one stands for.
    fn click(&mut self, model: &mut Model, clicked: usize) -> After {
        if self.is_text() {
            return After::Stay(Vec::new());
        }
        match self.row() {
            Some(row) if *row == clicked => return self.choose(model),
            Some(row) => *row = clicked,
            None => {}
        }
        self.select(model);
        After::Stay(Vec::new())
    }
}

/// Finds the behaviour of a popup, which is borrowed by `&` or by `&mut`.
macro_rules! layer {
    ($popup:expr, $($borrow:tt)+) => {
        match $popup {
            Popup::Help(help) => help,
            Popup::Palette(palette) => palette,
            Popup::Question(question) => question,
            Popup::HeldRun(held) => held,
            Popup::WaitingRun(waiting) => waiting,
            Popup::Line(line) => line,
            Popup::Export(form) => $($borrow)+ **form,
            Popup::Refine(form) => $($borrow)+ **form,
            Popup::Warnings(warnings) => warnings,
            Popup::Start(start) => start,
            Popup::Marks(marks) => marks,
            Popup::Doctor(doctor) => doctor,
            Popup::Themes(themes) => themes,
            Popup::Messages(messages) => messages,
        }
    };
}

fn layer(popup: &Popup) -> &dyn Layer {
    layer!(popup, &)
}

fn layer_mut(popup: &mut Popup) -> &mut dyn Layer {
    layer!(popup, &mut)
}

pub fn draw(model: &Model, popup: &Popup, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
    layer(popup).draw(model, body, buf, hits);
}

pub fn footer(model: &Model, popup: &Popup) -> KeyNames {
    layer(popup).footer(model)
}

/// Handles a key in the popup on top.
pub fn press(model: &mut Model, key: Key) -> Vec<Effect> {
    // Enter chooses in every window, whatever it does on the screen below.
    let action = match key.code {
        KeyCode::Enter => Some(Action::Enter),
        _ => keymap::action(key, model.screen),
    };
    let Some(mut top) = model.popups.pop() else { return Vec::new() };
    let below = model.popups.len();
    let popup = layer_mut(&mut top);
    let quits = popup.field().is_none() && action == Some(Action::Quit);
    // The key that asks whether to quit also says yes.
    let asked = matches!(&top, Popup::Question(Question { then: Then::Quit, .. }));
    let closes = key.code == KeyCode::Esc || quits && !asked;
    let after = if closes && !matches!(top, Popup::Start(_)) {
        layer_mut(&mut top).close(model);
        After::Close(Vec::new())
    } else {
        layer_mut(&mut top).press(model, key, action)
    };
    put_back(model, top, below, after)
}

/// Handles a click on a row of the popup on top.
pub fn click(model: &mut Model, row: usize) -> Vec<Effect> {
    let Some(mut top) = model.popups.pop() else { return Vec::new() };
    let below = model.popups.len();
    let after = layer_mut(&mut top).click(model, row);
    put_back(model, top, below, after)
}

/// Puts a popup back below the popups that it has opened, unless it is closed.
fn put_back(model: &mut Model, popup: Popup, below: usize, after: After) -> Vec<Effect> {
    match after {
        After::Close(effects) => effects,
        After::Stay(effects) => {
            model.popups.insert(below.min(model.popups.len()), popup);
            effects
        }
    }
}

/// Returns the text field of the popup on top.
pub fn field(popup: &mut Popup) -> Option<&mut Input> {
    layer_mut(popup).field()
}

/// Follows a change of the text after a paste.
pub fn field_changed(popup: &mut Popup) {
    layer_mut(popup).field_changed();
}
