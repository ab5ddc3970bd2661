//! The parts that all screens share.

use ratatui::layout::{Constraint, Layout, Rect};

/// The smallest screen that is drawn.
pub const SMALLEST: (u16, u16) = (80, 24);

/// The parts that all screens share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Areas {
    pub header: Rect,
    pub body: Rect,
    pub footer: Rect,
}

/// Returns where things are on a screen of this size; a smaller one than [`SMALLEST`] is treated
/// as that.
pub fn areas(size: (u16, u16)) -> Areas {
    let whole = Rect::new(0, 0, size.0.max(SMALLEST.0), size.1.max(SMALLEST.1));
    let [header, body, footer] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)])
            .areas(whole);
    Areas { header, body, footer }
}
