//! A key: to the popup on top, else to a focused text field, else to the screen, else to all
//! screens.

use crossterm::event::KeyCode;
use tui_input::InputRequest;

use super::act::act;
use super::screens;
use crate::keymap::{self, Action};
use crate::keys::{Key, edit};
use crate::model::Model;
use crate::msg::Effect;
use crate::popups;

pub fn press(model: &mut Model, key: Key) -> Vec<Effect> {
    let action = keymap::action(key, model.screen);
    // A cursor that moves is read out in place of a pointer that rests.
    model.pointer.over = None;
    // These work whatever has the focus.
    if let Some(action @ (Action::Interrupt | Action::Redraw | Action::Suspend)) = action {
        return act(model, action);
    }
    if !model.popups.is_empty() {
        return popups::press(model, key);
    }
    if screens::field(model).is_some() {
        return type_key(model, key);
    }
    match action {
        Some(action) => act(model, action),
        None => Vec::new(),
    }
}

/// Inserts pasted text into the text field that has the focus, and to nothing else.
pub fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    let line: String =
        text.chars().filter(|c| !crate::text::is_unsafe_char(*c)).take(4096).collect();
    let target = match model.popups.last_mut() {
        Some(popup) => popups::field(popup),
        None => screens::field(model),
    };
    let Some(input) = target else { return Vec::new() };
    for letter in line.chars() {
        input.handle(InputRequest::InsertChar(letter));
    }
    match model.popups.last_mut() {
        None => return screens::field_changed(model),
        Some(popup) => popups::field_changed(popup),
    }
    Vec::new()
}

fn type_key(model: &mut Model, key: Key) -> Vec<Effect> {
    match key.code {
        KeyCode::Enter => act(model, Action::Enter),
        KeyCode::Esc => act(model, Action::Back),
        KeyCode::Up => act(model, Action::Up),
        KeyCode::Down => act(model, Action::Down),
        KeyCode::Tab if key.shift => act(model, Action::PreviousPane),
        KeyCode::Tab => act(model, Action::NextPane),
        _ => match screens::field(model).is_some_and(|input| edit(input, key)) {
            true => screens::field_changed(model),
            false => Vec::new(),
        },
    }
}
