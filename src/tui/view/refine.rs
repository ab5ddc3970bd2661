//! Draws the ways to add rounds to a session.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::list::List;
use super::{pane, window};
use crate::tui::model::Model;
use crate::tui::refine::RefineForm;
use crate::tui::theme::Role;

const KEPT: &str = "The trials so far count; the new session has those of both.";

fn area(form: &RefineForm, body: Rect) -> Rect {
    window::middle(body, 64, form.ways.len() as u16 + 4)
}

fn list_in(form: &RefineForm, inner: Rect) -> List {
    let rows = inner.height.min(form.ways.len() as u16);
    List::around(form.cursor, form.ways.len(), Rect { height: rows, ..inner })
}

pub fn list(form: &RefineForm, body: Rect) -> List {
    list_in(form, pane::inside(area(form, body)))
}

pub fn draw(model: &Model, form: &RefineForm, body: Rect, buf: &mut Buffer) {
    let (look, rows) = (&model.look, form.rows());
    let title = "Refine: add rounds until there are";
    let inner = window::draw_window(look, title, area(form, body), buf);
    let widest = rows.iter().map(|(aim, _)| pane::width(aim)).max().unwrap_or(0);
    let line = |at: usize| {
        let (aim, time) = &rows[at];
        let pad = " ".repeat(widest - pane::width(aim));
        Line::from(vec![
            look.span(Role::Number, format!(" {aim}{pad}   ")),
            look.span(Role::Dim, time.clone()),
        ])
    };
    list_in(form, inner).draw(look, Some(form.cursor), line, buf);
    let text = pane::fit(KEPT, usize::from(inner.width.saturating_sub(2)));
    let below = rows.len() as u16 + 1;
    pane::line(look.line(Role::Dim, format!(" {text}")), below, inner, buf);
}
