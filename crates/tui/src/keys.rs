//! Keys and their notation: `ctrl-d`, `shift-tab`, `f1`, `G`; used by the keymap, the help and the
//! tests.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tui_input::{Input, InputRequest};

/// A pressed key; shift is part of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub code: KeyCode,
    pub ctrl: bool,
    pub alt: bool,
    pub shift: bool,
}

const NAMED_KEYS: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("space", KeyCode::Char(' ')),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pgup", KeyCode::PageUp),
    ("pgdn", KeyCode::PageDown),
];

impl Key {
    /// Returns the key that was pressed; `None` for releases and repeats, which some terminals
    /// report too.
    pub fn from_event(event: KeyEvent) -> Option<Key> {
        if event.kind != KeyEventKind::Press {
            return None;
        }
        let has = |modifier| event.modifiers.contains(modifier);
        let (code, shift) = match event.code {
            KeyCode::BackTab => (KeyCode::Tab, true),
            KeyCode::Char(c) if has(KeyModifiers::SHIFT) && c.is_ascii_lowercase() => {
                (KeyCode::Char(c.to_ascii_uppercase()), false)
            }
            KeyCode::Char(c) => (KeyCode::Char(c), false),
            other => (other, has(KeyModifiers::SHIFT)),
        };
        Some(Key { code, ctrl: has(KeyModifiers::CONTROL), alt: has(KeyModifiers::ALT), shift })
    }

    /// Parses the notation of a key.
    pub fn parse(text: &str) -> Option<Key> {
        let mut key = Key { code: KeyCode::Null, ctrl: false, alt: false, shift: false };
        let mut rest = text;
        loop {
            // The key after the prefix may itself be `-`, but never nothing.
            let (modifier, after) = if let Some(after) = rest.strip_prefix("ctrl-") {
                (&mut key.ctrl, after)
            } else if let Some(after) = rest.strip_prefix("alt-") {
                (&mut key.alt, after)
            } else if let Some(after) = rest.strip_prefix("shift-") {
                (&mut key.shift, after)
            } else {
                break;
            };
            if after.is_empty() {
                break;
            }
            *modifier = true;
            rest = after;
        }
        let mut letters = rest.chars();
        key.code = match (letters.next(), letters.next()) {
            (Some(letter), None) => KeyCode::Char(letter),
            _ => match NAMED_KEYS.iter().find(|(name, _)| *name == rest) {
                Some((_, code)) => *code,
                None => KeyCode::F(
                    rest.strip_prefix('f')?.parse().ok().filter(|n| (1..=12).contains(n))?,
                ),
            },
        };
        Some(key)
    }

    /// Returns the letter to insert into a text field; `None` for commands.
    pub fn letter(&self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (on, prefix) in [(self.ctrl, "ctrl-"), (self.alt, "alt-"), (self.shift, "shift-")] {
            if on {
                f.write_str(prefix)?;
            }
        }
        match (NAMED_KEYS.iter().find(|(_, code)| *code == self.code), self.code) {
            (Some((name, _)), _) => f.write_str(name),
            (None, KeyCode::Char(c)) => write!(f, "{c}"),
            (None, KeyCode::F(n)) => write!(f, "f{n}"),
            (None, other) => write!(f, "{other:?}"),
        }
    }
}

/// Parses the keys of a script: `rjj<enter><ctrl-d>`; unknown ones are skipped.
pub fn script(text: &str) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let named = (first == '<').then(|| rest[1..].split_once('>')).flatten();
        match named.and_then(|(name, after)| Some((Key::parse(name)?, after))) {
            Some((key, after)) => {
                keys.push(key);
                rest = after;
            }
            None => {
                keys.extend(Key::parse(&first.to_string()));
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    keys
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_goes_both_ways() {
        for text in
            ["a", "G", "?", "-", "ctrl-d", "shift-tab", "f1", "space", "pgdn", "alt-x", "ctrl-l"]
        {
            assert_eq!(Key::parse(text).map(|k| k.to_string()).as_deref(), Some(text));
        }
        for text in ["", "f13", "fx", "hello", "ctrl-"] {
            assert!(Key::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn scripts_are_read_key_by_key() {
        let shown: Vec<String> =
            script("r<enter>< >a<ctrl-c>").iter().map(Key::to_string).collect();
        assert_eq!(shown, ["r", "enter", "space", "a", "ctrl-c"]);
        assert_eq!(script("a<b").len(), 3);
    }

    #[test]
    fn releases_and_repeats_are_no_keys() {
        let mut event = KeyEvent::new(KeyCode::Char('g'), KeyModifiers::SHIFT);
        assert_eq!(Key::from_event(event).map(|k| k.to_string()).as_deref(), Some("G"));
        event.kind = KeyEventKind::Release;
        assert_eq!(Key::from_event(event), None);
        let tab = KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT);
        assert_eq!(Key::from_event(tab), Key::parse("shift-tab"));
    }
}
