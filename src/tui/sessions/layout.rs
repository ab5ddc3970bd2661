//! Positions of the list, its rows and the preview.

use ratatui::layout::{Constraint, Layout, Position, Rect};

use super::state::Sessions;
use crate::tui::view::pane;

/// Returns the areas of list and preview: side by side on a wide screen, else one above the other.
pub fn areas(body: Rect) -> [Rect; 2] {
    if body.width >= 116 {
        let list = (body.width * 5 / 8).clamp(74, 120);
        Layout::horizontal([Constraint::Length(list), Constraint::Min(0)]).areas(body)
    } else {
        Layout::vertical([Constraint::Percentage(44), Constraint::Min(0)]).areas(body)
    }
}

/// Returns the area of the rows, below the titles and the filter if visible.
pub fn rows_area(inner: Rect, sessions: &Sessions) -> Rect {
    let above = 1 + u16::from(filters(sessions));
    Rect::new(
        inner.x,
        inner.y + above.min(inner.height),
        inner.width,
        inner.height.saturating_sub(above),
    )
}

/// Returns whether the filter has a row: it is being typed, or not empty.
pub fn filters(sessions: &Sessions) -> bool {
    sessions.typing || !sessions.filter.value().is_empty()
}

fn inner_area(frame: Rect) -> Rect {
    Rect::new(
        frame.x + 1,
        frame.y + 1,
        frame.width.saturating_sub(2),
        frame.height.saturating_sub(2),
    )
}

/// Returns the number of rows of the list.
pub fn rows(body: Rect, sessions: &Sessions) -> usize {
    usize::from(rows_area(inner_area(areas(body)[0]), sessions).height)
}

/// Returns the row of the list at a position on the screen.
pub fn row_at(sessions: &Sessions, body: Rect, at: Position) -> Option<usize> {
    let list = rows_area(inner_area(areas(body)[0]), sessions);
    if !list.contains(at) {
        return None;
    }
    let first = pane::first_row(sessions.cursor, sessions.matching(), usize::from(list.height));
    Some(first + usize::from(at.y - list.y)).filter(|row| *row < sessions.matching())
}
