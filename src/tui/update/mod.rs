//! `update`: what a message changes, and what it wants done. Touches no terminal, disk, clock or
//! thread.

mod key;
mod mouse;
mod popup;
pub mod run;

pub use key::edit;

use std::time::Duration;

use super::keymap::Action;
use super::model::{Leaving, Model, Screen};
use super::msg::{Effect, Msg};
use super::popup::{Popup, Then};
use super::theme::THEMES;
use super::{compare, export, host, lab, live, results, sessions, setup};

/// A run that hangs in a system call is left behind after this.
const PATIENCE: Duration = Duration::from_millis(1200);

/// Takes a message in; `now` is the time since the start.
pub fn update(model: &mut Model, now: Duration, msg: Msg) -> Vec<Effect> {
    model.now = now;
    model.toasts.pass(now);
    let effects = changed(model, now, msg);
    effects.into_iter().chain(results::ask(model)).collect()
}

fn changed(model: &mut Model, now: Duration, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key) => key::pressed(model, key),
        Msg::Paste(text) => key::pasted(model, &text),
        Msg::Mouse(event) => mouse::moved(model, event),
        Msg::Resize(columns, rows) => {
            model.size = (columns, rows);
            Vec::new()
        }
        Msg::Tick => {
            lab::ticked(model);
            live::ticked(model).into_iter().chain(run::patience(model)).collect()
        }
        Msg::Leave(code) => run::leave(model, code),
        Msg::Interrupt => act(model, Action::Interrupt),
        Msg::Suspend => act(model, Action::Suspend),
        Msg::Resumed => live::resumed(model).into_iter().chain([Effect::Redraw]).collect(),
        Msg::Begun { .. }
        | Msg::Event(_)
        | Msg::Dropped(_)
        | Msg::Over { .. }
        | Msg::NotBegun(_) => run::told(model, msg),
        Msg::Host(_) | Msg::Doctor(_) => host::told(model, msg),
        Msg::Listed(_) | Msg::Seen(_) | Msg::Proposed { .. } | Msg::PresetSaved(_) => {
            setup::told(model, msg)
        }
        Msg::Sessions(_) | Msg::Preview(_) | Msg::Imported { .. } => sessions::told(model, msg),
        Msg::Compared(compared) => compare::told(model, *compared),
        Msg::Exported { number, result } => export::told(model, number, result),
        Msg::Saving { id, unsaved } => run::saving(model, &id, unsaved),
        Msg::Lab(_) | Msg::LabPlanned { .. } | Msg::MarkedOnLab(_) => lab::told(model, msg),
        Msg::Opened(Ok(shown)) => {
            let screen = run::show(model, *shown);
            go(model, screen)
        }
        Msg::Course { path, cell, samples } => {
            results::told(model, &path, cell, samples);
            Vec::new()
        }
        Msg::Again(Ok(plan)) => run::start(model, (*plan).into()),
        Msg::Opened(Err(why)) | Msg::Again(Err(why)) | Msg::Failed(why) => {
            model.toasts.failed(now, why);
            Vec::new()
        }
        Msg::Done { text, sessions } => {
            model.toasts.good(now, text);
            if sessions { vec![Effect::Sessions] } else { Vec::new() }
        }
        Msg::Panicked(text) => {
            model.toasts.failed(now, format!("a part of iotui failed, please report it: {text}"));
            Vec::new()
        }
    }
}

/// Does an action: what is the same on all screens here, the rest by the screen.
pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Help => model.popups.push(Popup::help()),
        Action::Palette => model.popups.push(Popup::palette()),
        Action::Doctor => model.popups.push(Popup::Doctor { scroll: 0 }),
        Action::Go(screen) => return go(model, screen),
        Action::Redraw => return vec![Effect::Redraw],
        Action::Suspend => return run::suspend(model),
        Action::Interrupt => return run::interrupt(model),
        Action::Quit => return run::quit(model),
        Action::Theme => return next_theme(model),
        _ => return on_screen(model, action),
    }
    Vec::new()
}

fn on_screen(model: &mut Model, action: Action) -> Vec<Effect> {
    match model.screen {
        Screen::Setup => setup::act(model, action),
        Screen::Live => live::act(model, action),
        Screen::Results => results::act(model, action),
        Screen::Sessions => sessions::act(model, action),
        Screen::Lab => lab::act(model, action),
        Screen::Host => host::act(model, action),
        Screen::Compare => compare::act(model, action),
    }
}

/// Goes back one level on the screen; false where there is none.
fn on_screen_back(model: &mut Model) -> bool {
    match model.screen {
        Screen::Results => results::back(model),
        Screen::Setup => setup::back(model),
        Screen::Lab => lab::back(model),
        _ => false,
    }
}

/// Shows a screen, and asks for what it needs.
pub fn go(model: &mut Model, screen: Screen) -> Vec<Effect> {
    model.screen = screen;
    match screen {
        Screen::Setup => setup::shown_again(model),
        Screen::Sessions => vec![Effect::Sessions],
        Screen::Host => host::shown(model),
        Screen::Lab => lab::shown(model),
        _ => Vec::new(),
    }
}

fn next_theme(model: &mut Model) -> Vec<Effect> {
    let at = THEMES.iter().position(|theme| theme.id == model.look.theme.id).unwrap_or(0);
    model.look.theme = &THEMES[(at + 1) % THEMES.len()];
    model
        .toasts
        .note(model.now, format!("theme: {}, {}", model.look.theme.id, model.look.theme.about));
    vec![setup::remember(model)]
}

/// What a yes leads to.
fn then(model: &mut Model, then: Then) -> Vec<Effect> {
    match then {
        Then::Quit => run::leave(model, 0),
        Then::Do(effect) => vec![effect],
    }
}

/// The way out is open once nothing runs.
fn leaving(model: &mut Model, code: u8) -> Leaving {
    *model.leaving.get_or_insert(Leaving { code, since: model.now })
}

#[cfg(test)]
mod tests;
