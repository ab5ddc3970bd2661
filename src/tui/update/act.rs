//! Actions: what is the same on all screens here, the rest by the screen.

use super::navigate::go;
use super::{run, screens};
use crate::tui::keymap::Action;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::popup::{Popup, Then};
use crate::tui::screen::Screen;
use crate::tui::theme::THEMES;

/// Does an action.
pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Help => model.popups.push(Popup::help()),
        Action::Palette => model.popups.push(Popup::palette()),
        Action::Doctor => model.popups.push(Popup::Doctor { scroll: 0 }),
        Action::Go(screen) => return go(model, screen),
        Action::Redraw => return vec![Effect::Redraw],
        Action::Suspend => return run::suspend(model),
        Action::Interrupt => return run::interrupt(model),
        Action::Quit => return quit(model),
        Action::Theme => return next_theme(model),
        _ => return screens::act(model, action),
    }
    Vec::new()
}

fn next_theme(model: &mut Model) -> Vec<Effect> {
    let at = THEMES.iter().position(|theme| theme.id == model.look.theme.id).unwrap_or(0);
    model.look.theme = &THEMES[(at + 1) % THEMES.len()];
    model
        .toasts
        .note(model.now, format!("theme: {}, {}", model.look.theme.id, model.look.theme.about));
    vec![model.setup.remember(&model.presets, &model.look)]
}

/// Closes what is open on the screen; asks while a run is in progress.
fn quit(model: &mut Model) -> Vec<Effect> {
    if model.screen == Screen::Compare {
        return go(model, Screen::Sessions);
    }
    if screens::back(model) {
        return Vec::new();
    }
    // Who has stopped it wants no question.
    if model.running() && !model.live.is_stopping() {
        let question =
            Popup::question("Quit during a run?", "What was measured so far is saved.", Then::Quit);
        model.popups.push(question);
        return Vec::new();
    }
    run::leave(model, 0)
}
