//! Texts: the messages of the last line, and the findings of the doctor.

use std::time::Duration;

use ratatui::layout::Rect;
use ratatui::text::Line;

use super::window::Window;
use super::{KeyNames, Layer};
use crate::keymap::Action;
use crate::model::Model;
use crate::popup::{Doctor, MessageList};
use crate::theme::Role;
use crate::view::list::List;
use crate::view::{findings, pane};

const SCROLL_KEYS: KeyNames = &[("esc", "close"), ("down", "scroll")];

impl Layer for MessageList {
    fn footer(&self, _: &Model) -> KeyNames {
        SCROLL_KEYS
    }

    fn opened_by(&self) -> Option<Action> {
        Some(Action::Messages)
    }

    fn row(&mut self) -> Option<&mut usize> {
        Some(&mut self.scroll)
    }

    fn is_text(&self) -> bool {
        true
    }

    fn window(&self, model: &Model, body: Rect) -> Option<Window> {
        let columns = body.width.saturating_sub(2).min(100);
        let lines = message_lines(model, columns.saturating_sub(2));
        let area = pane::middle(body, columns, lines.len().clamp(1, 1000) as u16 + 2);
        let list = List::scrolled(self.scroll, lines.len(), pane::inside(area));
        Some(Window {
            empty: model.look.line(Role::Dim, " no messages since the start"),
            ..Window::new("Messages, the newest first", area, list, None, lines)
        })
    }
}

/// Columns of the age of a message.
const AGE: usize = 10;

fn message_lines(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let look = &model.look;
    let room = usize::from(columns).saturating_sub(AGE + 2);
    let mut lines = Vec::new();
    for message in model.toasts.kept() {
        let mut age = age(model.now.saturating_sub(message.at));
        for part in pane::wrap(&message.text, room) {
            lines.push(Line::from(vec![
                look.span(Role::Dim, format!(" {age:>AGE$} ")),
                look.span(message.role, part),
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

impl Layer for Doctor {
    fn footer(&self, _: &Model) -> KeyNames {
        SCROLL_KEYS
    }

    fn opened_by(&self) -> Option<Action> {
        Some(Action::Doctor)
    }

    fn row(&mut self) -> Option<&mut usize> {
        Some(&mut self.scroll)
    }

    fn is_text(&self) -> bool {
        true
    }

    fn window(&self, model: &Model, body: Rect) -> Option<Window> {
        let area = pane::middle(body, 100, body.height);
        let inner = pane::inside(area);
        let columns = usize::from(inner.width.saturating_sub(2));
        let lines = findings::describe(&model.look, model.host.findings(), columns);
        let list = List::scrolled(self.scroll, lines.len(), inner);
        Some(Window::new("Doctor: what would disturb a measurement", area, list, None, lines))
    }
}
