//! Lab: where the measurements of the operating system itself will be shown.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::keymap::Action;
use super::model::Model;
use super::msg::Effect;
use super::theme::Role;
use super::view::pane;

pub fn act(_: &mut Model, _: Action) -> Vec<Effect> {
    Vec::new()
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(&model.look, "Lab", "", true, area, buf);
    let text = "This version measures files only: clocks, system calls, processes, memory and network are not measured yet.";
    for (row, part) in pane::wrap(text, usize::from(inner.width.saturating_sub(2))).into_iter().enumerate() {
        pane::line(Line::styled(format!(" {part}"), model.look.style(Role::Dim)), row as u16 + 1, inner, buf);
    }
}
