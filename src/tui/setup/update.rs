//! What keys, clicks and messages do on Setup.

use tui_input::Input;

use super::change;
use super::rows::ROWS;
use super::state::{Pane, Setup};
use super::{line, pick, remember, slider, view};
use crate::plan::{Preset, TargetSpec};
use crate::tui::keymap::Action;
use crate::tui::model::Model;
use crate::tui::msg::{Effect, Msg};
use crate::tui::popup::{Popup, Purpose};
use crate::tui::update;

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    let setup = &mut model.setup;
    match action {
        Action::Run => return run(model),
        Action::NextPane => focus(setup, setup.focus.further(1)),
        Action::PreviousPane => focus(setup, setup.focus.further(Pane::ALL.len() - 1)),
        Action::Preset => {
            let cursor =
                model.presets.iter().position(|preset| preset.id == setup.preset.id).unwrap_or(0);
            model.popups.push(Popup::Presets { cursor });
        }
        Action::SaveAs => {
            let hint = "a name; iotui --preset NAME takes it, and p here";
            model.popups.push(Popup::line("Save as a preset", hint, "", Purpose::Preset));
        }
        Action::Copy => return copy(model),
        Action::Filter => filter(setup),
        Action::Hidden => {
            setup.browser.hidden = !setup.browser.hidden;
            setup.browser.sort();
        }
        Action::Edit => return change::edit(model),
        Action::Back => drop(back(model)),
        _ => return in_pane(model, action),
    }
    Vec::new()
}

pub(super) fn focus(setup: &mut Setup, pane: Pane) {
    setup.focus = pane;
    setup.browser.typing = false;
}

fn filter(setup: &mut Setup) {
    focus(setup, Pane::Target);
    setup.browser.filter.get_or_insert_with(Input::default);
    setup.browser.typing = true;
}

fn in_pane(model: &mut Model, action: Action) -> Vec<Effect> {
    match model.setup.focus {
        Pane::Target => typed_through(model, action),
        Pane::Backends => backends(model, action),
        Pane::What => what(model, action),
        Pane::Blocks => blocks(model, action),
        Pane::Plan => plan(model, action),
    }
}

/// Enter takes what the filter found, and shows all files again.
fn typed_through(model: &mut Model, action: Action) -> Vec<Effect> {
    let ends = action == Action::Enter && model.setup.browser.typing;
    let effects = pick::act(model, action);
    if ends {
        back(model);
    }
    effects
}

/// A cursor moved in a list.
fn moved(cursor: usize, rows: usize, page: usize, action: Action) -> Option<usize> {
    let last = rows.saturating_sub(1);
    Some(match action {
        Action::Up => cursor.saturating_sub(1),
        Action::Down => (cursor + 1).min(last),
        Action::Top => 0,
        Action::Bottom => last,
        Action::PageUp => cursor.saturating_sub(page),
        Action::PageDown => (cursor + page).min(last),
        Action::HalfUp => cursor.saturating_sub(page / 2),
        Action::HalfDown => (cursor + page / 2).min(last),
        _ => return None,
    })
}

fn backends(model: &mut Model, action: Action) -> Vec<Effect> {
    let at = model.setup.backend;
    if let Some(next) = moved(at, model.setup.infos.len(), 8, action) {
        model.setup.backend = next;
        return Vec::new();
    }
    match action {
        Action::Toggle | Action::Enter => change::toggle_backend(model, at),
        _ => Vec::new(),
    }
}

fn what(model: &mut Model, action: Action) -> Vec<Effect> {
    let at = model.setup.row;
    if let Some(next) = moved(at, ROWS.len(), 8, action) {
        model.setup.row = next;
        model.setup.mark = 0;
        return Vec::new();
    }
    let Some(row) = ROWS.get(at) else { return Vec::new() };
    match action {
        Action::Left => change::stepped(model, row, false),
        Action::Right => change::stepped(model, row, true),
        Action::Toggle | Action::Enter => change::toggled(model, row),
        _ => Vec::new(),
    }
}

fn blocks(model: &mut Model, action: Action) -> Vec<Effect> {
    let end = model.setup.end;
    match action {
        Action::Left => change::slid(model, false),
        Action::Right => change::slid(model, true),
        Action::Up => change::spread(model, true),
        Action::Down => change::spread(model, false),
        Action::Top => change::banded(model, |band| Some(band.put(end, 0))),
        Action::Bottom => change::banded(model, |band| Some(band.put(end, slider::TOP))),
        Action::Toggle | Action::Enter => {
            model.setup.end = end.other();
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn plan(model: &mut Model, action: Action) -> Vec<Effect> {
    let rows = view::plan_rows(model);
    if let Some(next) = moved(model.setup.scroll, rows, 5, action) {
        model.setup.scroll = next;
        return Vec::new();
    }
    match action {
        Action::Enter => run(model),
        _ => Vec::new(),
    }
}

pub(super) fn run(model: &mut Model) -> Vec<Effect> {
    if !model.setup.planning.settled() {
        model.setup.planning.eager = true;
        return Vec::new();
    }
    match &model.setup.planning.proposed {
        Some(Ok(proposed)) => {
            let plan = proposed.plan.clone();
            if let (Some(path), false) = (model.setup.whole_path(), model.running()) {
                model.setup.browser.used(&path);
            }
            update::run::start(model, plan.into())
        }
        Some(Err(why)) => {
            let why = why.clone();
            model.toasts.failed(model.now, why);
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// The same as a command line, to the clipboard.
pub(super) fn copy(model: &Model) -> Vec<Effect> {
    vec![Effect::Copy(command(&model.setup))]
}

/// What is chosen as a command line.
pub fn command(setup: &Setup) -> String {
    line::line(setup.file.as_deref(), setup.dir.as_deref(), &setup.preset, &setup.settings)
}

/// Setup is shown again: files and caches may have changed meanwhile.
pub fn shown_again(model: &mut Model) -> Vec<Effect> {
    let setup = &mut model.setup;
    setup.browser.going = Some(setup.browser.dir.clone());
    let list = Effect::List(setup.browser.dir.clone());
    std::iter::once(list).chain(setup.ask()).collect()
}

pub fn told(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Proposed { number, result, findings, expected } => {
            let newest = model.setup.planning.take(number, result, findings);
            if newest {
                model.setup.planning.expected = expected;
                return planned(model);
            }
            model.setup.send().into_iter().collect()
        }
        Msg::Listed(listing) => {
            let first = model.setup.browser.entries.is_empty();
            if !model.setup.browser.listed(listing) {
                return Vec::new();
            }
            if first {
                pick::find(&mut model.setup);
            }
            pick::look(model)
        }
        Msg::Seen(seen) => {
            model.setup.browser.seen(seen);
            pick::look(model)
        }
        Msg::PresetSaved(Ok(preset)) => {
            model.toasts.good(model.now, format!("saved as the preset {}", preset.id));
            model.presets.retain(|own| own.id != preset.id);
            model.presets.push((*preset).clone());
            let mut effects = change::take_preset(model, *preset);
            effects.push(remember(model));
            effects
        }
        Msg::PresetSaved(Err(why)) => {
            model.toasts.failed(model.now, why);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// The plan of the newest choices is there.
fn planned(model: &mut Model) -> Vec<Effect> {
    let setup = &mut model.setup;
    if let Some(spec) = setup.plan().map(|plan| &plan.target) {
        setup.exists = matches!(spec, TargetSpec::File { .. });
    }
    let mut effects = Vec::new();
    if std::mem::take(&mut setup.dirty) {
        effects.push(remember(model));
    }
    if std::mem::take(&mut model.setup.planning.eager) {
        effects.extend(run(model));
    }
    effects
}

/// The filter, while it has the focus.
pub fn field(setup: &mut Setup) -> Option<&mut Input> {
    let browser = &mut setup.browser;
    if browser.typing { browser.filter.as_mut() } else { None }
}

pub fn typed(model: &mut Model) -> Vec<Effect> {
    let browser = &mut model.setup.browser;
    browser.sort();
    browser.cursor = 0;
    pick::look(model)
}

/// Takes the filter away; false where there is none.
pub fn back(model: &mut Model) -> bool {
    let browser = &mut model.setup.browser;
    browser.typing = false;
    let had = browser.filter.take().is_some();
    browser.sort();
    had
}

/// The preset that was chosen from the list.
pub fn preset(model: &mut Model, preset: Preset) -> Vec<Effect> {
    change::take_preset(model, preset)
}
