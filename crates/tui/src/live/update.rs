//! Handlers of messages and actions of Live.

use std::sync::Arc;
use std::time::Duration;

use super::replay_keys;
use super::run::{LiveRun, Suspension};
use super::run_view::RunStep;
use super::state::Live;
use super::strip::TrialWindow;
use crate::context::{Context, Request};
use crate::facts::Host;
use crate::keymap::Action;
use crate::msg::{Effect, Msg};
use crate::plan::Plan;
use crate::popup::{Popup, WarningList};
use crate::record::Event;
use crate::session_view::SessionView;
use crate::zoom::{self, ZoomChart};

/// Prepares for a run of `plan` on this machine.
pub fn begin(live: &mut Live, now: Duration, host: Host, plan: &Arc<Plan>) {
    live.run = Some(LiveRun::new(host, plan, now));
    live.replay = None;
    live.last_view = None;
    live.session_id = String::new();
    live.unsaved = None;
    live.reset_view();
    live.shows_heat = plan.watch;
}

/// Ends the run and returns its results. The last picture stays until the next run begins.
pub fn end(live: &mut Live) -> Option<SessionView> {
    let mut run = live.run.take()?;
    run.refresh(Duration::MAX);
    run.update_curves(true);
    run.read_heat(true);
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
fn end_suspension(run: &mut LiveRun) -> Option<Effect> {
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
    live.read_heat();
    if live.replay.is_some() {
        return replay_keys::tick(live, ctx);
    }
    let Some(run) = &mut live.run else { return Vec::new() };
    run.view.now = run.clock.seconds(ctx.now);
    run.refresh(ctx.now);
    update_title(run).into_iter().collect()
}

/// Returns the new title of the terminal if its percentage changed.
fn update_title(run: &mut LiveRun) -> Option<Effect> {
    run.view.progress?;
    let percent = run.view.counter().percent();
    let before = run.shown_percent.replace(percent);
    (before != Some(percent)).then(|| Effect::Title(format!("iotui {percent} %")))
}

pub fn act(live: &mut Live, ctx: &mut Context, action: Action) -> Vec<Effect> {
    if let Some(effects) = replay_keys::act(live, ctx, action) {
        return effects;
    }
    match action {
        Action::Pause => return pause(live).into_iter().collect(),
        Action::Skip => return skip(live, ctx).into_iter().collect(),
        Action::Stop if live.is_running() => return stop(live),
        Action::Warnings => ctx.popups.push(Popup::Warnings(WarningList { cursor: 0 })),
        Action::Refine => ctx.request(Request::Refine),
        Action::Freeze => freeze(live),
        Action::Table => {
            live.shows_heat = !live.shows_heat;
            live.read_heat();
        }
        Action::LogAxis => live.log = Some(!live.is_log()),
        Action::ZoomReset => live.window = TrialWindow::default(),
        Action::ZoomIn | Action::ZoomOut | Action::PanLeft | Action::PanRight => {
            zoom(live, ctx, action);
        }
        Action::Up => live.scroll = live.scroll.saturating_sub(1),
        Action::Down => live.scroll = (live.scroll + 1).min(last_warning(live)),
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
    let Some(step) = run.view.progress.as_ref().and_then(RunStep::from_progress) else {
        ctx.note("no cell is running yet");
        return None;
    };
    if run.stopping || run.skipping == Some(step) {
        return None;
    }
    run.skipping = Some(step);
    let label = run.view.label(step).unwrap_or_default();
    ctx.note(format!("{label}: left out of the rest of the run; results so far are kept"));
    Some(Effect::Skip(step.index()))
}

fn freeze(live: &mut Live) {
    live.frozen = match (&live.frozen, &live.run) {
        (None, Some(run)) => Some(run.view.clone()),
        _ => None,
    };
}

/// Changes which trials are shown; says why where nothing changes.
fn zoom(live: &mut Live, ctx: &mut Context, action: Action) {
    let all = live.count_places();
    let Some(area) = ctx.hits.chart_area().filter(|_| all > 1) else {
        return ctx.note("zoom needs two trials");
    };
    let part = live.part(ctx.look, area);
    // The last trials shown stay, so that the run is followed.
    let place = part.map_or(all - 1, |(_, last)| last);
    let changed = zoom::act(part, all, place, live.least_span(), action).unwrap_or(part);
    if changed != part {
        live.show_part(changed);
    } else if part.is_none() {
        ctx.note("all trials are shown already");
    } else if action == Action::ZoomIn {
        ctx.note("one trial is shown already");
    }
}

/// Returns the index of the last warning.
fn last_warning(live: &Live) -> usize {
    live.run_view().map_or(0, |view| view.warnings.len().saturating_sub(1))
}
