//! `update`: what a message changes, and what it wants done. Touches no terminal, disk, clock or
//! thread.
//!
//! | what | where |
//! |---|---|
//! | keys and clicks | [`key`], [`mouse`] |
//! | what is chosen in the palette | [`palette`] |
//! | the screen that gets an action, the way to it, and what it asks of the rest | [`screens`] |
//! | the life of a run, and one that waits for another | [`run`] |

pub mod act;
pub mod held_run;
mod key;
mod mouse;
pub mod navigate;
pub mod palette;
pub mod run;
pub mod screens;

pub use navigate::go;
pub use run::begin_replay;

use std::time::Duration;

use crossterm::event::MouseEventKind;

use super::keymap::Action;
use super::model::Model;
use super::msg::{Copied, Effect, Msg, Query};
use super::{lab, live, popups, results};
use act::act;
use screens::with_screens;

/// Takes a message in; `now` is the time since the start.
pub fn update(model: &mut Model, now: Duration, msg: Msg) -> Vec<Effect> {
    model.now = now;
    model.toasts.pass(now);
    if goes_on(&msg) {
        model.toasts.go_on(now);
    }
    let warning = if goes_on(&msg) { None } else { popups::warning_in_view(model) };
    let effects = handle_message(model, msg);
    warning.into_iter().for_each(|id| popups::stay_on_warning(model, &id));
    let (screens, context) = model.split();
    screens.results.decode_latencies();
    effects.into_iter().chain(results::request_trial_series(screens.results, &context)).collect()
}

/// Returns whether the user does something, and so has read the message.
fn goes_on(msg: &Msg) -> bool {
    match msg {
        Msg::Key(_) | Msg::Paste(_) => true,
        Msg::Mouse(event) => !matches!(event.kind, MouseEventKind::Moved | MouseEventKind::Up(_)),
        _ => false,
    }
}

/// Lets time pass: brings running and replayed runs up to date.
fn tick(model: &mut Model) -> Vec<Effect> {
    if let Some(session) = model.live.take_session_with_new_probes() {
        lab::grow(&mut model.lab, session);
    }
    navigate::show_growth(model);
    let effects = with_screens(model, |screens, ctx| live::tick(screens.live, ctx));
    effects.into_iter().chain(held_run::tick_held(model)).chain(run::give_up(model)).collect()
}

fn handle_message(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key) => return key::press(model, key),
        Msg::Paste(text) => return key::paste(model, &text),
        Msg::Mouse(event) => return mouse::handle_event(model, event),
        Msg::Resize(columns, rows) => model.size = (columns, rows),
        Msg::Tick => return tick(model),
        Msg::Leave(code) => return run::leave(model, code),
        Msg::Interrupt => return act(model, Action::Interrupt),
        Msg::Suspend => return act(model, Action::Suspend),
        Msg::Resumed => {
            return live::resume(&mut model.live).into_iter().chain([Effect::Redraw]).collect();
        }
        Msg::Over { error, unsaved } => return run::end(model, error, unsaved),
        Msg::NotBegun(why) => return run::fail(model, why),
        Msg::OtherRun(found) => return held_run::take_other_run(model, found),
        Msg::Exported { number, result } => return popups::finish_export(model, number, result),
        Msg::Saving { id, unsaved } => return run::report_saving(model, &id, unsaved),
        Msg::Opened(Ok(shown)) => {
            let screen = run::show(model, *shown);
            return go(model, screen);
        }
        Msg::Again(Ok(run)) | Msg::Refined(Ok(run)) => return run::start(model, *run),
        Msg::Replay(Ok(input)) => return run::begin_replay(model, *input),
        Msg::Opened(Err(why))
        | Msg::Again(Err(why))
        | Msg::Replay(Err(why))
        | Msg::Refined(Err(why))
        | Msg::Failed(why) => model.toasts.fail(model.now, why),
        Msg::Copied(Copied::Known(text)) => model.toasts.good(model.now, text),
        Msg::Copied(Copied::Sent(text)) => model.toasts.note(model.now, text),
        Msg::Copied(Copied::Refused(text)) => return vec![Effect::SendToTerminal(text)],
        Msg::Clock(time) => model.clock = Some((time, model.now)),
        Msg::Renamed { id, name, text } => {
            results::rename(&mut model.results, &id, &name);
            lab::rename(&mut model.lab, &id, &name);
            model.toasts.good(model.now, text);
            return vec![Effect::Ask(Query::Sessions)];
        }
        Msg::Panicked(text) => {
            let text = format!("this is a bug in iotui, please report it: {text}");
            model.toasts.fail(model.now, text);
        }
        other => return screens::handle_message(model, other),
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
