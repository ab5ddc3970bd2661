//! Keys of the guided start.

use super::act::act;
use super::navigate::go;
use super::run;
use super::screens::with_screens;
use crate::keymap::Action;
use crate::keys::Key;
use crate::model::Model;
use crate::msg::{Effect, Replayed, Speed};
use crate::plan::{Preset, Settings};
use crate::popup::Popup;
use crate::screen::Screen;
use crate::start::{Entry, Needs, entries};
use crate::{lab, setup};

/// Handles a key of its own, `None` for another one; `cursor` is the selected question.
pub fn press(
    model: &mut Model,
    cursor: usize,
    key: Key,
    action: Option<Action>,
) -> Option<Vec<Effect>> {
    Some(match action {
        _ if key.letter() == Some('e') => show_all_settings(model),
        Some(Action::Enter | Action::Toggle | Action::Right | Action::Run) => answer(model, cursor),
        Some(Action::Help) => {
            // The words come first: the footer shows the keys.
            model.popups.push(Popup::Help { words: true, scroll: 0, filter: None });
            Vec::new()
        }
        Some(Action::Back) => show_all_settings(model),
        Some(
            action @ (Action::Go(_)
            | Action::Quit
            | Action::Doctor
            | Action::Palette
            | Action::Theme
            | Action::Redraw
            | Action::Suspend
            | Action::Interrupt),
        ) => act(model, action),
        _ => return None,
    })
}

fn show_all_settings(model: &mut Model) -> Vec<Effect> {
    model.popups.pop();
    Vec::new()
}

/// Starts what answers a question.
pub fn answer(model: &mut Model, row: usize) -> Vec<Effect> {
    let all = entries(&model.presets);
    let Some(entry) = all.get(row) else { return Vec::new() };
    let (needs, preset) = match entry {
        Entry::Preset(preset) => (entry.needs(), Preset::clone(preset)),
        Entry::Example => {
            model.popups.pop();
            return run::ask_for_replay(model, Replayed::Demo, Speed::default());
        }
    };
    model.popups.pop();
    if needs == Needs::NoFile {
        model.lab.choose(preset, Settings::default());
        let mut effects = go(model, Screen::Lab);
        effects.extend(with_screens(model, |screens, ctx| lab::act(screens.lab, ctx, Action::Run)));
        return effects;
    }
    with_screens(model, |screens, ctx| setup::answer(screens.setup, ctx, preset))
}
