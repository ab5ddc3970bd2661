//! What Live does with messages and actions.

use std::sync::Arc;
use std::time::Duration;

use super::run::{Run, Step, Suspended};
use super::window::Zoom;
use super::{Frozen, Live};
use crate::host::Host;
use crate::plan::Plan;
use crate::record::Event;
use crate::tui::keymap::Action;
use crate::tui::model::Model;
use crate::tui::msg::{Effect, Msg};
use crate::tui::shown::Shown;
use crate::tui::update;

/// A plan is about to run.
pub fn begin(model: &mut Model, plan: &Arc<Plan>) {
    let host = model.host.host.as_deref().cloned().unwrap_or_else(Host::default);
    let live = &mut model.live;
    live.run = Some(Run::new(host, plan, model.now));
    (live.over, live.frozen) = (None, None);
    (live.id, live.unsaved) = (String::new(), None);
}

/// The run is over: what it measured. Its last picture stays until the next one begins.
pub fn end(model: &mut Model) -> Option<Shown> {
    let mut run = model.live.run.take()?;
    run.refresh(Duration::MAX);
    run.draw_curves(true);
    run.picture.ended(run.session.end);
    model.live.frozen = None;
    model.live.over = run.picture.progress.is_some().then_some(run.picture);
    Some(Shown::of(run.session, run.path))
}

pub fn stopping(model: &mut Model) {
    if let Some(run) = &mut model.live.run {
        run.stopping = true;
    }
}

/// The program is about to be suspended: a run that is not paused is, so that the gap is never
/// measured.
pub fn suspend(model: &mut Model) -> Option<Effect> {
    let run = model.live.run.as_mut()?;
    run.clock.stand(model.now);
    if run.pausing {
        return None;
    }
    run.suspended = Suspended::Held;
    run.pausing = true;
    Some(Effect::Pause(true))
}

/// Back from a suspension.
pub fn resumed(model: &mut Model) -> Option<Effect> {
    let run = model.live.run.as_mut()?;
    if run.suspended == Suspended::Held {
        run.suspended = Suspended::Resume;
    }
    go_on(run)
}

/// Ends the pause of a suspension, if the engine has taken it.
fn go_on(run: &mut Run) -> Option<Effect> {
    if run.suspended != Suspended::Resume || !run.paused() {
        return None;
    }
    (run.suspended, run.pausing) = (Suspended::No, false);
    Some(Effect::Pause(false))
}

/// Messages of the run.
pub fn told(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let Some(run) = &mut model.live.run else { return Vec::new() };
    match msg {
        Msg::Begun { path, id, name, created } => {
            run.path = path;
            model.live.id.clone_from(&id);
            (run.session.id, run.session.name, run.session.created) = (id, name, created);
        }
        Msg::Dropped(count) => run.picture.dropped += count,
        Msg::Event(event) => {
            let moved = matches!(event, Event::Progress(_));
            run.told(model.now, event);
            if moved {
                run.refresh(model.now);
                return go_on(run).into_iter().chain(title(run)).collect();
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Time goes on.
pub fn ticked(model: &mut Model) -> Vec<Effect> {
    let unit = model.look.unit;
    let Live { run, zoom, .. } = &mut model.live;
    let Some(run) = run else { return Vec::new() };
    run.picture.now = run.clock.seconds(model.now);
    run.refresh(model.now);
    run.picture.settle(*zoom, unit);
    title(run).into_iter().collect()
}

/// The title of the window, where its percent or its cell changed.
fn title(run: &mut Run) -> Option<Effect> {
    let (percent, step) =
        (run.picture.percent()?, run.picture.progress.as_ref().and_then(Step::of));
    if run.titled == Some((percent, step)) {
        return None;
    }
    run.titled = Some((percent, step));
    let label = step.and_then(|step| run.picture.label(step));
    Some(Effect::Title(match label {
        Some(label) => format!("iotui {percent} %: {label}"),
        None => format!("iotui {percent} %"),
    }))
}

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Pause => return pause(model).into_iter().collect(),
        Action::Skip => return skip(model).into_iter().collect(),
        Action::Stop if model.running() => return update::run::stop(model),
        Action::Freeze => freeze(model),
        Action::LogAxis => model.live.log = !model.live.log,
        Action::ZoomIn => zoom(model, Zoom::closer),
        Action::ZoomOut => zoom(model, Zoom::wider),
        Action::ZoomReset => zoom(model, |_| Zoom::ALL),
        _ => {}
    }
    Vec::new()
}

fn pause(model: &mut Model) -> Option<Effect> {
    let run = model.live.run.as_mut()?;
    // It goes on by itself in a moment; before that a trial would span the suspension.
    if run.stopping || run.suspended != Suspended::No {
        return None;
    }
    run.pausing = !run.pausing;
    Some(Effect::Pause(run.pausing))
}

fn skip(model: &mut Model) -> Option<Effect> {
    let run = model.live.run.as_mut()?;
    let Some(step) = run.picture.progress.as_ref().and_then(Step::of) else {
        model.toasts.note(model.now, "no cell runs yet");
        return None;
    };
    if run.stopping || run.skipping == Some(step) {
        return None;
    }
    run.skipping = Some(step);
    Some(Effect::Skip)
}

fn freeze(model: &mut Model) {
    let live = &mut model.live;
    live.frozen = match (&live.frozen, &live.run) {
        (None, Some(run)) => Some(Frozen(run.picture.clone())),
        _ => None,
    };
}

fn zoom(model: &mut Model, change: impl Fn(Zoom) -> Zoom) {
    let (unit, live) = (model.look.unit, &mut model.live);
    live.zoom = change(live.zoom);
    let pictures = live
        .run
        .iter_mut()
        .map(|run| &mut run.picture)
        .chain(live.frozen.iter_mut().map(|f| &mut f.0))
        .chain(&mut live.over);
    for picture in pictures {
        // Another window, another picture: nothing to be kept from jumping.
        picture.axes = Default::default();
        picture.settle(live.zoom, unit);
    }
}
