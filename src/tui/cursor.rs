//! How keys move a cursor in a list.

use super::keymap::Action;

/// Moves the cursor from row `at` of `count` rows; `page` is the number of visible rows.
pub fn move_cursor(at: usize, count: usize, action: Action, page: usize) -> usize {
    let last = count.saturating_sub(1);
    match action {
        Action::Up | Action::Left => at.saturating_sub(1),
        Action::Down | Action::Right => (at + 1).min(last),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => (at + page).min(last),
        Action::HalfUp => at.saturating_sub(page / 2),
        Action::HalfDown => (at + page / 2).min(last),
        Action::Top => 0,
        Action::Bottom => last,
        _ => at,
    }
}
