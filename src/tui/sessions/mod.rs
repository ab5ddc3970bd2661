//! Sessions: every run that was kept.

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
use crate::session::Listed;

/// The session under the cursor, loaded.
#[derive(Debug)]
pub struct Preview {
    pub id: String,
    pub result: Result<Box<Shown>, String>,
}

#[derive(Debug, Default)]
pub struct Sessions {
    pub listed: Vec<Listed>,
    pub cursor: usize,
}

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    let last = model.sessions.listed.len().saturating_sub(1);
    let cursor = &mut model.sessions.cursor;
    match action {
        Action::Up => *cursor = cursor.saturating_sub(1),
        Action::Down => *cursor = (*cursor + 1).min(last),
        Action::Enter => return model.sessions.listed.get(*cursor).map(|l| Effect::Open(l.id.clone())).into_iter().collect(),
        _ => {}
    }
    Vec::new()
}

pub fn told(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Sessions(Ok(listed)) => model.sessions.listed = listed,
        Msg::Sessions(Err(why)) => model.toasts.failed(model.now, why),
        _ => {}
    }
    Vec::new()
}

pub fn field(_: &mut Sessions) -> Option<&mut Input> {
    None
}

pub fn typed(_: &mut Model) -> Vec<Effect> {
    Vec::new()
}

pub fn back(_: &mut Model) -> bool {
    false
}

/// A new name for a session.
pub fn rename(id: &str, name: &str) -> Result<Vec<Effect>, String> {
    Ok(vec![Effect::Rename { id: id.into(), name: name.into() }])
}

pub fn clicked(_: &mut Model, _: Rect, _: Position) -> Vec<Effect> {
    Vec::new()
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(&model.look, "Sessions", "", true, area, buf);
    for (row, listed) in model.sessions.listed.iter().enumerate().take(usize::from(inner.height)) {
        pane::line(Line::styled(listed.id.clone(), model.look.style(Role::Text)), row as u16, inner, buf);
        if row == model.sessions.cursor {
            pane::select(model.look.style(Role::Selected), row as u16, inner, buf);
        }
    }
}
