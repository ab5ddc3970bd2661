//! The messages of the last line, whole.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{pane, window};
use crate::tui::model::Model;
use crate::tui::theme::Role;

const COLUMNS: u16 = 100;
/// Of the age of a message.
const AGE: usize = 10;

pub fn draw(model: &Model, scroll: u16, body: Rect, buf: &mut Buffer) {
    let area = window_area(model, body);
    let inner = window::draw_window(&model.look, "Messages, the newest first", area, buf);
    let lines = lines(model, inner.width);
    let count = lines.len();
    let first = usize::from(scroll).min(count.saturating_sub(usize::from(inner.height)));
    if count == 0 {
        let none = Line::styled(" no messages since the start", model.look.style(Role::Dim));
        pane::line(none, 0, inner, buf);
    }
    for (row, line) in lines.into_iter().skip(first).take(usize::from(inner.height)).enumerate() {
        pane::line(line, row as u16, inner, buf);
    }
    pane::scrollbar(&model.look, first, count, inner, buf);
}

fn window_area(model: &Model, body: Rect) -> Rect {
    let columns = COLUMNS.min(body.width.saturating_sub(2));
    let rows = lines(model, columns.saturating_sub(2)).len().clamp(1, 1000) as u16;
    window::middle(body, columns, rows + 2)
}

/// Returns the rows of all messages.
pub fn count_lines(model: &Model, body: Rect) -> usize {
    lines(model, COLUMNS.min(body.width.saturating_sub(2)).saturating_sub(2)).len()
}

fn lines(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let look = &model.look;
    let room = usize::from(columns).saturating_sub(AGE + 2);
    let mut lines = Vec::new();
    for told in model.toasts.kept() {
        let mut age = age(model.now.saturating_sub(told.at));
        for part in pane::wrap(&told.text, room) {
            lines.push(Line::from(vec![
                Span::styled(format!(" {age:>AGE$} "), look.style(Role::Dim)),
                Span::styled(part, look.style(told.role)),
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
