//! A window that has a list or a text and nothing else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::theme::Look;
use crate::view::hits::{Hits, Part};
use crate::view::list::List;
use crate::view::pane;

/// A window with the rows of a list, or the lines of a text.
pub struct Window {
    pub title: &'static str,
    pub area: Rect,
    pub list: List,
    /// The row under the cursor; a text has none.
    pub cursor: Option<usize>,
    pub lines: Vec<Line<'static>>,
    /// The line that an empty list shows.
    pub empty: Line<'static>,
    /// Further lines, and where they are.
    pub notes: (Vec<Line<'static>>, Rect),
}

impl Window {
    pub fn new(
        title: &'static str,
        area: Rect,
        list: List,
        cursor: Option<usize>,
        lines: Vec<Line<'static>>,
    ) -> Window {
        let (empty, notes) = (Line::default(), (Vec::new(), Rect::ZERO));
        Window { title, area, list, cursor, lines, empty, notes }
    }

    pub fn draw(mut self, look: &Look, buf: &mut Buffer, hits: &mut Hits) {
        hits.list(Part::Popup, self.list);
        pane::draw_window(look, self.title, self.area, buf);
        if self.list.count == 0 {
            pane::line(self.empty, 0, self.list.area, buf);
        }
        self.list.draw(look, self.cursor, |at| std::mem::take(&mut self.lines[at]), buf);
        pane::lines(self.notes.0, 0, self.notes.1, buf);
    }
}
