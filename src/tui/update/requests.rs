//! Gives screens their own state and a context, and performs what they ask of the rest.

use crate::tui::context::{Context, Request};
use crate::tui::model::{Model, Screens};
use crate::tui::msg::Effect;
use crate::tui::screen::Screen;
use crate::tui::{compare, live, sessions, setup};

use super::navigate::go;
use super::run;

/// Updates a screen, and then performs its requests.
pub fn with_screens(
    model: &mut Model,
    update: impl FnOnce(Screens, &mut Context) -> Vec<Effect>,
) -> Vec<Effect> {
    let (screens, mut context) = model.split();
    let mut effects = update(screens, &mut context);
    for request in context.requests {
        effects.extend(perform(model, request));
    }
    effects
}

/// Performs what a screen asked for.
pub fn perform(model: &mut Model, request: Request) -> Vec<Effect> {
    match request {
        Request::Go(screen) => go(model, screen),
        Request::Start(plan) => run::start(model, plan),
        Request::RefuseRun => {
            run::refuse(model);
            Vec::new()
        }
        Request::Steer(action) => {
            with_screens(model, |screens, ctx| live::act(screens.live, ctx, action))
        }
        Request::MarkSession { id, is_saved } => with_screens(model, |screens, ctx| {
            sessions::mark_shown(screens.sessions, ctx, id, is_saved);
            Vec::new()
        }),
        Request::RememberLogAxis(log) => {
            model.setup.log_y = log;
            vec![setup::remember(model)]
        }
        Request::Compare(ids) => {
            model.screen = Screen::Compare;
            compare::begin(&mut model.compare, &model.look, ids)
        }
        _ => Vec::new(),
    }
}
