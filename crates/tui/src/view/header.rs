//! The first line: name, screens with their keys, at the right the target and the state.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::hits::{Hits, Target};
use super::pane;
use crate::model::Model;
use crate::popup::Popup;
use crate::screen::Screen;
use crate::theme::Role;

/// Columns between the names of the screens and the state.
const GAP: u16 = 2;

/// Returns the name and each screen with its columns.
fn tabs(area: Rect) -> Vec<(Option<Screen>, String, Rect)> {
    let mut at = area.x;
    // A narrow screen needs the room for the state.
    let gap = if area.width < 100 { 1 } else { 2 };
    let mut tabs = Vec::new();
    let names = Screen::ALL
        .iter()
        .enumerate()
        .map(|(n, screen)| (Some(*screen), format!("{} {}", n + 1, screen.title())));
    for (screen, text) in std::iter::once((None, " iotui ".to_string())).chain(names) {
        let width = pane::width(&text) as u16;
        tabs.push((screen, text, Rect::new(at, area.y, width, area.height.min(1))));
        at += width + gap;
    }
    tabs
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let look = &model.look;
    // The guided start leaves the way to the screens open.
    let is_open = matches!(model.popups.last(), None | Some(Popup::Start(_)));
    let mut end = area.x;
    for (screen, text, place) in tabs(area) {
        let place = place.intersection(area);
        if let Some(screen) = screen.filter(|_| is_open) {
            hits.area(place, Target::Screen(screen));
        }
        end = end.max(place.right());
        match screen {
            None => Span::styled(text, look.style(Role::Focus).add_modifier(Modifier::REVERSED))
                .render(place, buf),
            Some(screen)
                if screen == model.screen
                    || (screen, model.screen) == (Screen::Sessions, Screen::Compare) =>
            {
                Span::styled(text, look.style(Role::Focus).add_modifier(Modifier::UNDERLINED))
                    .render(place, buf);
            }
            Some(_) => {
                let (key, name) = text.split_at(1);
                let parts = vec![
                    look.span(Role::Key, key.to_string()),
                    look.span(Role::Dim, name.to_string()),
                ];
                Line::from(parts).render(place, buf);
            }
        }
    }
    let room = usize::from(area.right().saturating_sub(end + GAP + 1)); // one is left free
    if room < 4 {
        return;
    }
    let state = describe_state(model, room);
    let is_replay = model.live.replay.is_some();
    let role = if model.live.shown_unsaved().is_some() {
        Role::Wrong
    } else if is_replay {
        Role::Focus
    } else if model.running() {
        Role::Good
    } else {
        Role::Dim
    };
    let target = describe_target(model);
    let left = room.saturating_sub(pane::width(&state) + 3);
    let mut parts = Vec::new();
    let dot = look.glyph(" · ", " - ");
    if left >= 8 && !target.is_empty() {
        parts.push(look.span(Role::Text, pane::fit_last_parts(&target, dot, left)));
        parts.push(look.span(Role::Dim, dot));
    }
    parts.push(look.span(role, pane::fit(&state, room)));
    Line::from(parts).right_aligned().render(Rect::new(end + GAP, area.y, room as u16, 1), buf);
}

/// Describes the target that is or was measured.
fn describe_target(model: &Model) -> String {
    match model.screen {
        _ if model.running() || model.live.replay.is_some() => model.live.target(),
        Screen::Results if model.results.view().is_some() => describe_shown(model),
        // Most probes need no file: one is shown only if it was named.
        Screen::Lab if model.setup.file.is_none() => String::new(),
        _ => model.setup.describe_target(&model.look),
    }
}

/// Describes the target of the shown session; keeps the last parts where room is short.
fn describe_shown(model: &Model) -> String {
    let Some(view) = model.results.view() else { return String::new() };
    let mut place = view.glance.conditions.place();
    place.reverse();
    if place.is_empty() {
        return view.display_name().to_string();
    }
    place.join(model.look.glyph(" · ", " - "))
}

/// Returns the state of the run, and that it is not saved: as long as there is room for.
fn describe_state(model: &Model, room: usize) -> String {
    const UNSAVED: &str = ", not saved";
    let live = &model.live;
    if model.held.is_some() {
        return "a run waits".into();
    }
    if live.unsaved().is_none() {
        return live.describe(&model.look, room);
    }
    let state = live.describe(&model.look, room.saturating_sub(UNSAVED.len()));
    if pane::width(&state) + UNSAVED.len() <= room {
        format!("{state}{UNSAVED}")
    } else {
        "not saved".into()
    }
}
