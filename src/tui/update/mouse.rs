//! The mouse: a click focuses, selects or presses; the wheel scrolls.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::act::act;
use super::navigate::go;
use super::{key, screens, start};
use crate::tui::keymap::Action;
use crate::tui::keys::Key;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::popup::Popup;
use crate::tui::view::{self, footer};

pub fn handle_event(model: &mut Model, event: MouseEvent) -> Vec<Effect> {
    let at = Position::new(event.column, event.row);
    match event.kind {
        MouseEventKind::ScrollUp => wheel(model, Action::Up),
        MouseEventKind::ScrollDown => wheel(model, Action::Down),
        MouseEventKind::Down(MouseButton::Left) => click(model, at),
        _ => Vec::new(),
    }
}

fn wheel(model: &mut Model, action: Action) -> Vec<Effect> {
    let name = if action == Action::Up { "up" } else { "down" };
    match Key::parse(name) {
        Some(key) if !model.popups.is_empty() => key::press(model, key),
        _ => act(model, action),
    }
}

fn click(model: &mut Model, at: Position) -> Vec<Effect> {
    let areas = view::areas(model.size);
    if areas.footer.contains(at) {
        return match footer::key_at(model, areas.footer, at) {
            Some(pressed) => key::press(model, pressed),
            None => Vec::new(),
        };
    }
    let starts = matches!(model.popups.last(), Some(Popup::Start { .. }));
    if !model.popups.is_empty() && !starts {
        return Vec::new();
    }
    if areas.header.contains(at) {
        return match view::header::screen_at(model, areas.header, at) {
            Some(screen) => {
                model.popups.clear();
                go(model, screen)
            }
            None => Vec::new(),
        };
    }
    if starts {
        return start::click(model, at);
    }
    screens::click(model, areas.body, at)
}
