//! Where the parts of Compare are.

use ratatui::layout::{Constraint, Layout, Rect};

/// The inside of the frame.
pub fn inside(body: Rect) -> Rect {
    Rect::new(body.x + 1, body.y + 1, body.width.saturating_sub(2), body.height.saturating_sub(2))
}

/// What is left below so many rows.
pub fn below(inner: Rect, above: u16) -> Rect {
    let above = above.min(inner.height);
    Rect::new(inner.x, inner.y + above, inner.width, inner.height - above)
}

/// The places of the chart and of a legend of so many rows: side by side where it is wide, else one
/// above the other.
pub fn beside_legend(body: Rect, rows: usize) -> [Rect; 2] {
    if body.width >= 110 {
        let legend = (body.width * 3 / 10).clamp(36, 60);
        Layout::horizontal([Constraint::Min(40), Constraint::Length(legend)]).areas(body)
    } else {
        let legend = (rows as u16 + 2).min(body.height / 2);
        Layout::vertical([Constraint::Min(6), Constraint::Length(legend)]).areas(body)
    }
}
