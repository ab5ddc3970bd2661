//! Draws the list of others that can be marked on the bars of Lab.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{pane, window};
use crate::tui::lab;
use crate::tui::model::Model;
use crate::tui::theme::Role;

pub fn draw(model: &Model, cursor: usize, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let rows = lab::mark_entries(&model.lab);
    let inner = window::draw_window(
        look,
        "Marked on the bars",
        window::middle(body, 76, rows.len() as u16 + 2),
        buf,
    );
    let names = rows.iter().map(|row| pane::width(&row.name)).max().unwrap_or(0).min(30);
    let first = pane::first_row(cursor, rows.len(), usize::from(inner.height));
    for (at, entry) in rows.iter().enumerate().skip(first).take(usize::from(inner.height)) {
        let (mark, style) = match entry.at {
            Some(place) if entry.on => {
                let (symbol, style) = lab::sign(look, place);
                (symbol.to_string(), style)
            }
            _ => (look.glyph("·", ".").to_string(), look.style(Role::Dim)),
        };
        let name = pane::fit(&entry.name, names);
        let pad = " ".repeat(names - pane::width(&name));
        let room = usize::from(inner.width).saturating_sub(names + 7);
        let parts = vec![
            Span::styled(format!(" {mark} "), style),
            Span::styled(
                format!("{name}{pad}  "),
                look.style(if entry.on { Role::Number } else { Role::Text }),
            ),
            Span::styled(pane::fit(&entry.about, room), look.style(Role::Dim)),
        ];
        pane::line(Line::from(parts), (at - first) as u16, inner, buf);
        if at == cursor {
            pane::select(look.style(Role::Selected), (at - first) as u16, inner, buf);
        }
    }
    if rows.is_empty() {
        pane::line(
            Line::styled(" no other session measured probes", look.style(Role::Dim)),
            0,
            inner,
            buf,
        );
    }
    pane::scrollbar(look, first, rows.len(), inner, buf);
}
