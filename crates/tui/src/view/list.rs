//! The rows of a list that scrolls: where they are, for drawing and for the mouse.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::pane;
use crate::keymap::Action;
use crate::theme::{Look, Role};

/// The visible rows of a list, or the visible lines of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

    /// Returns the number of visible rows, at least one.
    pub fn page(&self) -> usize {
        usize::from(self.area.height).max(1)
    }

    /// Returns the first row of the last page.
    pub fn last_page(&self) -> usize {
        self.count.saturating_sub(self.page())
    }

    /// Returns the first visible line of a text after an action.
    pub fn scroll(&self, action: Action) -> usize {
        move_cursor(self.first, self.last_page() + 1, action, self.page())
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
    fn texts_scroll_to_their_last_page() {
        let area = Rect::new(2, 5, 10, 3);
        let text = List::scrolled(99, 12, area);
        assert_eq!((text.first, text.last_page()), (9, 9));
        assert_eq!([Action::Down, Action::Up, Action::Top].map(|to| text.scroll(to)), [9, 8, 0]);
        assert_eq!(List::scrolled(99, 0, area).scroll(Action::Bottom), 0);
        assert_eq!(List::default().scroll(Action::PageDown), 0);
    }
}
