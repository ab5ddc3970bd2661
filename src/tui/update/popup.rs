//! Keys of what lies over a screen.

use crossterm::event::KeyCode;
use tui_input::Input;

use super::act::act;
use super::navigate::{go, leave_start};
use super::requests::{try_with_screens, with_screens};
use super::{export, held_run, run, start};
use crate::plan::Settings;
use crate::tui::keymap::{self, Action};
use crate::tui::keys::Key;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::popup::{self, Popup, Then};
use crate::tui::probe_plan;
use crate::tui::screen::Screen;
use crate::tui::text_input::edit;
use crate::tui::warning_groups::Remedy;
use crate::tui::{lab, palette, sessions, setup, view};

/// Returns where a key scrolls a text to, not further than `most`.
fn scroll_by(scroll: u16, most: u16, action: Option<Action>) -> u16 {
    let scroll = scroll.min(most);
    let to = match action {
        Some(Action::Up) => scroll.saturating_sub(1),
        Some(Action::Down) => scroll.saturating_add(1),
        Some(Action::PageUp | Action::HalfUp) => scroll.saturating_sub(10),
        Some(Action::PageDown | Action::HalfDown) => scroll.saturating_add(10),
        Some(Action::Top) => 0,
        Some(Action::Bottom) => most,
        _ => scroll,
    };
    to.min(most)
}

fn move_cursor(cursor: usize, rows: usize, action: Option<Action>) -> usize {
    let last = rows.saturating_sub(1);
    match action {
        Some(Action::Up) => cursor.saturating_sub(1),
        Some(Action::Down) => (cursor + 1).min(last),
        Some(Action::Top) => 0,
        Some(Action::Bottom) => last,
        _ => cursor.min(last),
    }
}

pub fn press(model: &mut Model, key: Key) -> Vec<Effect> {
    let screen = model.screen;
    // Enter chooses in every window, whatever it does on the screen below.
    let action = match key.code {
        KeyCode::Enter => Some(Action::Enter),
        _ => keymap::action(key, screen),
    };
    let most = view::popup::furthest(model);
    let Some(top) = model.popups.last_mut() else { return Vec::new() };
    if let Popup::Start { cursor } = top {
        let cursor = *cursor;
        return start::press(model, cursor, key, action);
    }
    let closes =
        key.code == KeyCode::Esc || (top.field().is_none() && action == Some(Action::Quit));
    if closes {
        return close(model);
    }
    match top {
        Popup::Help { words: false, .. } if key.code == KeyCode::Enter => return run_listed(model),
        Popup::Help { filter: Some(input), scroll, .. }
            if !matches!(key.code, KeyCode::Enter | KeyCode::Up | KeyCode::Down) =>
        {
            if edit(input, key) {
                *scroll = 0;
            }
        }
        Popup::Help { words, scroll, filter } => match action {
            Some(Action::Help) if *words => return close(model),
            Some(Action::Help | Action::NextPane | Action::PreviousPane) => {
                (*words, *scroll) = (!*words, 0);
            }
            _ if key.letter() == Some('/') => *filter = Some(Input::default()),
            _ => *scroll = scroll_by(*scroll, most, action),
        },
        Popup::Doctor { scroll } => match action {
            Some(Action::Doctor) => return close(model),
            _ => *scroll = scroll_by(*scroll, most, action),
        },
        Popup::Messages { scroll } => match action {
            Some(Action::Messages) => return close(model),
            _ => *scroll = scroll_by(*scroll, most, action),
        },
        Popup::Palette { .. } => return press_palette(model, key),
        Popup::Export(_) => return export::handle_key(model, key, action),
        Popup::Question { .. } => return answer(model, key),
        Popup::HeldRun(_) => return held_run::press(model, key),
        Popup::Line { .. } if key.code == KeyCode::Enter => return submit(model),
        Popup::Line { input, error, .. } => {
            edit(input, key);
            *error = None;
        }
        Popup::Presets { .. }
        | Popup::Refine(_)
        | Popup::Start { .. }
        | Popup::Warnings { .. }
        | Popup::Marks { .. }
        | Popup::Themes { .. } => return press_in_list(model, action),
    }
    Vec::new()
}

/// Handles a key in a list that acts on its rows.
fn press_in_list(model: &mut Model, action: Option<Action>) -> Vec<Effect> {
    let (marks, presets) = (lab::mark_entries(&model.lab).len(), model.presets.len());
    let (warnings, themes) = (model.warnings().len(), model.themes.iter().len());
    let Some(top) = model.popups.last_mut() else { return Vec::new() };
    match top {
        Popup::Presets { cursor } => match action {
            Some(Action::Enter | Action::Toggle) => {
                let chosen = model.presets.get(*cursor).map(|preset| preset.id.clone());
                model.popups.pop();
                return chosen.map_or_else(Vec::new, |id| choose_preset(model, &id));
            }
            Some(Action::Preset) => return close(model),
            _ => *cursor = move_cursor(*cursor, presets, action),
        },
        Popup::Refine(form) => match action {
            Some(Action::Enter | Action::Toggle) => return refine(model),
            Some(Action::Refine) => return close(model),
            _ => form.cursor = move_cursor(form.cursor, form.ways.len(), action),
        },
        Popup::Warnings { cursor } => match action {
            Some(Action::Enter | Action::Toggle) => {
                let chosen = *cursor;
                return help_against(model, chosen);
            }
            Some(Action::Warnings) => return close(model),
            _ => *cursor = move_cursor(*cursor, warnings, action),
        },
        Popup::Start { .. } => {}
        Popup::Marks { cursor } => match action {
            Some(Action::Enter | Action::Toggle) => {
                let chosen = *cursor;
                return lab::choose_mark(&mut model.lab, chosen);
            }
            Some(Action::Compare) => return close(model),
            _ => *cursor = move_cursor(*cursor, marks, action),
        },
        Popup::Themes { cursor, .. } => {
            match action {
                Some(Action::Enter | Action::Toggle) => return keep_theme(model),
                Some(Action::Theme) => *cursor = (*cursor + 1) % themes.max(1),
                _ => *cursor = move_cursor(*cursor, themes, action),
            }
            let chosen = *cursor;
            preview_theme(model, chosen);
        }
        _ => {}
    }
    Vec::new()
}

/// Takes the preset that was chosen: of probes on Lab, of files on Setup.
pub fn choose_preset(model: &mut Model, id: &str) -> Vec<Effect> {
    let Some(preset) = model.presets.iter().find(|preset| preset.id == id).cloned() else {
        return Vec::new();
    };
    leave_start(model);
    if probe_plan::is_probe_preset(&preset) {
        model.lab.choose(preset, Settings::default());
        return go(model, Screen::Lab);
    }
    let mut effects =
        with_screens(model, |screens, ctx| setup::take_preset(screens.setup, ctx, preset));
    if model.screen == Screen::Lab {
        effects.extend(go(model, Screen::Setup));
    }
    effects
}

/// Plans the further rounds that were chosen.
fn refine(model: &mut Model) -> Vec<Effect> {
    let Some(Popup::Refine(form)) = model.popups.pop() else { return Vec::new() };
    if model.running() {
        run::refuse(model);
        return Vec::new();
    }
    form.request().map(|request| Effect::Refine(Box::new(request))).into_iter().collect()
}

/// Does what helps against a kind of warning: adds rounds, or shows the setting on Setup.
fn help_against(model: &mut Model, chosen: usize) -> Vec<Effect> {
    let Some(remedy) = model.warnings().get(chosen).and_then(|group| group.remedy()) else {
        return Vec::new();
    };
    model.popups.pop();
    match remedy {
        Remedy::Refine => act(model, Action::Refine),
        Remedy::Setting(name) => {
            let effects = go(model, Screen::Setup);
            setup::show_setting(&mut model.setup, name);
            effects
        }
    }
}

/// Shows the theme under the cursor, without keeping it.
fn preview_theme(model: &mut Model, at: usize) {
    let id = model.themes.iter().nth(at).map(|file| file.id.clone());
    if let Some(id) = id {
        model.use_theme(&id);
    }
}

fn keep_theme(model: &mut Model) -> Vec<Effect> {
    model.popups.pop();
    vec![model.setup.remember(&model.presets, &model.look)]
}

fn close(model: &mut Model) -> Vec<Effect> {
    if let Some(Popup::Themes { before, .. }) = model.popups.pop() {
        model.use_theme(&before);
    }
    Vec::new()
}

/// Edits the palette, or does what was chosen.
fn press_palette(model: &mut Model, key: Key) -> Vec<Effect> {
    let Some(Popup::Palette { input, cursor }) = model.popups.last() else { return Vec::new() };
    let (mut input, mut cursor) = (input.clone(), *cursor);
    let mut rows = palette::find(&model.palette_sources(), input.value());
    let last = rows.len().saturating_sub(1);
    match key.code {
        KeyCode::Enter if cursor <= last && !rows.is_empty() => {
            return super::palette::follow(model, rows.swap_remove(cursor));
        }
        KeyCode::Up => cursor = cursor.saturating_sub(1),
        KeyCode::Down => cursor = (cursor + 1).min(last),
        KeyCode::PageUp => cursor = cursor.saturating_sub(10),
        KeyCode::PageDown => cursor = (cursor + 10).min(last),
        _ => {
            if edit(&mut input, key) {
                cursor = 0;
            }
        }
    }
    if let Some(top) = model.popups.last_mut() {
        *top = Popup::Palette { input, cursor };
    }
    Vec::new()
}

/// Does what is under the cursor of the help.
fn run_listed(model: &mut Model) -> Vec<Effect> {
    let Some(Popup::Help { scroll, filter, .. }) = model.popups.last() else { return Vec::new() };
    let (at, text) = (usize::from(*scroll), filter.as_ref().map_or("", Input::value));
    let found = keymap::find_listed(model.screen, text);
    let Some(binding) = found.get(at.min(found.len().saturating_sub(1))) else {
        return Vec::new();
    };
    model.popups.pop();
    act(model, binding.action)
}

/// Answers a question: `y` or Enter means yes; any key that does not belong to a list means no.
fn answer(model: &mut Model, key: Key) -> Vec<Effect> {
    let yes =
        key.letter().is_some_and(|c| c.eq_ignore_ascii_case(&'y')) || key.code == KeyCode::Enter;
    let no = key.letter().is_some_and(|c| c.eq_ignore_ascii_case(&'n'));
    match model.popups.pop() {
        Some(Popup::Question { then: next, .. }) if yes => follow(model, next),
        Some(question) if !no => {
            model.popups.push(question);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Accepts a line of text; an error keeps it open.
fn submit(model: &mut Model) -> Vec<Effect> {
    let Some(Popup::Line { input, purpose, .. }) = model.popups.last() else { return Vec::new() };
    let (text, purpose) = (input.value().trim().to_string(), purpose.clone());
    let done = match &purpose {
        popup::Purpose::Preset => setup::save_preset(&model.setup, &text),
        popup::Purpose::Rename { id } => sessions::rename(id, &text),
        popup::Purpose::Import => sessions::import(&text),
        popup::Purpose::Setting(name) => {
            try_with_screens(model, |screens, ctx| setup::set_text(screens.setup, ctx, name, &text))
        }
        popup::Purpose::Values(probe) => {
            try_with_screens(model, |screens, ctx| lab::set_values(screens.lab, ctx, probe, &text))
        }
    };
    match done {
        Ok(effects) => {
            model.popups.pop();
            sessions::ask_before_hiding(&mut model.popups, effects)
        }
        Err(why) => {
            if let Some(Popup::Line { error, .. }) = model.popups.last_mut() {
                *error = Some(why);
            }
            Vec::new()
        }
    }
}

/// Returns what a yes leads to.
fn follow(model: &mut Model, then: Then) -> Vec<Effect> {
    match then {
        Then::Quit => run::leave(model, 0),
        Then::Do(effect) => vec![effect],
    }
}

/// Follows a change of the line of text, after a paste.
pub fn field_changed(model: &mut Model) -> Vec<Effect> {
    match model.popups.last_mut() {
        Some(Popup::Palette { cursor, .. }) => *cursor = 0,
        Some(Popup::Line { error, .. }) => *error = None,
        Some(Popup::Export(form)) => form.error = None,
        _ => {}
    }
    Vec::new()
}
