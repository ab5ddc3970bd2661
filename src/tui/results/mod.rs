//! Results: the curves of a session, and everything behind each point.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use tui_input::Input;

use super::keymap::Action;
use super::model::Model;
use super::msg::{Effect, Msg};
use super::shown::Shown;
use super::theme::Role;
use super::view::pane;

#[derive(Debug, Default)]
pub struct Results {
    pub shown: Option<Shown>,
}

/// Shows a session.
pub fn show(model: &mut Model, shown: Shown) {
    model.results = Results { shown: Some(shown) };
}

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match (action, &model.results.shown) {
        (Action::RunAgain, Some(shown)) => vec![Effect::Again(shown.session.id.clone())],
        _ => Vec::new(),
    }
}

pub fn told(_: &mut Model, _: Msg) -> Vec<Effect> {
    Vec::new()
}

pub fn field(_: &mut Results) -> Option<&mut Input> {
    None
}

pub fn typed(_: &mut Model) -> Vec<Effect> {
    Vec::new()
}

/// Goes back from an opened cell; false where none is open.
pub fn back(_: &mut Model) -> bool {
    false
}

pub fn clicked(_: &mut Model, _: Rect, _: Position) -> Vec<Effect> {
    Vec::new()
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(&model.look, "Results", "", true, area, buf);
    let text = model
        .results
        .shown
        .as_ref()
        .map_or("nothing was measured yet: run something (1, r), or open a session (4)", |shown| shown.answer.text.as_str());
    for (row, part) in pane::wrap(text, usize::from(inner.width)).into_iter().enumerate() {
        pane::line(Line::styled(part, model.look.style(Role::Text)), row as u16, inner, buf);
    }
}
