//! Actions: for all screens, and for the shown one.

use super::navigate::{go, leave_start};
use super::{run, screens};
use crate::keymap::Action;
use crate::model::Model;
use crate::msg::{Effect, Query};
use crate::popup::{Doctor, Help, MessageList, Palette, Popup, ThemeList, Then};
use crate::screen::Screen;

/// Does an action.
pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Help => model.popups.push(Popup::Help(Help::default())),
        Action::Palette => {
            model.popups.push(Popup::Palette(Palette::default()));
            // Reading files would disturb a run.
            let is_unread = model.sessions.count() == 0 && !model.running();
            return if is_unread { vec![Effect::Ask(Query::Sessions)] } else { Vec::new() };
        }
        Action::Doctor => model.popups.push(Popup::Doctor(Doctor::default())),
        Action::Messages => model.popups.push(Popup::Messages(MessageList::default())),
        Action::Go(screen) => return go(model, screen),
        Action::Redraw => return vec![Effect::Redraw],
        Action::Suspend => return run::suspend(model),
        Action::Interrupt => return run::interrupt(model),
        Action::Quit => return quit(model),
        Action::Theme => choose_theme(model),
        _ => {
            leave_start(model);
            return screens::act(model, action);
        }
    }
    Vec::new()
}

/// Opens the list of themes.
fn choose_theme(model: &mut Model) {
    let before = model.look.theme.id.clone();
    let cursor = model.themes.position(&before).unwrap_or(0);
    model.popups.push(Popup::Themes(ThemeList { cursor, before }));
}

/// Goes back one level, or quits; asks first during a run.
fn quit(model: &mut Model) -> Vec<Effect> {
    if model.screen == Screen::Compare {
        return go(model, Screen::Sessions);
    }
    if screens::back(model) {
        return Vec::new();
    }
    // Do not ask a user who has stopped the run.
    if model.running() && !model.live.is_stopping() {
        let question =
            Popup::question("Quit during a run?", "Results so far are saved.", Then::Quit);
        model.popups.push(question);
        return Vec::new();
    }
    run::leave(model, 0)
}
