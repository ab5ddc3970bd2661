//! A run that waits until another iotui has ended.

use std::time::Duration;

use super::run::begin;
use super::screens::with_screens;
use crate::keymap::Action;
use crate::model::Model;
use crate::msg::{Effect, HeldRun, Query};
use crate::popup::Popup;
use crate::setup;

/// Time between two looks at the other run: that must not disturb it.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Looks for the other run again, from time to time.
pub fn tick_held(model: &mut Model) -> Option<Effect> {
    if model.now.saturating_sub(model.looked) < LOOK_INTERVAL { None } else { look(model) }
}

pub fn look(model: &mut Model) -> Option<Effect> {
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
            model.popups.retain(|popup| !matches!(popup, Popup::WaitingRun(_)));
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
