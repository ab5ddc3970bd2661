//! How keys edit a line of text.

use crossterm::event::KeyCode;
use tui_input::{Input, InputRequest};

use super::keys::Key;

/// Edits a line of text; returns whether the key was used.
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
