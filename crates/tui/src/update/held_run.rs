//! A run that another iotui is in the way of: it waits, begins at once, or is given up.

use std::time::Duration;

use crossterm::event::KeyCode;

use super::run::begin;
use super::screens::with_screens;
use crate::keymap::{Action, key_of};
use crate::keys::Key;
use crate::model::Model;
use crate::msg::{Effect, HeldRun, Query};
use crate::popup::Popup;
use crate::screen::Screen;
use crate::setup;

/// Time between two looks at the other run: that must not disturb it.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// `r` or Enter waits, `R` runs now.
pub fn press_held(model: &mut Model, key: Key) -> Vec<Effect> {
    let waits = key.letter() == Some('r') || key.code == KeyCode::Enter;
    let now = key.letter() == Some('R');
    let Some(Popup::HeldRun(held)) = model.popups.pop_if(|_| waits || now) else {
        return Vec::new();
    };
    if now {
        return begin(model, held.run);
    }
    let shows = key_of(Action::Run, Screen::Setup);
    let why = format!("your run begins when the other one has ended: {shows} shows it");
    model.toasts.note(model.now, why);
    model.held = Some(held);
    look(model).into_iter().collect()
}

/// `R` begins the run that waits now, `n` gives it up.
pub fn press_waiting(model: &mut Model, key: Key) -> Vec<Effect> {
    let held = match key.letter() {
        Some('R' | 'n') => model.held.take(),
        _ => return Vec::new(),
    };
    model.popups.pop();
    held.filter(|_| key.letter() == Some('R')).map_or_else(Vec::new, |held| begin(model, held.run))
}

/// Looks for the other run again, from time to time.
pub fn tick_held(model: &mut Model) -> Option<Effect> {
    if model.now.saturating_sub(model.looked) < LOOK_INTERVAL { None } else { look(model) }
}

fn look(model: &mut Model) -> Option<Effect> {
    let plan = model.disturbed_plan()?;
    model.looked = model.now;
    Some(Effect::Ask(Query::FindOtherRun(plan)))
}

/// Begins the run that waits once nothing is in its way.
pub fn take_other_run(model: &mut Model, found: Option<String>) -> Vec<Effect> {
    match (model.held.take(), found) {
        (None, found) => model.setup.planning.set_other_run(found),
        (Some(held), Some(why)) => model.held = Some(HeldRun { why, ..held }),
        (Some(held), None) => {
            model.popups.retain(|popup| !matches!(popup, Popup::WaitingRun));
            if held.setup == Some(model.setup.planning.number) {
                return with_screens(model, |screens, ctx| {
                    setup::act(screens.setup, ctx, Action::Run)
                });
            }
            return begin(model, held.run);
        }
    }
    Vec::new()
}
