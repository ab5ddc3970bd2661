//! Positions of the list, its rows and the preview.

use ratatui::layout::{Constraint, Layout, Rect};

use super::state::Sessions;
use crate::tui::view::list::List;
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

/// Returns the list inside of its frame, below the titles and the filter if visible.
pub fn list(sessions: &Sessions, inner: Rect) -> List {
    let above = Constraint::Length(1 + u16::from(filters(sessions)));
    let [_, rows] = Layout::vertical([above, Constraint::Min(0)]).areas(inner);
    List::around(sessions.cursor, sessions.matching(), rows)
}

/// Returns the list on the screen.
pub fn list_on(sessions: &Sessions, body: Rect) -> List {
    list(sessions, pane::inside(areas(body)[0]))
}

/// Returns whether the filter has a row: it is being typed, or not empty.
pub fn filters(sessions: &Sessions) -> bool {
    sessions.typing || !sessions.filter.value().is_empty()
}
