//! Host: what this machine and this target are, and what the doctor finds.
//!
//! [`parts`] is what is said and where, [`facts`] rows and tables as lines, [`diagram`] the way
//! from the file down to the disk.

mod diagram;
mod facts;
mod parts;

#[cfg(test)]
mod tests;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use self::parts::Part;
use super::keymap::Action;
use super::model::Model;
use super::msg::{Effect, Msg};
use super::view::{self, pane};
use crate::host::Host;
use crate::record::Warning;
use crate::report;

#[derive(Debug, Default)]
pub struct HostScreen {
    pub host: Option<Box<Host>>,
    pub findings: Vec<Warning>,
    /// The pane that scrolls, where there is more than one.
    focus: usize,
    /// The first line that is seen, of each pane.
    scroll: [usize; 3],
}

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    if action == Action::Copy {
        let report = |host: &Host| report::host::text(host, model.setup.facts(), model.findings());
        return model.host.host.as_deref().map(report).map(Effect::Copy).into_iter().collect();
    }
    let parts = parts::parts(model, view::areas(model.size).body);
    let screen = &mut model.host;
    let count = parts.len().max(1);
    let at = screen.focus.min(count - 1);
    let Some(part) = parts.get(at) else { return Vec::new() };
    match action {
        Action::NextPane | Action::Right if count > 1 => screen.focus = (at + 1) % count,
        Action::PreviousPane | Action::Left if count > 1 => screen.focus = (at + count - 1) % count,
        _ => screen.scroll[at] = scrolled(part, screen.scroll[at].min(part.last()), action),
    }
    Vec::new()
}

/// The first line to be seen after a key.
fn scrolled(part: &Part, at: usize, action: Action) -> usize {
    let page = part.page();
    let next = match action {
        Action::Up => at.saturating_sub(1),
        Action::Down => at + 1,
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at + page,
        Action::HalfUp => at.saturating_sub(page.div_ceil(2)),
        Action::HalfDown => at + page.div_ceil(2),
        Action::Top => 0,
        Action::Bottom => part.last(),
        // All in one pane: from part to part.
        Action::NextPane | Action::Right => {
            part.starts.iter().copied().find(|start| *start > at && at < part.last()).unwrap_or(0)
        }
        Action::PreviousPane | Action::Left => {
            part.starts.iter().copied().rfind(|start| *start < at).unwrap_or(part.last())
        }
        _ => at,
    };
    next.min(part.last())
}

pub fn told(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Host(host) => model.host.host = Some(host),
        Msg::Doctor(findings) => model.host.findings = findings,
        _ => {}
    }
    Vec::new()
}

/// What is asked for when the screen is shown: nothing while a run is measured, if it is known
/// already.
pub fn shown(model: &Model) -> Vec<Effect> {
    if model.running() && model.host.host.is_some() { Vec::new() } else { vec![Effect::Host] }
}

/// A click gives a pane the focus.
pub fn clicked(model: &mut Model, area: Rect, at: Position) -> Vec<Effect> {
    if let Some(part) = parts::parts(model, area).iter().position(|part| part.area.contains(at)) {
        model.host.focus = part;
    }
    Vec::new()
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let parts = parts::parts(model, area);
    let focus = model.host.focus.min(parts.len().saturating_sub(1));
    for (at, part) in parts.into_iter().enumerate() {
        let inner = pane::frame(&model.look, part.title, &part.right, at == focus, part.area, buf);
        let first = model.host.scroll[at].min(part.last());
        pane::scrollbar(&model.look, first, part.lines.len(), inner, buf);
        for (row, line) in
            part.lines.into_iter().skip(first).take(usize::from(inner.height)).enumerate()
        {
            pane::line(line, row as u16, inner, buf);
        }
    }
}
