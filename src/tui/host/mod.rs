//! Host: what this machine and this target are, and what the doctor finds.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::keymap::Action;
use super::model::Model;
use super::msg::{Effect, Msg};
use super::theme::Role;
use super::view::pane;
use crate::host::Host;
use crate::record::Warning;

#[derive(Debug, Default)]
pub struct HostScreen {
    pub host: Option<Box<Host>>,
    pub findings: Vec<Warning>,
}

pub fn act(_: &mut Model, _: Action) -> Vec<Effect> {
    Vec::new()
}

pub fn told(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Host(host) => model.host.host = Some(host),
        Msg::Doctor(findings) => model.host.findings = findings,
        _ => {}
    }
    Vec::new()
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(&model.look, "Host", "", true, area, buf);
    let text = model.host.host.as_ref().map_or("...".to_string(), |host| format!("{} {}", host.name, host.kernel));
    pane::line(Line::styled(text, model.look.style(Role::Text)), 0, inner, buf);
}
