//! Calls screens with their own state and a context, and performs their requests to the rest.

use std::path::PathBuf;

use crate::tui::context::{Context, ProbeChoice, Request};
use crate::tui::keymap::Action;
use crate::tui::model::{Model, Screens};
use crate::tui::msg::Effect;
use crate::tui::question::Question;
use crate::tui::replayed::Speed;
use crate::tui::screen::Screen;
use crate::tui::setup::{Setup, build_command};
use crate::tui::{compare, live, results, sessions};

use super::navigate::{go, inspect_probes};
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

/// Like [`with_screens`], for an update that can refuse.
pub fn try_with_screens(
    model: &mut Model,
    update: impl FnOnce(Screens, &mut Context) -> Result<Vec<Effect>, String>,
) -> Result<Vec<Effect>, String> {
    let mut refused = None;
    let effects = with_screens(model, |screens, ctx| {
        update(screens, ctx).unwrap_or_else(|why| {
            refused = Some(why);
            Vec::new()
        })
    });
    refused.map_or(Ok(effects), Err)
}

/// Performs a request of a screen.
pub fn perform(model: &mut Model, request: Request) -> Vec<Effect> {
    match request {
        Request::Go(screen) => go(model, screen),
        Request::Start(run) => run::start(model, run),
        Request::RefuseRun => {
            run::refuse(model);
            Vec::new()
        }
        Request::Replay(of) => run::ask_for_replay(model, of, Speed::default()),
        Request::EndReplay { shows_results } => run::end_replay(model, shows_results),
        Request::Steer(action) => {
            with_screens(model, |screens, ctx| live::act(screens.live, ctx, action))
        }
        // Results may show another session than the last run.
        Request::Refine if !model.running() && !model.can_refine_last_run() => Vec::new(),
        Request::Refine => {
            with_screens(model, |screens, ctx| results::act(screens.results, ctx, Action::Refine))
        }
        Request::MarkSession { id, is_saved } => with_screens(model, |screens, ctx| {
            sessions::mark_shown(screens.sessions, ctx, id, is_saved);
            Vec::new()
        }),
        Request::RememberLogAxis(log) => {
            model.setup.log_y = log;
            vec![model.setup.remember(&model.presets, &model.look)]
        }
        Request::Compare(ids) => {
            model.screen = Screen::Compare;
            compare::begin(&mut model.compare, &model.look, ids)
        }
        Request::InspectProbes => inspect_probes(model),
        Request::PlanProbes { number, probes } => {
            let (file, dir) = probe_target(&model.setup, &probes);
            let ProbeChoice { preset, settings, .. } = *probes;
            let question = Question { number, file, others: Vec::new(), dir, preset, settings };
            vec![Effect::PlanLab(Box::new(question))]
        }
        Request::CopyProbes(probes) => {
            let (file, dir) = probe_target(&model.setup, &probes);
            let ProbeChoice { preset, settings, .. } = &*probes;
            let line = build_command(file.as_slice(), dir.as_deref(), preset, settings);
            vec![Effect::Copy(line)]
        }
    }
}

/// Returns the file and folder of Setup, where the probes need a target.
fn probe_target(setup: &Setup, probes: &ProbeChoice) -> (Option<PathBuf>, Option<PathBuf>) {
    if !probes.needs_target {
        return (None, None);
    }
    let dir = if setup.file.is_none() { setup.dir.clone() } else { None };
    (setup.file.clone(), dir)
}
