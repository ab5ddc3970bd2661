//! Lab: the operating system's own costs, as bars on one scale from a cycle to a second.
//!
//! | what | where |
//! |---|---|
//! | which probes are chosen | [`choice`] |
//! | what can be measured here, what was measured, what others reach | [`data`] |
//! | the list and the bars, made from these | [`sheet`], [`scale`], [`curve`] |
//! | what is under the cursor | [`state`] |
//! | what keys, clicks and messages do | [`act`], [`mouse`], [`told`], [`marks`] |
//! | the picture | [`view`] |

mod act;
mod choice;
mod curve;
mod data;
mod marks;
mod mouse;
mod scale;
mod sheet;
mod state;
mod told;
mod values;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use act::{act, command, offered};
pub use data::{Here, Other};
pub use marks::{chosen, rows as mark_rows};
pub use mouse::clicked;
pub use state::Lab;
pub use told::{begin, listed, renamed, show, ticked, told};
pub use values::choose as choose_values;
pub use view::{draw, sign};

use tui_input::Input;

use super::model::Model;
use super::msg::Effect;
use super::screen::Screen;
use super::update;
use crate::plan::{Preset, Settings};

/// A run goes on that measures probes.
pub fn running(model: &Model) -> bool {
    model.live.plan().is_some_and(|plan| !plan.probes.is_empty())
}

/// Chooses a preset of probes, and shows it.
pub fn take_preset(model: &mut Model, preset: Preset) -> Vec<Effect> {
    model.lab.choose(preset, Settings::default());
    update::go(model, Screen::Lab)
}

/// What is asked for when the screen is shown: nothing while something is measured, which it would
/// disturb.
pub fn shown(model: &Model) -> Vec<Effect> {
    if model.running() {
        return Vec::new();
    }
    let (setup, choice) = (&model.setup, &model.lab.choice);
    vec![Effect::Lab {
        file: setup.file.clone(),
        dir: setup.dir.clone(),
        remote: choice.remote().cloned(),
        sets: choice.sets(),
    }]
}

/// The filter, while it is typed.
pub fn field(lab: &mut Lab) -> Option<&mut Input> {
    lab.typing.then_some(&mut lab.filter)
}

/// The filter has changed.
pub fn typed(model: &mut Model) -> Vec<Effect> {
    model.lab.arrange();
    Vec::new()
}

/// Goes back from an opened curve or a filter; false where there is neither.
pub fn back(model: &mut Model) -> bool {
    let lab = &mut model.lab;
    if lab.open {
        lab.open = false;
        return true;
    }
    if lab.typing || !lab.filter.value().is_empty() {
        lab.typing = false;
        lab.filter = Input::default();
        lab.arrange();
        return true;
    }
    false
}
