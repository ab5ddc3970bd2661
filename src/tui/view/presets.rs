//! The presets, with how the answer of the selected one is read.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;

use super::list::List;
use super::{pane, window};
use crate::tui::model::Model;
use crate::tui::theme::Role;

fn area(model: &Model, body: Rect) -> Rect {
    window::middle(body, 104, (model.presets.len() as u16 + 16).max(10))
}

/// Returns the list, the text of the selected preset, and where that is.
fn parts(model: &Model, cursor: usize, inner: Rect) -> (List, Vec<String>, Rect) {
    let doc = model.presets.get(cursor).map_or("", |preset| preset.doc.as_str());
    let columns = usize::from(inner.width.saturating_sub(2));
    let mut doc = pane::paragraphs(doc, columns);
    // A long paragraph leaves some of the list, and says where it was cut.
    let most = usize::from(inner.height.saturating_sub(6)).max(4);
    if doc.len() > most {
        doc.truncate(most);
        if let Some(last) = doc.last_mut() {
            *last = pane::fit(&format!("{last} ..."), columns);
        }
    }
    let text = Constraint::Length(doc.len() as u16 + 1);
    let [list, text] = Layout::vertical([Constraint::Min(3), text]).areas(inner);
    (List::around(cursor, model.presets.len(), list), doc, text)
}

pub fn list(model: &Model, cursor: usize, body: Rect) -> List {
    parts(model, cursor, pane::inside(area(model, body))).0
}

pub fn draw(model: &Model, cursor: usize, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let inner = window::draw_window(look, "Presets", area(model, body), buf);
    let (list, doc, text) = parts(model, cursor, inner);
    let line = |at: usize| {
        let preset = &model.presets[at];
        let (about, role) = match preset.question.as_str() {
            "" => (preset.about.as_str(), Role::Dim),
            question => (question, Role::Text),
        };
        let room = usize::from(list.area.width).saturating_sub(22);
        Line::from(vec![
            look.span(Role::Number, format!(" {:<20}", preset.id)),
            look.span(role, pane::fit(about, room)),
        ])
    };
    list.draw(look, Some(cursor), line, buf);
    let doc = doc.into_iter().map(|part| look.line(Role::Text, format!(" {part}")));
    pane::lines(doc, 1, text, buf);
}
