//! Draws the ways to add rounds to a session.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{pane, window};
use crate::tui::model::Model;
use crate::tui::refine::RefineForm;
use crate::tui::theme::Role;

const KEPT: &str = "The trials so far count; the new session has those of both.";

pub fn draw(model: &Model, form: &RefineForm, body: Rect, buf: &mut Buffer) {
    let (look, rows) = (&model.look, form.rows());
    let area = window::middle(body, 64, rows.len() as u16 + 4);
    let inner = window::draw_window(look, "Refine: add rounds until there are", area, buf);
    let widest = rows.iter().map(|(aim, _)| pane::width(aim)).max().unwrap_or(0);
    for (at, (aim, time)) in rows.iter().enumerate() {
        let pad = " ".repeat(widest - pane::width(aim));
        let parts = vec![
            Span::styled(format!(" {aim}{pad}   "), look.style(Role::Number)),
            Span::styled(time.clone(), look.style(Role::Dim)),
        ];
        pane::line(Line::from(parts), at as u16, inner, buf);
        if at == form.cursor {
            pane::select(look.style(Role::Selected), at as u16, inner, buf);
        }
    }
    let text = pane::fit(KEPT, usize::from(inner.width.saturating_sub(2)));
    let below = rows.len() as u16 + 1;
    pane::line(Line::styled(format!(" {text}"), look.style(Role::Dim)), below, inner, buf);
}
