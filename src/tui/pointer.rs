//! The mouse pointer: its place over a chart, and double clicks.

use std::time::Duration;

use ratatui::layout::Position;

/// Two clicks at one place within this time are a double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pointer {
    /// Where it is, over a chart; `None` elsewhere: then nothing depends on it.
    pub over: Option<Position>,
    last: Option<(Duration, Position)>,
}

impl Pointer {
    /// Notes that the button was pressed; returns whether that is the second click of two.
    pub fn press(&mut self, now: Duration, at: Position) -> bool {
        let is_second = self.last.is_some_and(|(before, place)| {
            place == at && now.saturating_sub(before) <= DOUBLE_CLICK
        });
        // A third click is the first of the next two.
        self.last = (!is_second).then_some((now, at));
        is_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_quick_clicks_at_one_place_are_a_double_click() {
        let mut pointer = Pointer::default();
        let (here, there) = (Position::new(3, 4), Position::new(4, 4));
        let mut press = |millis, at| pointer.press(Duration::from_millis(millis), at);
        assert!(!press(0, here));
        assert!(press(300, here));
        assert!(!press(400, here), "a third is none");
        assert!(!press(500, there));
        assert!(!press(2000, there));
    }
}
