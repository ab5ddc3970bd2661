//! Setup: which file, what to do with it, and the plan that comes of it.
//!
//! | what | where |
//! |---|---|
//! | what is chosen, where the cursor is, the plan | [`state`], [`browser`] |
//! | what keys, clicks and messages do | [`update`], [`click`], [`pick`] the target, [`change`] a setting |
//! | settings as rows, their steps, block sizes as a band | [`rows`], [`step`], [`slider`] |
//! | what makes no sense together, the command line | [`objection`], [`mod@line`] |
//! | the picture | [`view`] |

mod browser;
mod change;
mod click;
mod line;
mod objection;
mod pick;
mod rows;
mod slider;
mod state;
mod step;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use browser::{Browser, Entry, Ground, Kind, Listing, Seen};
pub use change::{save_preset, set_text};
pub use click::clicked;
pub use line::line;
pub use state::{Pane, Planning, Setup};
pub use update::{act, back, field, preset, shown_again, told, typed};
pub use view::draw;

use super::model::Model;
use super::msg::Effect;
use super::remember::Remembered;
use crate::units::show_bytes;

/// The target for the first line: what has no room loses its front, so the name stands last.
pub fn target(model: &Model) -> String {
    let setup = &model.setup;
    let facts =
        setup.planning.last().map(|proposed| &proposed.facts).filter(|_| setup.planning.settled());
    let size = setup
        .plan()
        .filter(|_| setup.planning.settled())
        .map(|plan| show_bytes(plan.target.size()));
    let name = match &setup.file {
        Some(path) => path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .replace(crate::text::steers, "?"),
        None => "scratch file".into(),
    };
    let dot = model.look.glyph(" · ", " - ");
    let on = facts.map(|facts| facts.fs.clone()).filter(|fs| !fs.is_empty());
    on.into_iter().chain(size).chain([name]).collect::<Vec<_>>().join(dot)
}

/// Keeps what is chosen for the next time.
pub fn remember(model: &Model) -> Effect {
    let setup = &model.setup;
    // A preset that no list has cannot be found again: then what it says is kept.
    let listed = model.presets.contains(&setup.preset);
    let mut settings = if listed {
        setup.settings.clone()
    } else {
        setup.settings.clone().or(&setup.preset.settings)
    };
    if settings.text("backend").is_some_and(|text| text.is_empty()) {
        settings.unset("backend");
    }
    Effect::Remember(Box::new(Remembered {
        preset: listed.then(|| setup.preset.id.clone()),
        settings,
        recent: setup.browser.recent.clone(),
        theme: Some(model.look.theme.id.into()),
        folder: Some(setup.browser.dir.clone()),
        log_y: setup.log_y,
    }))
}
