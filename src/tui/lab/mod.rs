//! Lab: where the measurements of the operating system itself will be shown.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::keymap::{Action, key_of};
use super::model::{Model, Screen};
use super::msg::Effect;
use super::theme::Role;
use super::view::pane;

pub fn act(_: &mut Model, _: Action) -> Vec<Effect> {
    Vec::new()
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(&model.look, "Lab", "", true, area, buf);
    let setup = key_of(Action::Go(Screen::Setup), Screen::Lab);
    let texts = [
        ("The operating system itself", Role::Title),
        ("", Role::Dim),
        ("Clocks, system calls, processes, memory and network will be measured here.", Role::Text),
        ("This version measures files only.", Role::Text),
        ("", Role::Dim),
        (&format!("{setup} measures files; its backends seek and null show what a call costs."), Role::Dim),
    ];
    let room = usize::from(inner.width.saturating_sub(4));
    let lines: Vec<Line> = texts
        .iter()
        .flat_map(|(text, role)| pane::wrap(text, room).into_iter().map(|part| Line::styled(part, model.look.style(*role)).centered()))
        .collect();
    let above = inner.height.saturating_sub(lines.len() as u16) / 3;
    for (row, line) in lines.into_iter().enumerate() {
        pane::line(line, above + row as u16, inner, buf);
    }
}
