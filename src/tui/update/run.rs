//! The life of a run: begun, watched, stopped, over; and the way out of the program.

use std::sync::Arc;
use std::time::Duration;

use super::navigate::{go, inspect_probes};
use crate::plan::Plan;
use crate::tui::keymap::{Action, key_of};
use crate::tui::model::{Leaving, Model};
use crate::tui::msg::Effect;
use crate::tui::popup::{Popup, Then};
use crate::tui::probe_plan;
use crate::tui::screen::Screen;
use crate::tui::session_view::SessionView;
use crate::tui::{lab, live, results, sessions};

/// A run that hangs in a system call is left behind after this.
const HANG_TIMEOUT: Duration = Duration::from_millis(1200);

/// Says that a run goes on, and how to stop it: a plan of files and one of probes would measure
/// each other.
pub fn refuse(model: &mut Model) {
    let (what, screen) = if measures_probes_alone(model) {
        ("of probes", Screen::Lab)
    } else {
        ("of files", Screen::Live)
    };
    let stop = key_of(Action::Stop, screen);
    model.toasts.note(
        model.now,
        format!("a run {what} is in progress: stop it first ({stop} on {})", screen.title()),
    );
}

/// The run that goes on measures probes alone.
fn measures_probes_alone(model: &Model) -> bool {
    model.live.plan().is_some_and(probe_plan::is_probe_plan)
}

/// Starts a plan and shows it: on Live, or on Lab where it measures probes alone.
pub fn start(model: &mut Model, plan: Arc<Plan>) -> Vec<Effect> {
    if model.running() {
        refuse(model);
        return Vec::new();
    }
    let host = model.host.host.as_deref().cloned().unwrap_or_default();
    live::begin(&mut model.live, model.now, host, &plan);
    lab::begin(&mut model.lab, &plan);
    let mut effects =
        go(model, if probe_plan::is_probe_plan(&plan) { Screen::Lab } else { Screen::Live });
    effects.push(model.setup.remember(&model.presets, &model.look));
    effects.push(Effect::Start { plan, name: None });
    effects
}

/// The run did not even begin.
pub fn fail(model: &mut Model, why: String) -> Vec<Effect> {
    let back = if measures_probes_alone(model) { Screen::Lab } else { Screen::Setup };
    live::end(&mut model.live);
    model.toasts.failed(model.now, why);
    let mut effects = go(model, back);
    effects.extend(quit_if_leaving(model));
    effects
}

/// The run is over: its results are shown, unless the person looks at something else.
pub fn end(model: &mut Model, error: Option<String>, unsaved: Option<String>) -> Vec<Effect> {
    let shown = live::end(&mut model.live);
    // There is no run any more that it asks about.
    model.popups.retain(|popup| !matches!(popup, Popup::Question { then: Then::Quit, .. }));
    if let Some(why) = &error {
        model.toasts.failed(model.now, why.clone());
    }
    // A run without a file was said to have none when it began.
    let kept = shown.as_ref().is_some_and(|shown| shown.path.is_some());
    if kept {
        model.live.unsaved.clone_from(&unsaved);
    }
    for why in unsaved.iter().filter(|_| kept) {
        model.toasts.failed(model.now, describe_unsaved(why));
    }
    let mut effects = vec![Effect::Title("iotui".into())];
    if let Some(shown) = shown {
        model.last_session = shown.path.clone().map(|path| (path, shown.answer.text.clone()));
        if let Some((path, _)) = &model.last_session
            && unsaved.is_none()
        {
            model.toasts.good(model.now, format!("saved {}", crate::text::show_path(path)));
        }
        let empty = shown.results.is_empty() && shown.probes.is_empty();
        let screen = show(model, shown);
        if model.screen == Screen::Live {
            effects.extend(go(model, if empty { Screen::Setup } else { screen }));
        }
        if model.screen == Screen::Lab {
            // What can be measured here was not asked for while something was measured.
            effects.extend(inspect_probes(model));
        }
    }
    effects.extend(sessions::end_run(model.screen));
    effects.extend(quit_if_leaving(model));
    effects
}

/// Shows a session on the screens that it belongs to; the one to look at first.
pub fn show(model: &mut Model, shown: SessionView) -> Screen {
    let alone = probe_plan::is_probe_plan(&shown.session.plan);
    if !shown.session.plan.probes.is_empty() {
        lab::show(&mut model.lab, &shown);
    }
    if alone {
        return Screen::Lab;
    }
    results::show(&mut model.results, shown);
    Screen::Results
}

fn describe_unsaved(why: &str) -> String {
    format!("this run is saved only in part: {why}; saving is retried")
}

/// The file of a run takes no lines, or takes them again.
pub fn report_saving(model: &mut Model, id: &str, unsaved: Option<String>) -> Vec<Effect> {
    // The file of a run before this one: it is tried on, and only its success is news.
    if model.live.session_id().is_some_and(|own| own != id) {
        if unsaved.is_none() {
            model.toasts.good(model.now, format!("session {id} is saved now"));
        }
        return Vec::new();
    }
    match (model.live.unsaved().is_some(), &unsaved) {
        (false, Some(why)) if id.is_empty() => {
            model.toasts.failed(model.now, format!("this run is not saved: {why}"))
        }
        (false, Some(why)) => model.toasts.failed(model.now, describe_unsaved(why)),
        (true, None) => model.toasts.good(model.now, "saved again: the session is complete"),
        _ => {}
    }
    model.live.unsaved = unsaved;
    sessions::end_run(model.screen)
}

/// Ctrl-C: a run is stopped and what was measured is kept; without one, the way out.
pub fn interrupt(model: &mut Model) -> Vec<Effect> {
    match model.running() {
        true => live::stop(&mut model.live),
        false => leave(model, 0),
    }
}

/// Leaves as soon as nothing runs.
pub fn leave(model: &mut Model, code: u8) -> Vec<Effect> {
    let leaving = *model.leaving.get_or_insert(Leaving { code, since: model.now });
    if model.running() { live::stop(&mut model.live) } else { vec![Effect::Quit(leaving.code)] }
}

fn quit_if_leaving(model: &Model) -> Option<Effect> {
    model.leaving.map(|leaving| Effect::Quit(leaving.code))
}

/// A run that hangs holds nobody up when iotui is left.
pub fn give_up(model: &mut Model) -> Vec<Effect> {
    match model.leaving {
        Some(leaving) if model.now.saturating_sub(leaving.since) > HANG_TIMEOUT => {
            vec![Effect::Quit(leaving.code)]
        }
        _ => Vec::new(),
    }
}

/// A run is paused first, so that the gap is never measured.
pub fn suspend(model: &mut Model) -> Vec<Effect> {
    live::suspend(&mut model.live, model.now).into_iter().chain([Effect::Suspend]).collect()
}
