//! A key: to the popup on top, else to a focused text field, else to the screen, else to all
//! screens.

use crossterm::event::KeyCode;
use tui_input::{Input, InputRequest};

use super::{act, popup};
use crate::tui::keymap::{self, Action};
use crate::tui::keys::Key;
use crate::tui::model::{Model, Screen};
use crate::tui::msg::Effect;
use crate::tui::{lab, results, sessions, setup};

pub fn pressed(model: &mut Model, key: Key) -> Vec<Effect> {
    let action = keymap::action(key, model.screen);
    // These work whatever has the focus.
    if let Some(action @ (Action::Interrupt | Action::Redraw | Action::Suspend)) = action {
        return act(model, action);
    }
    if !model.popups.is_empty() {
        return popup::pressed(model, key);
    }
    if field(model).is_some() {
        return typed(model, key);
    }
    match action {
        Some(action) => act(model, action),
        None => Vec::new(),
    }
}

/// A paste goes to the text field that has the focus, and to nothing else.
pub fn pasted(model: &mut Model, text: &str) -> Vec<Effect> {
    let line: String = text.chars().filter(|c| !crate::text::steers(*c)).take(4096).collect();
    let target = match model.popups.last_mut() {
        Some(popup) => popup.field(),
        None => field(model),
    };
    let Some(input) = target else { return Vec::new() };
    for letter in line.chars() {
        input.handle(InputRequest::InsertChar(letter));
    }
    if model.popups.is_empty() { changed(model) } else { popup::changed(model) }
}

/// The text field of the screen that has the focus.
fn field(model: &mut Model) -> Option<&mut Input> {
    match model.screen {
        Screen::Setup => setup::field(&mut model.setup),
        Screen::Results => results::field(&mut model.results),
        Screen::Sessions => sessions::field(&mut model.sessions),
        Screen::Lab => lab::field(&mut model.lab),
        _ => None,
    }
}

fn typed(model: &mut Model, key: Key) -> Vec<Effect> {
    match key.code {
        KeyCode::Enter => act(model, Action::Enter),
        KeyCode::Esc => act(model, Action::Back),
        KeyCode::Up => act(model, Action::Up),
        KeyCode::Down => act(model, Action::Down),
        KeyCode::Tab if key.shift => act(model, Action::PreviousPane),
        KeyCode::Tab => act(model, Action::NextPane),
        _ => match field(model).is_some_and(|input| edit(input, key)) {
            true => changed(model),
            false => Vec::new(),
        },
    }
}

fn changed(model: &mut Model) -> Vec<Effect> {
    match model.screen {
        Screen::Setup => setup::typed(model),
        Screen::Results => results::typed(model),
        Screen::Sessions => sessions::typed(model),
        Screen::Lab => lab::typed(model),
        _ => Vec::new(),
    }
}

/// Edits a line of text; whether the key meant something.
pub fn edit(input: &mut Input, key: Key) -> bool {
    let request = match (key.code, key.ctrl) {
        (KeyCode::Backspace, false) => InputRequest::DeletePrevChar,
        (KeyCode::Backspace, true) | (KeyCode::Char('w'), true) => InputRequest::DeletePrevWord,
        (KeyCode::Delete, _) => InputRequest::DeleteNextChar,
        (KeyCode::Left, false) => InputRequest::GoToPrevChar,
        (KeyCode::Right, false) => InputRequest::GoToNextChar,
        (KeyCode::Left, true) => InputRequest::GoToPrevWord,
        (KeyCode::Right, true) => InputRequest::GoToNextWord,
        (KeyCode::Home, _) | (KeyCode::Char('a'), true) => InputRequest::GoToStart,
        (KeyCode::End, _) | (KeyCode::Char('e'), true) => InputRequest::GoToEnd,
        (KeyCode::Char('u'), true) => InputRequest::DeleteLine,
        (KeyCode::Char('k'), true) => InputRequest::DeleteTillEnd,
        _ => match key.letter() {
            Some(letter) => InputRequest::InsertChar(letter),
            None => return false,
        },
    };
    input.handle(request);
    true
}
