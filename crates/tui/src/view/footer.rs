//! The last line: a message, else the keys that matter here, from the keymap.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::hits::{Hits, Target};
use super::pane;
use crate::context::RunStatus;
use crate::keymap::{self, Action, key_of};
use crate::keys::Key;
use crate::model::Model;
use crate::screen::Screen;
use crate::theme::Role;
use crate::toast::Toast;
use crate::update::screens::is_offered;
use crate::{compare, popups, results};

/// Returns column, key and meaning of each item. Help and quit keep their place at the right; the
/// others are shown as far as they fit.
fn items(model: &Model, area: Rect) -> Vec<(u16, String, String)> {
    let (offered, always) = match model.popups.last() {
        Some(popup) => (popups::footer(model, popup).to_vec(), Vec::new()),
        None => of_screen(model),
    };
    let width = |(key, text): &(&str, &str)| (pane::width(key) + 1 + pane::width(text)) as u16;
    let mut end = area.right().saturating_sub(1);
    let mut items = Vec::new();
    for item in always.iter().rev() {
        end = end.saturating_sub(width(item));
        items.push((end, item.0.into(), item.1.into()));
        end = end.saturating_sub(3);
    }
    let mut at = area.x + 1;
    for item in &offered {
        if at + width(item) > end {
            break;
        }
        items.push((at, item.0.into(), item.1.into()));
        at += width(item) + 3;
    }
    items
}

type Items = Vec<(&'static str, &'static str)>;

fn of_screen(model: &Model) -> (Items, Items) {
    let run = model.live.status(&model.look);
    let (always, offered): (Vec<_>, Vec<_>) = keymap::on(model.screen)
        .filter(|binding| {
            !short(model, run.as_ref(), binding).is_empty()
                && is_offered(model, run.as_ref(), binding.action)
        })
        .partition(|binding| matches!(binding.action, Action::Help | Action::Quit));
    let shown = |bindings: Vec<&'static keymap::Binding>| {
        bindings
            .iter()
            .map(|b| (b.keys.first().copied().unwrap_or(""), short(model, run.as_ref(), b)))
            .collect()
    };
    (shown(offered), shown(always))
}

/// Returns the short description of a key, which may depend on the state.
fn short(model: &Model, run: Option<&RunStatus>, binding: &keymap::Binding) -> &'static str {
    let is_paused = run.is_some_and(|run| run.is_paused);
    match (model.screen, binding.action) {
        (Screen::Live, Action::Pause)
            if model.live.replay.is_some() && !model.live.is_playing() =>
        {
            "play"
        }
        (Screen::Lab, Action::Toggle) if run.is_some_and(RunStatus::measures_probes) => {
            if is_paused { "resume" } else { "pause" }
        }
        (_, Action::Pause) if is_paused => "resume",
        (Screen::Live, Action::Table) if model.live.shows_heat => "trials",
        (Screen::Live, Action::ZoomReset) if model.live.is_zoomed() => "reset zoom",
        (Screen::Results, Action::Table) if model.results.kind == results::TabKind::Table => {
            "chart"
        }
        (Screen::Compare, Action::Table) if compare::shows_chart(&model.compare) => "cells",
        _ => binding.short,
    }
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let mut keys = items(model, area);
    if let Some(toast) = model.toasts.current() {
        // Help and quit stay; a popup has neither. Other keys have what the message leaves.
        keys.retain(|(_, key, _)| is_always(key) && model.popups.is_empty());
        let end = keys.iter().map(|(column, ..)| *column).min().unwrap_or(area.right());
        let room = Rect { width: end.saturating_sub(area.x), ..area };
        let used = draw_message(model, toast, room, buf).min(area.width);
        let rest = Rect { x: area.x + used, width: area.width - used, ..area };
        keys = items(model, rest);
    }
    for (column, key, text) in keys {
        let room = Rect::new(column, area.y, area.right().saturating_sub(column), 1);
        let pressed = Key::parse(&key);
        let parts =
            vec![model.look.span(Role::Key, key), Span::raw(" "), model.look.span(Role::Dim, text)];
        let line = Line::from(parts);
        if let Some(key) = pressed {
            hits.area(
                Rect { width: room.width.min(line.width() as u16), ..room },
                Target::Key(key),
            );
        }
        line.render(room, buf);
    }
}

fn is_always(key: &str) -> bool {
    let key = Key::parse(key).and_then(|key| keymap::action(key, Screen::Setup));
    matches!(key, Some(Action::Help | Action::Quit))
}

/// Draws the message and the number that wait behind it; if it is cut, the key that shows it
/// whole. Returns the columns that it takes.
fn draw_message(model: &Model, toast: &Toast, area: Rect, buf: &mut Buffer) -> u16 {
    let look = &model.look;
    let sign = match toast.role {
        Role::Good => look.glyph("√", "+"),
        Role::Wrong => "!",
        _ => look.glyph("•", "*"),
    };
    let room = usize::from(area.width.saturating_sub(5));
    let behind = model.toasts.behind();
    let key = key_of(Action::Messages, model.screen);
    let is_cut = pane::width(&toast.text) > room;
    // The key does nothing in a popup.
    let more = match (behind, model.popups.is_empty()) {
        (0, true) if is_cut => format!("{key} all of it"),
        (0, _) => String::new(),
        (behind, true) => format!("{behind} more: {key}"),
        (behind, false) => format!("{behind} more"),
    };
    let left = room.saturating_sub(if more.is_empty() { 0 } else { pane::width(&more) + 2 });
    let text = pane::fit_middle(&toast.text, left);
    let used = pane::width(&text);
    let style = look.style(toast.role);
    let gap = if more.is_empty() { 0 } else { left - used.min(left) };
    let parts = vec![
        Span::styled(format!(" {sign} "), style),
        Span::styled(text, style.add_modifier(Modifier::BOLD)),
        Span::raw(" ".repeat(gap + 2)),
        look.span(Role::Dim, more),
    ];
    let line = Line::from(parts);
    let used = line.width() as u16;
    line.render(area, buf);
    used
}
