//! Handlers of messages and actions of Live.

use std::sync::Arc;
use std::time::Duration;

use super::replay::Replay;
use super::replay_keys;
use super::run::{Run, Suspension};
use super::state::{Frozen, Live};
use super::step::Step;
use super::window::Zoom;
use crate::host::Host;
use crate::plan::Plan;
use crate::record::Event;
use crate::tui::context::{Context, Request};
use crate::tui::keymap::Action;
use crate::tui::msg::{Effect, Msg};
use crate::tui::session_view::SessionView;

/// Prepares for a run of `plan` on this machine.
pub fn begin(live: &mut Live, now: Duration, host: Host, plan: &Arc<Plan>) {
    live.run = Some(Run::new(host, plan, now));
    live.replay = None;
    live.last_view = None;
    live.frozen = None;
    live.session_id = String::new();
    live.unsaved = None;
}

/// Ends the run and returns its results. The last picture stays until the next run begins.
pub fn end(live: &mut Live) -> Option<SessionView> {
    let mut run = live.run.take()?;
    run.refresh(Duration::MAX);
    run.update_curves(true);
    run.view.finish(run.session.end);
    live.frozen = None;
    live.last_view = run.view.progress.is_some().then_some(run.view);
    Some(SessionView::new(run.session, run.path))
}

/// Stops the run.
pub fn stop(live: &mut Live) -> Vec<Effect> {
    if let Some(run) = &mut live.run {
        run.stopping = true;
    }
    vec![Effect::Stop]
}

/// Pauses the run before the program is suspended, so that the gap is not measured.
pub fn suspend(live: &mut Live, now: Duration) -> Option<Effect> {
    let run = live.run.as_mut()?;
    run.clock.stop(now);
    if run.pausing {
        return None;
    }
    run.suspended = Suspension::Held;
    run.pausing = true;
    Some(Effect::Pause(true))
}

/// Resumes the run after a suspension.
pub fn resume(live: &mut Live) -> Option<Effect> {
    let run = live.run.as_mut()?;
    if run.suspended == Suspension::Held {
        run.suspended = Suspension::Resume;
    }
    end_suspension(run)
}

/// Ends the pause of a suspension once the engine has paused.
fn end_suspension(run: &mut Run) -> Option<Effect> {
    if run.suspended != Suspension::Resume || !run.is_paused() {
        return None;
    }
    (run.suspended, run.pausing) = (Suspension::No, false);
    Some(Effect::Pause(false))
}

/// Handles messages of the run.
pub fn handle_message(live: &mut Live, ctx: &mut Context, msg: Msg) -> Vec<Effect> {
    let Some(run) = &mut live.run else { return Vec::new() };
    match msg {
        Msg::Begun { path, id, name, created } => {
            run.path = path;
            live.session_id.clone_from(&id);
            (run.session.id, run.session.name, run.session.created) = (id, name, created);
        }
        Msg::Dropped(count) => run.view.dropped += count,
        Msg::Event(event) => {
            let moved = matches!(event, Event::Progress(_));
            run.handle_event(ctx.now, event);
            if moved {
                run.refresh(ctx.now);
                return end_suspension(run).into_iter().chain(update_title(run)).collect();
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Updates the picture to the current time.
pub fn tick(live: &mut Live, ctx: &mut Context) -> Vec<Effect> {
    if live.replay.is_some() {
        return replay_keys::tick(live, ctx);
    }
    let Live { run, zoom, .. } = live;
    let Some(run) = run else { return Vec::new() };
    run.view.now = run.clock.seconds(ctx.now);
    run.refresh(ctx.now);
    run.view.settle(*zoom, ctx.look.unit);
    update_title(run).into_iter().collect()
}

/// Returns the new window title if its percent or its step changed.
fn update_title(run: &mut Run) -> Option<Effect> {
    let (percent, step) =
        (run.view.percent()?, run.view.progress.as_ref().and_then(Step::from_progress));
    if run.shown_title == Some((percent, step)) {
        return None;
    }
    run.shown_title = Some((percent, step));
    let label = step.and_then(|step| run.view.label(step));
    Some(Effect::Title(match label {
        Some(label) => format!("iotui {percent} %: {label}"),
        None => format!("iotui {percent} %"),
    }))
}

pub fn act(live: &mut Live, ctx: &mut Context, action: Action) -> Vec<Effect> {
    if let Some(effects) = replay_keys::act(live, ctx, action) {
        return effects;
    }
    match action {
        Action::Pause => return pause(live).into_iter().collect(),
        Action::Skip => return skip(live, ctx).into_iter().collect(),
        Action::Stop if live.is_running() => return stop(live),
        Action::Refine => ctx.request(Request::Refine),
        Action::Freeze => freeze(live),
        Action::LogAxis => live.log = !live.log,
        Action::ZoomIn => zoom(live, ctx, Zoom::closer),
        Action::ZoomOut => zoom(live, ctx, Zoom::wider),
        Action::ZoomReset => zoom(live, ctx, |_| Zoom::ALL),
        _ => {}
    }
    Vec::new()
}

fn pause(live: &mut Live) -> Option<Effect> {
    let run = live.run.as_mut()?;
    // It resumes by itself in a moment; before that a trial would span the suspension.
    if run.stopping || run.suspended != Suspension::No {
        return None;
    }
    run.pausing = !run.pausing;
    Some(Effect::Pause(run.pausing))
}

fn skip(live: &mut Live, ctx: &mut Context) -> Option<Effect> {
    let run = live.run.as_mut()?;
    let Some(step) = run.view.progress.as_ref().and_then(Step::from_progress) else {
        ctx.note("no cell is running yet");
        return None;
    };
    if run.stopping || run.skipping == Some(step) {
        return None;
    }
    run.skipping = Some(step);
    Some(Effect::Skip)
}

fn freeze(live: &mut Live) {
    live.frozen = match (&live.frozen, &live.run) {
        (None, Some(run)) => Some(Frozen(run.view.clone())),
        _ => None,
    };
}

fn zoom(live: &mut Live, ctx: &Context, change: impl Fn(Zoom) -> Zoom) {
    live.zoom = change(live.zoom);
    let pictures = live
        .run
        .iter_mut()
        .chain(live.replay.iter_mut().map(Replay::run_mut))
        .map(|run| &mut run.view)
        .chain(live.frozen.iter_mut().map(|f| &mut f.0))
        .chain(&mut live.last_view);
    for view in pictures {
        // A new window may jump.
        view.axes = Default::default();
        view.settle(live.zoom, ctx.look.unit);
    }
}
