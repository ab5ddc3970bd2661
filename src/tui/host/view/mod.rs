//! Drawing of Host.

pub mod diagram;
pub mod facts;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::layout::panes;
use super::state::HostScreen;
use crate::tui::context::ViewContext;
use crate::tui::view::list::List;
use crate::tui::view::pane;

pub fn draw(state: &HostScreen, ctx: &ViewContext, area: Rect, buf: &mut Buffer) {
    let panes = panes(state, ctx.look, area);
    let focus = state.focus.min(panes.len().saturating_sub(1));
    for (at, host_pane) in panes.into_iter().enumerate() {
        let (title, right) = (host_pane.title, &host_pane.right);
        let inner = pane::frame(ctx.look, title, right, at == focus, host_pane.area, buf);
        let list = List::scrolled(state.scroll[at], host_pane.lines.len(), inner);
        list.draw_lines(ctx.look, host_pane.lines, buf);
    }
}
