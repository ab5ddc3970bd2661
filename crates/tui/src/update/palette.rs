//! Does what was chosen in the palette, on whichever screen it applies.

use super::act::act;
use super::navigate::{go, leave_start};
use super::screens::{is_offered_now, try_with_screens, with_screens};
use crate::keymap::{self, Action};
use crate::model::Model;
use crate::msg::{Effect, Query};
use crate::palette::{Entry, Goal, MAX_RECENT};
use crate::plan::Settings;
use crate::screen::Screen;
use crate::text::show_path;
use crate::{lab, setup};

pub fn follow(model: &mut Model, entry: Entry) -> Vec<Effect> {
    model.recent.retain(|known| *known != entry.goal);
    model.recent.insert(0, entry.goal.clone());
    model.recent.truncate(MAX_RECENT);
    match entry.goal {
        Goal::Act(action) => act(model, action),
        Goal::ActOn(screen, action) => act_on(model, screen, action),
        Goal::Preset(id) => {
            let effects = choose_preset(model, &id);
            if matches!(model.screen, Screen::Lab | Screen::Setup) {
                return effects;
            }
            effects.into_iter().chain(go(model, Screen::Setup)).collect()
        }
        Goal::Backend(at) => {
            on_setup(model, |screens, ctx| setup::toggle_backend(screens.setup, ctx, at))
        }
        Goal::Ask(name) => on_setup(model, |screens, ctx| {
            setup::ask_for_value(screens.setup, ctx, name);
            Vec::new()
        }),
        Goal::Set(name, value) => set(model, name, &value),
        Goal::File(path) => {
            model.toasts.good(model.now, format!("target: {}", show_path(&path)));
            on_setup(model, |screens, ctx| setup::set_target(screens.setup, ctx, Some(path), None))
        }
        Goal::Session(id) => vec![Effect::Ask(Query::Open(id))],
    }
}

fn on_setup(
    model: &mut Model,
    update: impl FnOnce(crate::model::Screens, &mut crate::context::Context) -> Vec<Effect>,
) -> Vec<Effect> {
    let effects = go(model, Screen::Setup);
    effects.into_iter().chain(with_screens(model, update)).collect()
}

fn set(model: &mut Model, name: &'static str, value: &str) -> Vec<Effect> {
    let mut effects = go(model, Screen::Setup);
    let done =
        try_with_screens(model, |screens, ctx| setup::set_text(screens.setup, ctx, name, value));
    match done {
        Ok(done) => {
            model.toasts.good(model.now, format!("{name}: {value}"));
            effects.extend(done);
        }
        Err(why) => model.toasts.fail(model.now, why),
    }
    effects
}

/// Goes to a screen and does the action there, or says why it does nothing now.
fn act_on(model: &mut Model, screen: Screen, action: Action) -> Vec<Effect> {
    let is_reachable = screen != Screen::Compare || model.compare.got.is_some();
    let mut effects = go(model, if is_reachable { screen } else { Screen::Sessions });
    let says_why = screen == Screen::Sessions && action == Action::Compare;
    if is_reachable && (says_why || is_offered_now(model, action)) {
        effects.extend(act(model, action));
        return effects;
    }
    let help = keymap::on(screen).find(|binding| binding.action == action);
    // The message must fit into the last line.
    let name = help.map_or("", |binding| match binding.short {
        "" => binding.help,
        short => short,
    });
    let why = find_obstacle(model, screen, action);
    model.toasts.note(model.now, format!("{name}: {why}"));
    effects
}

/// Returns why an action of a screen does nothing now.
fn find_obstacle(model: &Model, screen: Screen, action: Action) -> &'static str {
    match (screen, action) {
        (Screen::Setup, _) if model.setup.picks => "pick a file first",
        (Screen::Setup, _) => "nothing has changed",
        (Screen::Live, Action::ZoomReset) => "all of it is shown",
        (Screen::Live, Action::Slower | Action::Faster) => "a replay must be shown",
        (Screen::Live, _) => "a run must be in progress",
        (Screen::Results, _) if model.results.view().is_none() && model.results.follows_run => {
            "nothing is measured yet"
        }
        (Screen::Results, _) if model.results.view().is_none() => {
            "run something or open a session first"
        }
        (Screen::Sessions, _) if model.sessions.count() == 0 => "there are no sessions yet",
        (Screen::Sessions, _) => "no session matches the filter",
        (Screen::Compare, _) if model.compare.got.is_none() => {
            "mark two sessions and compare them first"
        }
        (Screen::Lab, Action::Run) => "a run is in progress",
        (Screen::Lab, Action::Compare) => "there are no other sessions with probes yet",
        _ => "it does not apply here",
    }
}

/// Takes the preset that was chosen: of probes on Lab, of files on Setup.
pub fn choose_preset(model: &mut Model, id: &str) -> Vec<Effect> {
    let Some(preset) = model.presets.iter().find(|preset| preset.id == id).cloned() else {
        return Vec::new();
    };
    leave_start(model);
    if lab::is_probe_preset(&preset) {
        model.lab.choose(preset, Settings::default());
        return go(model, Screen::Lab);
    }
    let mut effects =
        with_screens(model, |screens, ctx| setup::take_preset(screens.setup, ctx, preset));
    if model.screen == Screen::Lab {
        effects.extend(go(model, Screen::Setup));
    }
    effects
}
