//! Gives actions, clicks and letters to the screen that is shown.

use ratatui::layout::{Position, Rect};
use tui_input::Input;

use super::requests::with_screens;
use crate::tui::keymap::Action;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::screen::Screen;
use crate::tui::{compare, host, lab, live, results, sessions, setup};

/// Does an action on the screen.
pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match model.screen {
        Screen::Setup => setup::act(model, action),
        Screen::Live => with_screens(model, |screens, ctx| live::act(screens.live, ctx, action)),
        Screen::Results => results::act(model, action),
        Screen::Sessions => sessions::act(model, action),
        Screen::Lab => lab::act(model, action),
        Screen::Host => with_screens(model, |screens, ctx| host::act(screens.host, ctx, action)),
        Screen::Compare => {
            with_screens(model, |screens, ctx| compare::act(screens.compare, ctx, action))
        }
    }
}

/// Goes back one level on the screen; false where there is none.
pub fn back(model: &mut Model) -> bool {
    match model.screen {
        Screen::Results => results::back(model),
        Screen::Setup => setup::back(model),
        Screen::Lab => lab::back(model),
        _ => false,
    }
}

/// A click on the body of the screen.
pub fn click(model: &mut Model, body: Rect, at: Position) -> Vec<Effect> {
    match model.screen {
        Screen::Setup => setup::clicked(model, body, at),
        Screen::Results => results::clicked(model, body, at),
        Screen::Sessions => sessions::clicked(model, body, at),
        Screen::Lab => lab::clicked(model, body, at),
        Screen::Host => {
            with_screens(model, |screens, ctx| host::click(screens.host, ctx, body, at))
        }
        Screen::Live | Screen::Compare => Vec::new(),
    }
}

/// The text field of the screen that has the focus.
pub fn field(model: &mut Model) -> Option<&mut Input> {
    match model.screen {
        Screen::Setup => setup::field(&mut model.setup),
        Screen::Results => results::field(&mut model.results),
        Screen::Sessions => sessions::field(&mut model.sessions),
        Screen::Lab => lab::field(&mut model.lab),
        _ => None,
    }
}

/// The text field of the screen has changed.
pub fn field_changed(model: &mut Model) -> Vec<Effect> {
    match model.screen {
        Screen::Setup => setup::typed(model),
        Screen::Results => results::typed(model),
        Screen::Sessions => sessions::typed(model),
        Screen::Lab => lab::typed(model),
        _ => Vec::new(),
    }
}
