//! Positions of the panes by screen size, and the targets of a click.

use ratatui::layout::{Constraint, Layout, Rect};

use super::state::{Lab, Pane};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    pub list: Rect,
    pub bars: Option<Rect>,
    pub about: Option<Rect>,
}

impl Places {
    /// Places the panes side by side on a wide screen. Else the explanation is below the bars, with
    /// at most the rows that `about_rows` returns for a number of columns, or replaces them while
    /// it has the focus if there is no room below.
    pub fn new(body: Rect, focus: Pane, about_rows: &dyn Fn(u16) -> usize) -> Places {
        let wide = body.width >= 150;
        let list = match body.width {
            100.. => 22,
            70.. => 20,
            _ => 17,
        };
        if wide {
            let about = (body.width * 3 / 10).clamp(44, 64);
            let [list, bars, about] = Layout::horizontal([
                Constraint::Length(list),
                Constraint::Min(30),
                Constraint::Length(about),
            ])
            .areas(body);
            return Places { list, bars: Some(bars), about: Some(about) };
        }
        let below = if body.height >= 20 {
            let wanted = about_rows(body.width.saturating_sub(2)).max(1) + 2;
            wanted.min(12).min(usize::from(body.height / 3)) as u16
        } else {
            0
        };
        let [above, about] =
            Layout::vertical([Constraint::Min(8), Constraint::Length(below)]).areas(body);
        let [list, bars] =
            Layout::horizontal([Constraint::Length(list), Constraint::Min(30)]).areas(above);
        match (below > 0, focus) {
            (true, _) => Places { list, bars: Some(bars), about: Some(about) },
            (false, Pane::About) => Places { list, bars: None, about: Some(bars) },
            (false, _) => Places { list, bars: Some(bars), about: None },
        }
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

/// Returns the inside of a frame without its outer columns.
pub fn inner_area(inner: Rect) -> Rect {
    Rect::new(inner.x + 1, inner.y, inner.width.saturating_sub(2), inner.height)
}

/// Returns the inside of a frame, as [`pane::frame`](crate::tui::view::pane::frame) does.
pub fn within(area: Rect) -> Rect {
    Rect::new(area.x + 1, area.y + 1, area.width.saturating_sub(2), area.height.saturating_sub(2))
}

/// Returns whether a filter takes a row above the list.
pub fn shows_filter(lab: &Lab) -> bool {
    lab.typing || !lab.filter.value().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_explanation_is_beside_below_or_in_place_of_the_bars() {
        let of = |columns, rows, focus| Places::new(Rect::new(0, 1, columns, rows), focus, &|_| 99);
        let wide = of(160, 38, Pane::Bars);
        assert!(wide.bars.unwrap().height == 38 && wide.about.unwrap().x > wide.bars.unwrap().x);
        let low = of(80, 22, Pane::Bars);
        assert!(low.about.unwrap().y > low.bars.unwrap().y && low.about.unwrap().width == 80);
        assert_eq!(of(60, 14, Pane::Bars).about, None);
        assert_eq!(of(60, 14, Pane::About).bars, None);
    }

    #[test]
    fn the_explanation_takes_no_rows_that_its_text_does_not_need() {
        for (lines, rows) in [(0, 3), (1, 3), (5, 7), (10, 12), (99, 12)] {
            let places = Places::new(Rect::new(0, 1, 120, 38), Pane::Bars, &|_| lines);
            let (bars, about) = (places.bars.unwrap(), places.about.unwrap());
            assert_eq!((about.height, about.bottom()), (rows, 39), "{lines}");
            assert_eq!((bars.bottom(), places.list.height), (about.y, bars.height), "{lines}");
        }
        let low = Places::new(Rect::new(0, 1, 80, 22), Pane::Bars, &|_| 99);
        assert_eq!(low.about.unwrap().height, 7, "a third");
    }
}
