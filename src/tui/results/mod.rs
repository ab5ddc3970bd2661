//! Results: the curves of a session, and everything behind each point.
//!
//! | what | where |
//! |---|---|
//! | what is shown, made once per session and metric | [`data`], [`columns`], [`measured`] |
//! | what is copied of it | [`copy`] |
//! | what is read of it when a cell is opened | [`course`] |
//! | what is under the cursor, and what keys change of it | [`state`], [`act`], [`mouse`] |
//! | where things are | [`layout`] |
//! | the picture | [`view`], [`chart`], [`legend`], [`answer`], [`table`], [`cell`] |

mod act;
mod answer;
mod bars;
mod cell;
mod chart;
mod columns;
mod copy;
mod course;
mod data;
mod layout;
mod legend;
mod measured;
mod mouse;
mod state;
mod table;
mod view;

#[cfg(test)]
mod tests;

pub use act::{act, mark, offered};
pub use course::{ask, told};
pub use mouse::clicked;
pub use state::Results;
pub use view::draw;

use tui_input::Input;

use super::model::Model;
use super::msg::Effect;
use super::shown::Shown;

/// Shows a session.
pub fn show(model: &mut Model, shown: Shown) {
    model.results.show(shown);
}

/// The filter, while it is typed.
pub fn field(results: &mut Results) -> Option<&mut Input> {
    results.table.typing.then_some(&mut results.table.filter)
}

/// The filter has changed.
pub fn typed(model: &mut Model) -> Vec<Effect> {
    model.results.arrange();
    Vec::new()
}

/// The shown session has another name.
pub fn renamed(model: &mut Model, id: &str, name: &str) {
    if let Some(data) = model.results.data.as_mut().filter(|data| data.shown.session.id == id) {
        data.shown.session.name = name.into();
    }
}

/// Goes back from an opened cell or a filter; false where there is neither.
pub fn back(model: &mut Model) -> bool {
    let results = &mut model.results;
    if results.open.is_some() {
        results.close();
        return true;
    }
    if results.table.on && (results.table.typing || !results.table.filter.value().is_empty()) {
        results.table.typing = false;
        results.table.filter = Input::default();
        results.arrange();
        return true;
    }
    false
}
