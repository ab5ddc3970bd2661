//! A run that waits while another iotui measures on the same disk.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::KeyCode;

use super::requests::with_screens;
use super::run;
use crate::tui::keymap::Action;
use crate::tui::keys::Key;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::popup::{HeldRun, Popup};
use crate::tui::setup;

/// Time between two looks at the other run: that must not disturb it.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// `r` or Enter waits, `R` runs now.
pub fn press(model: &mut Model, key: Key) -> Vec<Effect> {
    let now = model.now;
    let Some(Popup::HeldRun(held)) = model.popups.last_mut() else { return Vec::new() };
    let plan = Arc::clone(&held.plan);
    if key.letter() == Some('R') {
        model.popups.pop();
        return run::start(model, plan);
    }
    let waits = key.letter() == Some('r') || key.code == KeyCode::Enter;
    if !waits || held.waits.is_some() {
        return Vec::new();
    }
    held.waits = Some(now);
    vec![Effect::FindOtherRun(plan)]
}

/// Looks for the other run again, from time to time.
pub fn tick(model: &mut Model) -> Option<Effect> {
    let now = model.now;
    let held = waiting(model)?;
    held.waits.filter(|last| now.saturating_sub(*last) >= LOOK_INTERVAL)?;
    held.waits = Some(now);
    Some(Effect::FindOtherRun(Arc::clone(&held.plan)))
}

/// Begins the run once nothing is in its way.
pub fn take(model: &mut Model, found: Option<String>) -> Vec<Effect> {
    let Some(held) = waiting(model) else { return Vec::new() };
    if let Some(why) = found {
        held.why = why;
        return Vec::new();
    }
    model.popups.retain(|popup| !matches!(popup, Popup::HeldRun(_)));
    with_screens(model, |screens, ctx| setup::act(screens.setup, ctx, Action::Run))
}

fn waiting(model: &mut Model) -> Option<&mut HeldRun> {
    match model.popups.iter_mut().find(|popup| popup.waits())? {
        Popup::HeldRun(held) => Some(held),
        _ => None,
    }
}
