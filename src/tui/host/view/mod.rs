//! The picture of Host.

pub mod diagram;
pub mod facts;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::layout::parts;
use super::state::HostScreen;
use crate::tui::context::ViewContext;
use crate::tui::view::pane;

pub fn draw(state: &HostScreen, ctx: &ViewContext, area: Rect, buf: &mut Buffer) {
    let parts = parts(state, ctx.look, area);
    let focus = state.focus.min(parts.len().saturating_sub(1));
    for (at, part) in parts.into_iter().enumerate() {
        let inner = pane::frame(ctx.look, part.title, &part.right, at == focus, part.area, buf);
        let first = state.scroll[at].min(part.last());
        pane::scrollbar(ctx.look, first, part.lines.len(), inner, buf);
        for (row, line) in
            part.lines.into_iter().skip(first).take(usize::from(inner.height)).enumerate()
        {
            pane::line(line, row as u16, inner, buf);
        }
    }
}
