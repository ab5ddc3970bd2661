//! From screen to screen.

use crate::model::Model;
use crate::msg::{Effect, Query};
use crate::popup::Popup;
use crate::screen::Screen;
use crate::{host, lab, setup};

/// Shows a screen, and asks for what it needs.
pub fn go(model: &mut Model, screen: Screen) -> Vec<Effect> {
    model.screen = screen;
    leave_start(model);
    match screen {
        Screen::Setup => {
            // After a replay that the program began with, the machine is not known yet.
            let host = model.host.host.is_none().then_some(Effect::Ask(Query::Host));
            setup::enter(&mut model.setup).into_iter().chain(host).collect()
        }
        Screen::Sessions => vec![Effect::Ask(Query::Sessions)],
        Screen::Host => {
            let (screens, context) = model.split();
            let mut effects = host::enter(screens.host, &context);
            // Findings grow old, too; a run is not disturbed for them.
            if !context.is_running() {
                effects.extend(setup::examine(screens.setup));
            }
            effects
        }
        Screen::Lab => inspect_probes(model),
        Screen::Results => {
            show_growth(model);
            show_replayed(model);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Closes the guided start: whoever goes somewhere or chooses something needs no questions.
pub fn leave_start(model: &mut Model) {
    model.popups.retain(|popup| !matches!(popup, Popup::Start(_)));
}

/// Shows on Results what the run has measured so far, while Results is the current screen.
pub fn show_growth(model: &mut Model) {
    if model.screen == Screen::Results
        && model.results.follows_run
        && let Some(view) = model.live.take_growth(model.now)
    {
        model.results.grow(view);
    }
}

/// Shows on Results, where nothing is, the session that is replayed.
fn show_replayed(model: &mut Model) {
    if model.results.view().is_none()
        && let Some(replay) = &model.live.replay
        && !lab::is_probe_plan(&replay.shown().session.plan)
    {
        let shown = replay.shown().clone();
        model.results.show(shown);
    }
}

/// Finds out what probes can be measured with the target of Setup.
pub fn inspect_probes(model: &mut Model) -> Vec<Effect> {
    let (screens, context) = model.split();
    let (file, dir) = (screens.setup.file.clone(), screens.setup.dir.clone());
    lab::enter(screens.lab, &context, file, dir)
}
