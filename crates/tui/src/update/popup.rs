//! Keys and clicks of what lies over a screen.

use std::borrow::Cow;

use crossterm::event::KeyCode;
use tui_input::Input;

use super::act::act;
use super::navigate::{go, leave_start};
use super::screens::{try_with_screens, with_screens};
use super::{export, held_run, run, start};
use crate::export::Focus;
use crate::keymap::{self, Action};
use crate::keys::{Key, edit};
use crate::model::Model;
use crate::msg::{Effect, Query};
use crate::plan::Settings;
use crate::popup::{self, Popup, Then};
use crate::screen::Screen;
use crate::view::Part;
use crate::view::list::move_cursor;
use crate::warning_groups::{Fix, WarningGroup};
use crate::{lab, palette, sessions, setup};

pub fn press(model: &mut Model, key: Key) -> Vec<Effect> {
    // Enter chooses in every window, whatever it does on the screen below.
    let action = match key.code {
        KeyCode::Enter => Some(Action::Enter),
        _ => keymap::action(key, model.screen),
    };
    let Some(top) = model.popups.last_mut() else { return Vec::new() };
    let closes =
        key.code == KeyCode::Esc || (top.field().is_none() && action == Some(Action::Quit));
    match top {
        Popup::Start { cursor } => {
            let cursor = *cursor;
            if let Some(effects) = start::press(model, cursor, key, action) {
                return effects;
            }
            move_row(model, action);
        }
        _ if closes => return close(model),
        Popup::Help { .. } => return press_help(model, key, action),
        Popup::Palette { .. } => return press_palette(model, key),
        Popup::Export(_) => return export::handle_key(model, key, action),
        Popup::Question { .. } => return answer(model, key),
        Popup::HeldRun(_) => return held_run::press_held(model, key),
        Popup::WaitingRun => return held_run::press_waiting(model, key),
        Popup::Line { .. } if key.code == KeyCode::Enter => return submit(model),
        Popup::Line { input, error, .. } => {
            edit(input, key);
            *error = None;
        }
        Popup::Doctor { .. } => return press_list(model, action, Action::Doctor),
        Popup::Messages { .. } => return press_list(model, action, Action::Messages),
        Popup::Presets { .. } => return press_list(model, action, Action::Preset),
        Popup::Refine(_) => return press_list(model, action, Action::Refine),
        Popup::Warnings { .. } => return press_list(model, action, Action::Warnings),
        Popup::Marks { .. } => return press_list(model, action, Action::Compare),
        Popup::Themes { cursor, .. } if action == Some(Action::Theme) => {
            *cursor = (*cursor + 1) % model.themes.iter().len().max(1);
            preview_theme(model);
        }
        Popup::Themes { .. } => return press_list(model, action, Action::Theme),
    }
    Vec::new()
}

/// Handles a key in a list that acts on its rows, or in a text; `own` has opened it.
fn press_list(model: &mut Model, action: Option<Action>, own: Action) -> Vec<Effect> {
    match action {
        Some(Action::Enter | Action::Toggle) => return choose(model),
        Some(action) if action == own => return close(model),
        _ => move_row(model, action),
    }
    Vec::new()
}

/// Moves the cursor of the popup on top, or scrolls its text.
fn move_row(model: &mut Model, action: Option<Action>) {
    let Some(action) = action.filter(|it| !matches!(it, Action::Left | Action::Right)) else {
        return;
    };
    let list = model.hits.drawn(Part::Popup);
    let Some(top) = model.popups.last_mut() else { return };
    let is_text = top.is_text();
    if let Some(row) = top.row_mut() {
        let cursor = (*row).min(list.count.saturating_sub(1));
        *row = match is_text {
            true => list.scroll(action),
            false => move_cursor(cursor, list.count, action, list.page()),
        };
    }
    preview_theme(model);
}

/// Does what is under the cursor of the popup on top.
fn choose(model: &mut Model) -> Vec<Effect> {
    match model.popups.last() {
        Some(Popup::Help { words: false, .. }) => run_listed(model),
        Some(Popup::Palette { .. }) => follow_found(model),
        Some(Popup::Presets { cursor }) => {
            let chosen = model.presets.get(*cursor).map(|preset| preset.id.clone());
            model.popups.pop();
            chosen.map_or_else(Vec::new, |id| choose_preset(model, &id))
        }
        Some(Popup::Refine(_)) => refine(model),
        Some(Popup::Warnings { cursor }) => help_against(model, *cursor),
        Some(Popup::Start { cursor }) => start::answer(model, *cursor),
        Some(Popup::Marks { cursor }) => lab::choose_mark(&mut model.lab, *cursor),
        Some(Popup::Themes { .. }) => keep_theme(model),
        // A click does not write a file.
        Some(
            Popup::Export(_)
            | Popup::Help { words: true, .. }
            | Popup::Doctor { .. }
            | Popup::Messages { .. }
            | Popup::Question { .. }
            | Popup::HeldRun(_)
            | Popup::WaitingRun
            | Popup::Line { .. },
        )
        | None => Vec::new(),
    }
}

/// Selects the row that was clicked, or does what the selected one stands for.
pub fn click(model: &mut Model, row: usize) -> Vec<Effect> {
    let Some(top) = model.popups.last_mut() else { return Vec::new() };
    match top {
        _ if top.is_text() => return Vec::new(),
        Popup::Export(form) => {
            form.focus = Focus::Format;
            form.choose(row);
            return Vec::new();
        }
        _ => {}
    }
    let Some(cursor) = top.row_mut() else { return Vec::new() };
    if *cursor == row {
        return choose(model);
    }
    *cursor = row;
    preview_theme(model);
    Vec::new()
}

/// Takes the preset that was chosen: of probes on Lab, of files on Setup.
pub fn choose_preset(model: &mut Model, id: &str) -> Vec<Effect> {
    let Some(preset) = model.presets.iter().find(|preset| preset.id == id).cloned() else {
        return Vec::new();
    };
    leave_start(model);
    if lab::is_probe_preset(&preset) {
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
    form.request()
        .map(|request| Effect::Ask(Query::Refine(Box::new(request))))
        .into_iter()
        .collect()
}

/// Does what helps against a kind of warning: adds rounds, or shows the setting on Setup.
fn help_against(model: &mut Model, chosen: usize) -> Vec<Effect> {
    let Some(fix) = model.warnings().get(chosen).and_then(WarningGroup::fix) else {
        return Vec::new();
    };
    model.popups.pop();
    match fix {
        Fix::Rounds => act(model, Action::Refine),
        Fix::Setting(name) => {
            let plan = model.warned_plan().cloned();
            let mut effects = go(model, Screen::Setup);
            if let Some(plan) = plan {
                effects.extend(with_screens(model, |screens, ctx| {
                    setup::open_plan(screens.setup, ctx, &plan)
                }));
            }
            setup::show_setting(&mut model.setup, name);
            effects
        }
    }
}

/// Returns the kind of warning under the cursor, if they are on top.
pub fn warning_in_view(model: &Model) -> Option<Cow<'static, str>> {
    let Some(Popup::Warnings { cursor }) = model.popups.last() else { return None };
    model.warnings().into_iter().nth(*cursor).map(|group| group.example.id)
}

/// Keeps the cursor on a kind of warning: during a run their order changes.
pub fn stay_on_warning(model: &mut Model, id: &str) {
    let place = model.warnings().iter().position(|group| group.example.id == id);
    if let (Some(place), Some(Popup::Warnings { cursor })) = (place, model.popups.last_mut()) {
        *cursor = place;
    }
}

/// Shows the theme under the cursor, without keeping it.
fn preview_theme(model: &mut Model) {
    let Some(Popup::Themes { cursor, .. }) = model.popups.last() else { return };
    let id = model.themes.iter().nth(*cursor).map(|file| file.id.clone());
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

/// Edits the text of the palette, or moves in what is found.
fn press_palette(model: &mut Model, key: Key) -> Vec<Effect> {
    match key.code {
        KeyCode::Enter => return choose(model),
        KeyCode::Up => move_row(model, Some(Action::Up)),
        KeyCode::Down => move_row(model, Some(Action::Down)),
        KeyCode::PageUp => move_row(model, Some(Action::PageUp)),
        KeyCode::PageDown => move_row(model, Some(Action::PageDown)),
        _ => {
            if let Some(Popup::Palette { input, cursor }) = model.popups.last_mut()
                && edit(input, key)
            {
                *cursor = 0;
            }
        }
    }
    Vec::new()
}

/// Does what is under the cursor of the palette.
fn follow_found(model: &mut Model) -> Vec<Effect> {
    let Some(Popup::Palette { input, cursor }) = model.popups.last() else { return Vec::new() };
    let found = palette::find(&model.palette_sources(), input.value()).into_iter().nth(*cursor);
    found.map_or_else(Vec::new, |entry| super::palette::follow(model, entry))
}

/// Turns, filters or moves in the help, or does what is under its cursor.
fn press_help(model: &mut Model, key: Key, action: Option<Action>) -> Vec<Effect> {
    let Some(Popup::Help { words, scroll, filter }) = model.popups.last_mut() else {
        return Vec::new();
    };
    let moves = matches!(
        key.code,
        KeyCode::Enter | KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown
    );
    match (filter, action) {
        (Some(input), _) if !moves => {
            if edit(input, key) {
                *scroll = 0;
            }
        }
        (_, Some(Action::Enter)) => return choose(model),
        (_, Some(Action::Help)) if *words => return close(model),
        (_, Some(Action::Help | Action::NextPane | Action::PreviousPane)) => {
            (*words, *scroll) = (!*words, 0);
        }
        (filter @ None, _) if key.letter() == Some('/') => *filter = Some(Input::default()),
        _ => move_row(model, action),
    }
    Vec::new()
}

/// Does what is under the cursor of the help.
fn run_listed(model: &mut Model) -> Vec<Effect> {
    let Some(Popup::Help { scroll, filter, .. }) = model.popups.last() else { return Vec::new() };
    let found = keymap::find_listed(model.screen, filter.as_ref().map_or("", Input::value));
    let Some(binding) = found.get(*scroll) else { return Vec::new() };
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
