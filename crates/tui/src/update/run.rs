//! Starting, stopping and ending a run, and leaving the program.

use std::time::Duration;

use super::navigate::{go, inspect_probes};
use crate::keymap::{Action, key_of};
use crate::model::{Leaving, Model};
use crate::msg::{Effect, HeldRun, NewRun, Query, ReplayInput, Replayed, Speed};
use crate::popup::{Popup, Question, Then, WaitingRun};
use crate::record::End;
use crate::report::{Look, glance_text};
use crate::screen::Screen;
use crate::session_view::SessionView;
use crate::{lab, live, sessions};

/// Minimum duration of a run that rings at its end.
const LONG_RUN_SECONDS: f64 = 30.0;

/// How long leaving waits for a run that hangs in a system call.
const HANG_TIMEOUT: Duration = Duration::from_millis(1200);

/// Reports that a run is in progress and how to stop it: two runs at once would distort each
/// other's measurements.
pub fn refuse(model: &mut Model) {
    let (what, screen) = if measures_only_probes(model) {
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

/// Returns whether the current run measures probes only.
fn measures_only_probes(model: &Model) -> bool {
    model.live.plan().is_some_and(lab::is_probe_plan)
}

/// Starts a run; offers to wait while another iotui measures on the same disk.
pub fn start(model: &mut Model, run: impl Into<NewRun>) -> Vec<Effect> {
    if model.running() {
        refuse(model);
        return Vec::new();
    }
    hold(model, run.into()).map_or_else(Vec::new, |run| begin(model, run))
}

/// Asks what to do about a run that another one blocks; returns the run if nothing does.
fn hold(model: &mut Model, mut run: NewRun) -> Option<NewRun> {
    if model.held.is_some() {
        model.popups.push(Popup::WaitingRun(WaitingRun));
        return None;
    }
    let Some(why) = run.other_run.take() else { return Some(run) };
    let setup = (model.screen == Screen::Setup).then_some(model.setup.planning.number);
    model.popups.push(Popup::HeldRun(HeldRun { run, why, setup }));
    None
}

/// Begins a run and shows it on Live, or on Lab if it measures probes only.
pub fn begin(model: &mut Model, run: NewRun) -> Vec<Effect> {
    let NewRun { plan, name, earlier, .. } = run;
    if model.running() {
        refuse(model);
        return Vec::new();
    }
    let host = model.host.host.as_deref().cloned().unwrap_or_default();
    live::begin(&mut model.live, model.now, host, &plan);
    lab::begin(&mut model.lab, &plan);
    if !plan.cells.is_empty() {
        model.results.follow_run();
    }
    let mut effects = go(model, if lab::is_probe_plan(&plan) { Screen::Lab } else { Screen::Live });
    effects.push(model.setup.remember(&model.presets, &model.look));
    effects.push(Effect::Start { plan, name, earlier });
    effects
}

/// Handles a run that failed to start.
pub fn fail(model: &mut Model, why: String) -> Vec<Effect> {
    let back = if measures_only_probes(model) { Screen::Lab } else { Screen::Setup };
    live::end(&mut model.live);
    model.results.forget_run();
    model.toasts.fail(model.now, why);
    let mut effects = go(model, back);
    effects.extend(quit_if_leaving(model));
    effects
}

/// Returns what stays in the terminal: the scoreboard, or the answer where there are only probes.
fn describe_end(shown: &SessionView, look: &Look) -> String {
    let glance = &shown.glance;
    match glance.columns.is_empty() {
        true => shown.answer.text.clone(),
        false => glance_text(glance, look),
    }
}

/// Handles the end of a run: shows its results unless the user has left its screen.
pub fn end(model: &mut Model, error: Option<String>, unsaved: Option<String>) -> Vec<Effect> {
    let seconds = model.live.run_seconds();
    let mut shown = live::end(&mut model.live);
    let is_empty = shown.as_ref().is_some_and(|shown| shown.session.is_empty());
    // The shell has removed its file.
    if let Some(empty) = shown.as_mut().filter(|_| is_empty) {
        empty.path = None;
        if error.is_none() {
            model.toasts.note(model.now, "nothing was measured: no session is saved");
        }
    }
    // The question whether to stop the run is moot.
    model
        .popups
        .retain(|popup| !matches!(popup, Popup::Question(Question { then: Then::Quit, .. })));
    if let Some(why) = &error {
        model.toasts.fail(model.now, why.clone());
    }
    // That a run has no file was reported when it started.
    let has_file = shown.as_ref().is_some_and(|shown| shown.path.is_some());
    if has_file {
        model.live.unsaved.clone_from(&unsaved);
        if let Some(why) = &unsaved {
            model.toasts.fail(model.now, describe_unsaved(why));
        }
    }
    let mut effects = vec![Effect::Title("iotui".into())];
    effects.extend(ring(model, seconds, shown.as_ref()));
    if let Some(shown) = shown {
        if !is_empty {
            let said = describe_end(&shown, &model.look.report());
            model.last_session = shown.path.clone().map(|path| (path, said));
        }
        if let Some(path) = &shown.path
            && unsaved.is_none()
        {
            let id = path.file_stem().unwrap_or_default().as_ref();
            model.toasts.good(model.now, format!("saved as {}", crate::text::show_path(id)));
        }
        let empty = shown.results.is_empty() && shown.probes.is_empty();
        let screen = show(model, shown);
        if model.screen == Screen::Live {
            effects.extend(go(model, if empty { Screen::Setup } else { screen }));
        }
        if model.screen == Screen::Lab {
            // The inspection of the probes is postponed during a run.
            effects.extend(inspect_probes(model));
        }
    }
    effects.extend(sessions::end_run(model.screen));
    effects.extend(quit_if_leaving(model));
    effects
}

/// Asks for the events of a session's run, to replay it.
pub fn ask_for_replay(model: &mut Model, of: Replayed, speed: Speed) -> Vec<Effect> {
    if model.running() {
        refuse(model);
        return Vec::new();
    }
    vec![Effect::Ask(Query::Replay { of, speed })]
}

/// Replays a session on Live.
pub fn begin_replay(model: &mut Model, input: ReplayInput) -> Vec<Effect> {
    if model.running() {
        refuse(model);
        return Vec::new();
    }
    // A replay of the session that is replayed goes back to where that came from.
    let from = match &model.live.replay {
        Some(replay) => replay.from,
        None if model.screen == Screen::Live => Screen::Setup,
        None => model.screen,
    };
    let mut effects = live::begin_replay(&mut model.live, model.now, input, from);
    effects.extend(go(model, Screen::Live));
    effects
}

/// Leaves the replay: shows the results of its session, or goes back.
pub fn end_replay(model: &mut Model, shows_results: bool) -> Vec<Effect> {
    let Some(replay) = live::end_replay(&mut model.live) else { return Vec::new() };
    let (from, of) = (replay.from, replay.of.clone());
    let mut effects = vec![Effect::Title("iotui".into())];
    let (shown, remark) = replay.finish();
    if !shows_results {
        // Results keep the cursor if the replay began there.
        if from != Screen::Results {
            show(model, shown);
        }
        effects.extend(go(model, from));
        return effects;
    }
    if let Some(remark) = remark {
        model.toasts.note(model.now, remark);
    } else if of == Replayed::Demo {
        let key = key_of(Action::Go(Screen::Setup), Screen::Results);
        model
            .toasts
            .note(model.now, format!("That was an example. Press {key} to measure this machine."));
    }
    let screen = show(model, shown);
    effects.extend(go(model, screen));
    effects
}

/// Rings at the end of a run that took long enough to turn to something else.
fn ring(model: &Model, seconds: f64, shown: Option<&SessionView>) -> Option<Effect> {
    let end = shown?.session.end;
    // The user who stops a run is at the terminal.
    if !model.rings || seconds < LONG_RUN_SECONDS || end == Some(End::Interrupted) {
        return None;
    }
    let how = if matches!(end, Some(End::Failed) | None) { "failed" } else { "done" };
    Some(Effect::Ring(format!("iotui: {how}, {}", shown?.target())))
}

/// Shows a session on the screens concerned and returns the one to open.
pub fn show(model: &mut Model, shown: SessionView) -> Screen {
    let probes_only = lab::is_probe_plan(&shown.session.plan);
    if !shown.session.plan.probes.is_empty() {
        lab::show(&mut model.lab, &shown);
    }
    model.results.show(shown);
    if probes_only { Screen::Lab } else { Screen::Results }
}

fn describe_unsaved(why: &str) -> String {
    format!("this run is saved only in part: {why}; saving is retried")
}

/// Handles that the session file became unwritable, or writable again.
pub fn report_saving(model: &mut Model, id: &str, unsaved: Option<String>) -> Vec<Effect> {
    // An earlier run whose file is still retried: only success is worth a message.
    if model.live.session_id().is_some_and(|current| current != id) {
        if unsaved.is_none() {
            model.toasts.good(model.now, format!("session {id} is saved now"));
        }
        return Vec::new();
    }
    match (model.live.unsaved().is_some(), &unsaved) {
        (false, Some(why)) if id.is_empty() => {
            model.toasts.fail(model.now, format!("this run is not saved: {why}"))
        }
        (false, Some(why)) => model.toasts.fail(model.now, describe_unsaved(why)),
        (true, None) => model.toasts.good(model.now, "saved again: the session is complete"),
        _ => {}
    }
    model.live.unsaved = unsaved;
    sessions::end_run(model.screen)
}

/// Handles Ctrl-C: stops the run and keeps its results, or leaves if nothing runs.
pub fn interrupt(model: &mut Model) -> Vec<Effect> {
    if model.running() { live::stop(&mut model.live) } else { leave(model, 0) }
}

/// Leaves as soon as nothing runs.
pub fn leave(model: &mut Model, code: u8) -> Vec<Effect> {
    let leaving = *model.leaving.get_or_insert(Leaving { code, since: model.now });
    if model.running() { live::stop(&mut model.live) } else { vec![Effect::Quit(leaving.code)] }
}

fn quit_if_leaving(model: &Model) -> Option<Effect> {
    model.leaving.map(|leaving| Effect::Quit(leaving.code))
}

/// Quits without waiting any longer for a run that hangs.
pub fn give_up(model: &mut Model) -> Vec<Effect> {
    match model.leaving {
        Some(leaving) if model.now.saturating_sub(leaving.since) > HANG_TIMEOUT => {
            vec![Effect::Quit(leaving.code)]
        }
        _ => Vec::new(),
    }
}

/// Suspends the program; a run is paused first so that the gap is not measured.
pub fn suspend(model: &mut Model) -> Vec<Effect> {
    live::suspend(&mut model.live, model.now).into_iter().chain([Effect::Suspend]).collect()
}
