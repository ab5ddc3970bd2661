//! The rows of a list that scrolls: where they are, for drawing and for the mouse.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::pane;
use crate::keymap::Action;
use crate::theme::{Look, Role};

/// The visible rows of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct List {
    pub area: Rect,
    /// The first visible row.
    pub first: usize,
    /// All rows.
    pub count: usize,
}

impl List {
    /// Returns a list that shows the row under its cursor.
    pub fn around(cursor: usize, count: usize, area: Rect) -> List {
        let cursor = cursor.min(count.saturating_sub(1));
        List { area, first: pane::first_row(cursor, count, usize::from(area.height)), count }
    }

    /// Returns a text that is scrolled, at most to its end.
    pub fn scrolled(scroll: usize, count: usize, area: Rect) -> List {
        List { area, first: scroll.min(count.saturating_sub(usize::from(area.height))), count }
    }

    /// Returns the visible rows with their places on the screen.
    pub fn rows(&self) -> impl Iterator<Item = (usize, Rect)> + use<> {
        (self.first..self.count).zip(self.area.rows())
    }

    /// Returns the row at a place of the screen.
    pub fn row_at(&self, at: Position) -> Option<usize> {
        let row = self.area.contains(at).then(|| usize::from(at.y - self.area.y))?;
        Some(self.first + row).filter(|row| *row < self.count)
    }

    /// Draws the visible ones of these lines, and the scroll bar.
    pub fn draw_lines(&self, look: &Look, lines: Vec<Line<'static>>, buf: &mut Buffer) {
        pane::lines(lines.into_iter().skip(self.first), 0, self.area, buf);
        pane::scrollbar(look, self.first, self.count, self.area, buf);
    }

    /// Draws the visible rows and the scroll bar; `selected`: the row under the cursor, if it has
    /// the focus.
    pub fn draw(
        &self,
        look: &Look,
        selected: Option<usize>,
        mut line: impl FnMut(usize) -> Line<'static>,
        buf: &mut Buffer,
    ) {
        for (at, place) in self.rows() {
            pane::line(line(at), 0, place, buf);
            if selected == Some(at) {
                pane::select(look.style(Role::Selected), 0, place, buf);
            }
        }
        pane::scrollbar(look, self.first, self.count, self.area, buf);
    }
}

/// Returns the element after `one`, or before it, of several in a ring.
pub fn next_of<T: Copy + PartialEq>(ring: &[T], one: T, back: bool) -> T {
    let at = ring.iter().position(|other| *other == one).unwrap_or(0);
    let step = if back { ring.len().saturating_sub(1) } else { 1 };
    ring.get((at + step) % ring.len().max(1)).copied().unwrap_or(one)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_row_of_the_list_or_none() {
        let area = Rect::new(2, 5, 10, 3);
        let list = List::around(9, 12, area);
        let row = |y| list.row_at(Position::new(3, y));
        assert_eq!([4, 5, 7, 8].map(row), [None, Some(8), Some(10), None]);
        assert_eq!(list.row_at(Position::new(1, 5)), None);
        let short = List::around(7, 2, area);
        assert_eq!([5, 6, 7].map(|y| short.row_at(Position::new(3, y))), [Some(0), Some(1), None]);
        assert_eq!(List::scrolled(99, 12, area).first, 9);
        assert_eq!(List::scrolled(99, 0, area).row_at(Position::new(3, 5)), None);
    }
}
