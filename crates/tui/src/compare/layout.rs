//! Positions of the parts of Compare.

use ratatui::layout::{Constraint, Layout, Rect};

/// Returns the area below the first `above` rows.
pub fn area_below(inner: Rect, above: u16) -> Rect {
    let above = above.min(inner.height);
    Rect::new(inner.x, inner.y + above, inner.width, inner.height - above)
}

/// Returns the areas of the chart and of a legend with `rows` rows: side by side on a wide screen,
/// else one above the other.
pub fn beside_legend(body: Rect, rows: usize) -> [Rect; 2] {
    if body.width >= 110 {
        let legend = (body.width * 3 / 10).clamp(36, 60);
        Layout::horizontal([Constraint::Min(40), Constraint::Length(legend)]).areas(body)
    } else {
        let legend = (rows as u16 + 2).min(body.height / 2);
        Layout::vertical([Constraint::Min(6), Constraint::Length(legend)]).areas(body)
    }
}
