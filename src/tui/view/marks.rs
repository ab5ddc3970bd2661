//! Draws the list of others that can be marked on the bars of Lab.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::list::List;
use super::{pane, window};
use crate::tui::lab::{self, MarkEntry as Entry};
use crate::tui::model::Model;
use crate::tui::theme::{Look, Role};

fn area(rows: &[Entry], body: Rect) -> Rect {
    window::middle(body, 76, rows.len() as u16 + 2)
}

pub fn list(model: &Model, cursor: usize, body: Rect) -> List {
    let rows = lab::mark_entries(&model.lab);
    List::around(cursor, rows.len(), pane::inside(area(&rows, body)))
}

pub fn draw(model: &Model, cursor: usize, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let rows = lab::mark_entries(&model.lab);
    let inner = window::draw_window(look, "Marked on the bars", area(&rows, body), buf);
    let names = rows.iter().map(|row| pane::width(&row.name)).max().unwrap_or(0).min(30);
    let width = usize::from(inner.width);
    let line = |at: usize| entry_line(look, &rows[at], names, width);
    List::around(cursor, rows.len(), inner).draw(look, Some(cursor), line, buf);
    if rows.is_empty() {
        let none = " no other session measured probes";
        pane::line(look.line(Role::Dim, none), 0, inner, buf);
    }
}

fn entry_line(look: &Look, entry: &Entry, names: usize, width: usize) -> Line<'static> {
    let (mark, style) = match entry.at {
        Some(place) if entry.on => {
            let (symbol, style) = lab::sign(look, place);
            (symbol.to_string(), style)
        }
        _ => (look.glyph("·", ".").to_string(), look.style(Role::Dim)),
    };
    let name = pane::fit(&entry.name, names);
    let pad = " ".repeat(names - pane::width(&name));
    let room = width.saturating_sub(names + 7);
    Line::from(vec![
        Span::styled(format!(" {mark} "), style),
        look.span(if entry.on { Role::Number } else { Role::Text }, format!("{name}{pad}  ")),
        look.span(Role::Dim, pane::fit(&entry.about, room)),
    ])
}
