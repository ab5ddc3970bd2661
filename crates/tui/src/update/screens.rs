//! Passes actions, clicks and letters to the screen that is shown, and messages to their screens.

use std::path::PathBuf;

use ratatui::layout::Position;
use tui_input::Input;

use super::navigate::{go, inspect_probes};
use super::run;
use crate::context::{Context, ProbeChoice, Request, RunStatus};
use crate::keymap::Action;
use crate::model::{Model, Screens};
use crate::msg::{Effect, Msg, Query, Question, Speed};
use crate::plan::Preset;
use crate::screen::Screen;
use crate::setup::{Setup, build_command};
use crate::start::sort_by_question;
use crate::theme::Look;
use crate::zoom::ZoomChart;
use crate::{compare, host, lab, live, results, sessions, setup, zoom};

/// Does an action on the screen.
pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    let screen = model.screen;
    with_screens(model, |screens, ctx| match screen {
        Screen::Setup => setup::act(screens.setup, ctx, action),
        Screen::Live => live::act(screens.live, ctx, action),
        Screen::Results => results::act(screens.results, ctx, action),
        Screen::Sessions => sessions::act(screens.sessions, ctx, action),
        Screen::Lab => lab::act(screens.lab, ctx, action),
        Screen::Host => host::act(screens.host, ctx, action),
        Screen::Compare => compare::act(screens.compare, ctx, action),
    })
}

/// Goes back one level on the screen; false at the first level.
pub fn back(model: &mut Model) -> bool {
    match model.screen {
        Screen::Results => results::back(&mut model.results),
        Screen::Setup => setup::back(&mut model.setup),
        Screen::Lab => lab::back(&mut model.lab),
        _ => false,
    }
}

/// Handles a click on the body of the screen.
pub fn click(model: &mut Model, at: Position) -> Vec<Effect> {
    let (screen, target) = (model.screen, model.hits.target(at));
    with_screens(model, |screens, ctx| match (screen, target) {
        (Screen::Results, Some(target)) => {
            results::click(screens.results, ctx, target, at);
            Vec::new()
        }
        (Screen::Compare, Some(_)) => {
            compare::click(screens.compare, ctx, at);
            Vec::new()
        }
        (Screen::Setup, Some(target)) => setup::click(screens.setup, ctx, target),
        (Screen::Live, Some(target)) => live::click(screens.live, ctx, target),
        (Screen::Sessions, Some(target)) => sessions::click(screens.sessions, ctx, target),
        (Screen::Lab, Some(target)) => lab::click(screens.lab, ctx, target),
        (Screen::Host, Some(target)) => {
            host::click(screens.host, target);
            Vec::new()
        }
        (_, None) => Vec::new(),
    })
}

/// Returns the chart of the screen that can be zoomed.
fn chart(model: &mut Model) -> Option<(&mut dyn ZoomChart, &Look)> {
    let chart: &mut dyn ZoomChart = match model.screen {
        Screen::Live => &mut model.live,
        Screen::Results => &mut model.results,
        Screen::Compare => &mut model.compare,
        _ => return None,
    };
    Some((chart, &model.look))
}

/// Zooms the chart under the pointer; false if no chart is there.
pub fn wheel(model: &mut Model, at: Position, closer: bool) -> bool {
    let Some(area) = model.hits.chart_at(at) else { return false };
    if let Some((chart, look)) = chart(model) {
        zoom::wheel(chart, look, area, at, closer);
    }
    true
}

/// Returns the text field of the screen that has the focus.
pub fn field(model: &mut Model) -> Option<&mut Input> {
    match model.screen {
        Screen::Setup => setup::field(&mut model.setup),
        Screen::Results => results::field(&mut model.results),
        Screen::Sessions => sessions::field(&mut model.sessions),
        Screen::Lab => lab::field(&mut model.lab),
        _ => None,
    }
}

/// Follows a change of the screen's text field.
pub fn field_changed(model: &mut Model) -> Vec<Effect> {
    let screen = model.screen;
    with_screens(model, |screens, ctx| match screen {
        Screen::Setup => setup::field_changed(screens.setup, ctx),
        Screen::Results => results::field_changed(screens.results, ctx),
        Screen::Sessions => sessions::field_changed(screens.sessions, ctx),
        Screen::Lab => lab::field_changed(screens.lab, ctx),
        Screen::Live | Screen::Host | Screen::Compare => Vec::new(),
    })
}

/// Takes from a message what other screens than its own need.
fn share(model: &mut Model, msg: &Msg) {
    match msg {
        Msg::Sessions(Ok(listed)) => lab::list_sessions(&mut model.lab, listed),
        Msg::PresetSaved(Ok(preset)) => {
            model.presets.retain(|own| own.id != preset.id);
            model.presets.push(Preset::clone(preset));
            sort_by_question(&mut model.presets);
        }
        _ => {}
    }
}

/// Passes a message to its screen, and its data to other screens that need them.
pub fn handle_message(model: &mut Model, msg: Msg) -> Vec<Effect> {
    share(model, &msg);
    let is_plan = matches!(msg, Msg::Proposed { .. });
    let effects = with_screens(model, |screens, ctx| match msg {
        Msg::Begun { .. } | Msg::Event(_) | Msg::Dropped(_) => {
            live::handle_message(screens.live, ctx, msg)
        }
        Msg::Host(..) | Msg::Doctor(_) => host::handle_message(screens.host, ctx, msg),
        Msg::Proposed { .. }
        | Msg::Listed(_)
        | Msg::Seen(_)
        | Msg::Gone(_)
        | Msg::PresetSaved(_) => setup::handle_message(screens.setup, ctx, msg),
        Msg::Sessions(_)
        | Msg::Preview(_)
        | Msg::Imported { .. }
        | Msg::Changed { .. }
        | Msg::Deleted(_) => sessions::handle_message(screens.sessions, ctx, msg),
        Msg::Compared(_) => compare::handle_message(screens.compare, ctx, msg),
        Msg::Lab(_) | Msg::LabPlanned { .. } | Msg::MarkedOnLab(_) => {
            lab::handle_message(screens.lab, ctx, msg)
        }
        Msg::Course { .. } => results::handle_message(screens.results, ctx, msg),
        _ => Vec::new(),
    });
    if is_plan {
        let (time, setup) = (model.time(), &model.setup);
        host::show_plan(&mut model.host, time, setup.facts(), setup.findings());
    }
    effects
}

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
            let question =
                Question { number, file, others: Vec::new(), as_one: false, dir, preset, settings };
            vec![Effect::Ask(Query::PlanLab(Box::new(question)))]
        }
        Request::CopyProbes(probes) => {
            let (file, dir) = probe_target(&model.setup, &probes);
            let ProbeChoice { preset, settings, .. } = &*probes;
            let line = build_command(file.as_slice(), false, dir.as_slice(), preset, settings);
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

/// Returns whether an action does something on the screen that is shown.
pub fn is_offered_now(model: &Model, action: Action) -> bool {
    is_offered(model, model.live.status(&model.look).as_ref(), action)
}

/// Returns whether an action does something now: what does nothing is not in the footer.
pub fn is_offered(model: &Model, run: Option<&RunStatus>, action: Action) -> bool {
    match (model.screen, action) {
        // They are refused.
        (_, Action::RunAgain | Action::Refine) if model.running() => false,
        (Screen::Sessions, _) => sessions::is_offered(&model.sessions, action),
        (Screen::Results, _) => results::is_offered(&model.results, action),
        (Screen::Compare, _) => compare::is_offered(&model.compare, action),
        (Screen::Setup, _) => setup::is_offered(&model.setup, action),
        (Screen::Lab, _) => lab::is_offered(&model.lab, run, action),
        (_, Action::NextPane) => model.screen == Screen::Host,
        (Screen::Live, Action::Pause | Action::Stop) => {
            model.running() || model.live.replay.is_some()
        }
        (Screen::Live, Action::Skip | Action::Freeze) => model.running(),
        (Screen::Live, Action::Slower | Action::Faster) => model.live.replay.is_some(),
        (Screen::Live, Action::Refine) => model.can_refine_last_run(),
        (Screen::Live, Action::Enter) => false,
        (Screen::Live, Action::ZoomReset) => model.live.is_zoomed(),
        _ => true,
    }
}
