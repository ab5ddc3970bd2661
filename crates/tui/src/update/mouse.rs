//! The mouse: a click focuses, selects or presses, a double click opens, the wheel scrolls or
//! zooms.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::act::act;
use super::navigate::go;
use super::{key, screens};
use crate::keymap::Action;
use crate::keys::Key;
use crate::model::Model;
use crate::msg::Effect;
use crate::screen::Screen;
use crate::view::{self, Part, SMALLEST, Target};
use crate::{live, popups};

pub fn handle_event(model: &mut Model, event: MouseEvent) -> Vec<Effect> {
    let at = Position::new(event.column, event.row);
    // Below the smallest size nothing is drawn that could be clicked.
    let is_drawn = model.size.0 >= SMALLEST.0 && model.size.1 >= SMALLEST.1;
    if !is_drawn {
        model.pointer.over = None;
        return Vec::new();
    }
    let effects = match event.kind {
        MouseEventKind::ScrollUp => wheel(model, at, Action::Up),
        MouseEventKind::ScrollDown => wheel(model, at, Action::Down),
        MouseEventKind::Down(MouseButton::Left) => {
            let is_double = model.pointer.press(model.now, at);
            let effects = click(model, at);
            match is_double && is_over_chart(model, at) {
                true => effects.into_iter().chain(open(model, at)).collect(),
                false => effects,
            }
        }
        _ => Vec::new(),
    };
    // The chart under the pointer may have moved away.
    model.pointer.over = Some(at).filter(|at| is_over_chart(model, *at));
    effects
}

/// Opens what a chart shows under the pointer: on Live the results of the cell, elsewhere what the
/// first click selected.
fn open(model: &mut Model, at: Position) -> Vec<Effect> {
    if model.screen != Screen::Live {
        return act(model, Action::Enter);
    }
    let Some(bars) = model.hits.chart_at(at) else { return Vec::new() };
    let Some((id, job)) = live::job_at(&model.live, &model.look, bars, at) else {
        return Vec::new();
    };
    let effects = go(model, Screen::Results);
    if !model.results.open_job(&id, &job) {
        model.toasts.note(model.now, "the session shown here is not the one on Live");
    }
    effects
}

fn is_over_chart(model: &Model, at: Position) -> bool {
    model.popups.is_empty() && model.hits.chart_at(at).is_some()
}

fn wheel(model: &mut Model, at: Position, action: Action) -> Vec<Effect> {
    let name = if action == Action::Up { "up" } else { "down" };
    match Key::parse(name) {
        Some(key) if !model.popups.is_empty() => key::press(model, key),
        _ if screens::wheel(model, at, action == Action::Up) => Vec::new(),
        _ => act(model, action),
    }
}

fn click(model: &mut Model, at: Position) -> Vec<Effect> {
    let body = view::areas(model.size).body;
    match model.hits.target(at) {
        Some(Target::Key(pressed)) => key::press(model, pressed),
        Some(Target::Screen(screen)) => go(model, screen),
        Some(Target::Row(Part::Popup, row)) => popups::click(model, row),
        _ if model.popups.is_empty() && body.contains(at) => screens::click(model, at),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;
    use crate::msg::Msg;
    use crate::testing::Stage;

    #[test]
    fn clicks_outside_drawings_do_nothing() {
        let mut stage = Stage::new();
        stage.tell(Msg::Resize(SMALLEST.0 - 1, SMALLEST.1));
        for row in 0..SMALLEST.1 {
            for column in 0..SMALLEST.0 - 1 {
                let (kind, modifiers) =
                    (MouseEventKind::Down(MouseButton::Left), KeyModifiers::NONE);
                stage.tell(Msg::Mouse(MouseEvent { kind, column, row, modifiers }));
            }
        }
        assert_eq!(stage.take(), []);
        assert!(stage.model.screen == Screen::Setup && stage.model.popups.is_empty());
    }
}
