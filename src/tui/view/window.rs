//! The frame of what lies over a screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};

use super::pane;
use crate::tui::theme::Look;

/// Centres it in the body, at this size if there is room.
pub fn middle(body: Rect, columns: u16, rows: u16) -> Rect {
    let (columns, rows) = (columns.min(body.width.saturating_sub(2)), rows.min(body.height));
    Rect::new(body.x + (body.width - columns) / 2, body.y + (body.height - rows) / 2, columns, rows)
}

/// Draws an empty frame over the screen; returns its inside.
pub fn draw_window(look: &Look, title: &str, area: Rect, buf: &mut Buffer) -> Rect {
    Clear.render(area, buf);
    pane::frame(look, title, "", true, area, buf)
}
