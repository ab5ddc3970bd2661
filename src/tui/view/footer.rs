//! The last line: the keys that matter here, from the keymap.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::keymap;
use super::super::keys::Key;
use super::super::model::Model;
use super::super::popup::Popup;
use super::super::theme::Role;
use super::pane;

/// Key and meaning of each item, the most wanted first, and its column.
fn items(model: &Model, area: Rect) -> Vec<(u16, String, String)> {
    let offered: Vec<(String, String)> = match model.popups.last() {
        Some(popup) => of_popup(popup).iter().map(|(key, text)| ((*key).into(), (*text).into())).collect(),
        None => of_screen(model),
    };
    let mut at = area.x + 1;
    let mut items = Vec::new();
    for (key, text) in offered {
        let width = (pane::width(&key) + 1 + pane::width(&text)) as u16;
        if at + width > area.right() {
            break;
        }
        items.push((at, key, text));
        at += width + 3;
    }
    items
}

fn of_screen(model: &Model) -> Vec<(String, String)> {
    let named = |binding: &&keymap::Binding| !binding.short.is_empty();
    // Help and quit are always seen, whatever else there is no room for.
    let (mut all, last): (Vec<_>, Vec<_>) = keymap::on(model.screen)
        .filter(named)
        .filter(|binding| super::offered(model, binding.action))
        .partition(|b| !matches!(b.action, keymap::Action::Help | keymap::Action::Quit));
    let at = all.len().min(5);
    all.splice(at..at, last);
    all.iter().map(|binding| (binding.keys.first().copied().unwrap_or("").to_string(), binding.short.to_string())).collect()
}

fn of_popup(popup: &Popup) -> &'static [(&'static str, &'static str)] {
    match popup {
        Popup::Help { .. } => &[("esc", "close"), ("/", "find"), ("down", "scroll")],
        Popup::Palette { .. } => &[("enter", "do it"), ("down", "next"), ("esc", "close")],
        Popup::Question { .. } => &[("y", "yes"), ("n", "no")],
        Popup::Line { .. } => &[("enter", "take it"), ("esc", "close")],
        Popup::Presets { .. } => &[("enter", "choose"), ("down", "next"), ("esc", "close")],
        Popup::Doctor { .. } => &[("esc", "close"), ("down", "scroll")],
    }
}

/// The key whose item was clicked.
pub fn key_at(model: &Model, area: Rect, at: Position) -> Option<Key> {
    let hit = |(column, key, text): &&(u16, String, String)| {
        let end = *column + (pane::width(key) + 1 + pane::width(text)) as u16;
        (*column..end).contains(&at.x)
    };
    let items = items(model, area);
    items.iter().find(hit).and_then(|(_, key, _)| Key::parse(key))
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    for (column, key, text) in items(model, area) {
        let parts = vec![Span::styled(key, model.look.style(Role::Key)), Span::raw(" "), Span::styled(text, model.look.style(Role::Dim))];
        Line::from(parts).render(Rect::new(column, area.y, area.right().saturating_sub(column), 1), buf);
    }
}
