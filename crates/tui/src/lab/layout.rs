//! Positions of the panes by screen size, and the targets of a click.

use ratatui::layout::{Constraint, Layout, Rect};

use super::state::{Lab, Pane};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    pub list: Rect,
    pub bars: Rect,
    pub about: Rect,
}

impl Places {
    /// Places the panes side by side on a wide screen. Else the explanation is below, with at most
    /// the rows that `about_rows` returns for a number of columns.
    pub fn new(body: Rect, about_rows: &dyn Fn(u16) -> usize) -> Places {
        let columns = if body.width >= 100 { 22 } else { 20 };
        if body.width >= 150 {
            let about = (body.width * 3 / 10).clamp(44, 64);
            let [list, bars, about] = Layout::horizontal([
                Constraint::Length(columns),
                Constraint::Min(30),
                Constraint::Length(about),
            ])
            .areas(body);
            return Places { list, bars, about };
        }
        let wanted = about_rows(body.width.saturating_sub(2)).max(1) + 2;
        let below = wanted.min(12).min(usize::from(body.height / 3)) as u16;
        let [above, about] =
            Layout::vertical([Constraint::Min(8), Constraint::Length(below)]).areas(body);
        let [list, bars] =
            Layout::horizontal([Constraint::Length(columns), Constraint::Min(30)]).areas(above);
        Places { list, bars, about }
    }
}

/// The target of a click.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hit {
    /// An item of the list; `mark`: its checkbox.
    Item {
        item: usize,
        mark: bool,
    },
    Slot(usize),
    /// A position on the axis of the curve.
    X(f64),
    Pane(Pane),
}

/// Returns whether a filter takes a row above the list.
pub fn shows_filter(lab: &Lab) -> bool {
    lab.typing || !lab.filter.value().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_explanation_is_beside_or_below_the_bars() {
        let of = |columns, rows| Places::new(Rect::new(0, 1, columns, rows), &|_| 99);
        let wide = of(160, 38);
        assert!(wide.bars.height == 38 && wide.about.x > wide.bars.x);
        let low = of(80, 22);
        assert!(low.about.y > low.bars.y && low.about.width == 80);
    }

    #[test]
    fn the_explanation_takes_no_rows_that_its_text_does_not_need() {
        for (lines, rows) in [(0, 3), (1, 3), (5, 7), (10, 12), (99, 12)] {
            let places = Places::new(Rect::new(0, 1, 120, 38), &|_| lines);
            let Places { list, bars, about } = places;
            assert_eq!((about.height, about.bottom()), (rows, 39), "{lines}");
            assert_eq!((bars.bottom(), list.height), (about.y, bars.height), "{lines}");
        }
        let low = Places::new(Rect::new(0, 1, 80, 22), &|_| 99);
        assert_eq!(low.about.height, 7, "a third");
    }
}
