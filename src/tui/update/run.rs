//! The life of a run: begun, watched, stopped, over; and the way out of the program.

use std::sync::Arc;

use super::{PATIENCE, go, leaving};
use crate::plan::Plan;
use crate::tui::keymap::{Action, key_of};
use crate::tui::model::{Model, Screen};
use crate::tui::msg::{Effect, Msg};
use crate::tui::popup::{Popup, Then};
use crate::tui::shown::Shown;
use crate::tui::{lab, live, results, sessions};

/// Says that a run goes on, and how to stop it: a plan of files and one of probes would measure
/// each other.
pub fn refuse(model: &mut Model) {
    let (what, screen) =
        if own(model) { ("of probes", Screen::Lab) } else { ("of files", Screen::Live) };
    let stop = key_of(Action::Stop, screen);
    model.toasts.note(
        model.now,
        format!("a run {what} goes on: stop it first ({stop} on {})", screen.title()),
    );
}

/// The run that goes on measures probes alone.
fn own(model: &Model) -> bool {
    live::plan(model).is_some_and(lab::is_own_plan)
}

/// Starts a plan and shows it: on Live, or on Lab where it measures probes alone.
pub fn start(model: &mut Model, plan: Arc<Plan>) -> Vec<Effect> {
    if model.running() {
        refuse(model);
        return Vec::new();
    }
    live::begin(model, &plan);
    lab::begin(model, &plan);
    let mut effects = go(model, if lab::is_own_plan(&plan) { Screen::Lab } else { Screen::Live });
    effects.push(super::setup::remember(model));
    effects.push(Effect::Start { plan, name: None });
    effects
}

/// What the engine says.
pub fn told(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Over { error, unsaved } => over(model, error, unsaved),
        Msg::NotBegun(why) => {
            let back = if own(model) { Screen::Lab } else { Screen::Setup };
            live::end(model);
            model.toasts.failed(model.now, why);
            let mut effects = go(model, back);
            effects.extend(out(model));
            effects
        }
        other => live::told(model, other),
    }
}

/// The run is over: its results are shown, unless the person looks at something else.
fn over(model: &mut Model, error: Option<String>, unsaved: Option<String>) -> Vec<Effect> {
    let shown = live::end(model);
    // There is no run any more that it asks about.
    model.popups.retain(|popup| !matches!(popup, Popup::Question { then: Then::Quit, .. }));
    if let Some(why) = &error {
        model.toasts.failed(model.now, why.clone());
    }
    // A run without a file was said to have none when it began.
    let kept = shown.as_ref().is_some_and(|shown| shown.path.is_some());
    if kept {
        live::saving(model, unsaved.clone());
    }
    for why in unsaved.iter().filter(|_| kept) {
        model.toasts.failed(model.now, not_saved(why));
    }
    let mut effects = vec![Effect::Title("iotui".into())];
    if let Some(shown) = shown {
        model.last_session = shown.path.clone().map(|path| (path, shown.answer.text.clone()));
        if let Some((path, _)) = &model.last_session
            && unsaved.is_none()
        {
            model.toasts.good(model.now, format!("saved {}", crate::text::shown(path)));
        }
        let empty = shown.results.is_empty() && shown.probes.is_empty();
        let screen = show(model, shown);
        if model.screen == Screen::Live {
            effects.extend(go(model, if empty { Screen::Setup } else { screen }));
        }
        if model.screen == Screen::Lab {
            // What can be measured here was not asked for while something was measured.
            effects.extend(lab::shown(model));
        }
    }
    effects.extend(sessions::run_over(model));
    effects.extend(out(model));
    effects
}

/// Shows a session on the screens that it belongs to; the one to look at first.
pub fn show(model: &mut Model, shown: Shown) -> Screen {
    let alone = lab::is_own_plan(&shown.session.plan);
    if !shown.session.plan.probes.is_empty() {
        lab::show(model, &shown);
    }
    if alone {
        return Screen::Lab;
    }
    results::show(model, shown);
    Screen::Results
}

fn not_saved(why: &str) -> String {
    format!("this run is saved only in part: {why}; saving is tried again")
}

/// The file of a run takes no lines, or takes them again.
pub fn saving(model: &mut Model, id: &str, unsaved: Option<String>) -> Vec<Effect> {
    // The file of a run before this one: it is tried on, and only its success is news.
    if live::id(model).is_some_and(|own| own != id) {
        if unsaved.is_none() {
            model.toasts.good(model.now, format!("session {id} is saved now"));
        }
        return Vec::new();
    }
    match (live::unsaved(model).is_some(), &unsaved) {
        (false, Some(why)) if id.is_empty() => {
            model.toasts.failed(model.now, format!("this run is not saved: {why}"))
        }
        (false, Some(why)) => model.toasts.failed(model.now, not_saved(why)),
        (true, None) => model.toasts.good(model.now, "saved again: nothing of this run is missing"),
        _ => {}
    }
    live::saving(model, unsaved);
    sessions::run_over(model)
}

/// Ctrl-C: a run is stopped and what was measured is kept; without one, the way out.
pub fn interrupt(model: &mut Model) -> Vec<Effect> {
    match model.running() {
        true => stop(model),
        false => leave(model, 0),
    }
}

pub fn stop(model: &mut Model) -> Vec<Effect> {
    live::stopping(model);
    vec![Effect::Stop]
}

/// `q`: closes what is open on the screen; asks while a run goes on.
pub fn quit(model: &mut Model) -> Vec<Effect> {
    if model.screen == Screen::Compare {
        return go(model, Screen::Sessions);
    }
    if super::on_screen_back(model) {
        return Vec::new();
    }
    // Who has stopped it wants no question.
    if model.running() && !live::is_stopping(model) {
        let question = Popup::question(
            "Quit while a run goes on?",
            "What was measured until now is kept.",
            Then::Quit,
        );
        model.popups.push(question);
        return Vec::new();
    }
    leave(model, 0)
}

/// Leaves as soon as nothing runs.
pub fn leave(model: &mut Model, code: u8) -> Vec<Effect> {
    let way = leaving(model, code);
    if model.running() { stop(model) } else { vec![Effect::Quit(way.code)] }
}

fn out(model: &Model) -> Option<Effect> {
    model.leaving.map(|leaving| Effect::Quit(leaving.code))
}

/// A run that hangs holds nobody up when iotui is left.
pub fn patience(model: &mut Model) -> Vec<Effect> {
    match model.leaving {
        Some(leaving) if model.now.saturating_sub(leaving.since) > PATIENCE => {
            vec![Effect::Quit(leaving.code)]
        }
        _ => Vec::new(),
    }
}

/// A run is paused first, so that the gap is never measured.
pub fn suspend(model: &mut Model) -> Vec<Effect> {
    live::suspend(model).into_iter().chain([Effect::Suspend]).collect()
}
