//! How keys move a cursor in a list.

use super::keymap::Action;

/// A step from a place to another of so many; `page` is what is seen at once.
pub fn moved(at: usize, count: usize, action: Action, page: usize) -> usize {
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
