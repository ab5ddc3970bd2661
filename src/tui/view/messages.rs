//! The messages of the last line, whole.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::list::List;
use super::{pane, window};
use crate::tui::model::Model;
use crate::tui::theme::Role;

const COLUMNS: u16 = 100;
/// Of the age of a message.
const AGE: usize = 10;

/// Returns the window, and the rows of all messages.
fn parts(model: &Model, body: Rect) -> (Rect, Vec<Line<'static>>) {
    let columns = COLUMNS.min(body.width.saturating_sub(2));
    let lines = lines(model, columns.saturating_sub(2));
    let rows = lines.len().clamp(1, 1000) as u16;
    (window::middle(body, columns, rows + 2), lines)
}

pub fn list(model: &Model, scroll: usize, body: Rect) -> List {
    let (area, lines) = parts(model, body);
    List::scrolled(scroll, lines.len(), pane::inside(area))
}

pub fn draw(model: &Model, scroll: usize, body: Rect, buf: &mut Buffer) {
    let (area, lines) = parts(model, body);
    let inner = window::draw_window(&model.look, "Messages, the newest first", area, buf);
    if lines.is_empty() {
        let none = model.look.line(Role::Dim, " no messages since the start");
        pane::line(none, 0, inner, buf);
    }
    let list = List::scrolled(scroll, lines.len(), inner);
    list.draw_lines(&model.look, lines, buf);
}

fn lines(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let look = &model.look;
    let room = usize::from(columns).saturating_sub(AGE + 2);
    let mut lines = Vec::new();
    for told in model.toasts.kept() {
        let mut age = age(model.now.saturating_sub(told.at));
        for part in pane::wrap(&told.text, room) {
            lines.push(Line::from(vec![
                look.span(Role::Dim, format!(" {age:>AGE$} ")),
                look.span(told.role, part),
            ]));
            age.clear();
        }
    }
    lines
}

fn age(age: Duration) -> String {
    match age.as_secs() {
        0..=1 => "now".into(),
        seconds @ ..120 => format!("{seconds} s ago"),
        seconds => format!("{} min ago", seconds / 60),
    }
}
