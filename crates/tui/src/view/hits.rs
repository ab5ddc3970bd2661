//! The layout that a frame leaves for the next key or click: where each thing was drawn, and how
//! far lists scroll.
//!
//! A view lays out once, while it draws, and records the layout in [`Hits`]:
//!
//! - `hits.list(Part::Sessions, list)` for a list or a text that scrolls. Its rows can be clicked,
//!   and an update moves by its page: `ctx.hits.drawn(Part::Sessions).page()`.
//! - `hits.area(area, target)` for anything else that can be clicked. What is recorded later lies
//!   on top, so a pane records its whole area first, its rows and buttons after that.
//! - A popup calls `hits.cover()` before it draws: nothing below it can be clicked.
//!
//! [`draw`](super::draw) returns the hits and the model keeps them, so `update` handles a click by
//! the frame that the user saw. The model may have changed since: an index in a target or a list
//! can be out of range, and a list that was not drawn has no rows. A screen adds its parts to
//! [`Part`], and a click that is neither a row nor a pane as a variant of [`Target`].

use ratatui::layout::{Position, Rect};

use super::list::List;
use crate::keymap::Action;
use crate::keys::Key;
use crate::results::Tab;
use crate::screen::Screen;
use crate::{lab, setup};

/// A list, a text that scrolls, or a pane that takes the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The list or text of the popup on top.
    Popup,
    Sessions,
    /// A pane of Host.
    Host(usize),
    Setup(setup::SetupPane),
    Lab(lab::LabPane),
    /// The curves of Results.
    Legend,
    /// The cells of Results.
    Table,
    /// The opened cell of Results.
    Cell,
    Compare,
}

/// The effect of a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Presses a key.
    Key(Key),
    /// Goes to a screen.
    Screen(Screen),
    /// Selects or presses a row of a list.
    Row(Part, usize),
    /// Focuses a pane.
    Pane(Part),
    /// Toggles the checkbox of a row.
    Check(Part, usize),
    /// Chooses an item of a row of the workload.
    Item(usize, &'static str),
    /// Moves an end of the block sizes to a power of two.
    BlockSize(u32),
    /// Runs or copies the plan.
    Plan(Action),
    /// Goes to a column of the bar of a replay, and the last column.
    Replay(u16, u16),
    /// Shows a tab of Results.
    Tab(Tab),
    /// Sorts the table of Results by a column.
    Title(usize),
    /// Selects what is nearest on the chart.
    Chart,
}

/// The layout of the last frame, for keys and clicks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    areas: Vec<(Rect, Target)>,
    lists: Vec<(Part, List)>,
    /// First lines of the sections of a pane that shows several.
    pub sections: Vec<usize>,
    /// The chart that the pointer reads and the wheel zooms.
    chart: Option<Rect>,
}

impl Hits {
    /// Records what a click in an area does.
    pub fn area(&mut self, area: Rect, target: Target) {
        self.areas.push((area, target));
    }

    /// Records a list: each visible row can be clicked.
    pub fn list(&mut self, part: Part, list: List) {
        self.lists.push((part, list));
        for (row, area) in list.rows() {
            self.area(area, Target::Row(part, row));
        }
    }

    /// Records the chart of the screen.
    pub fn chart(&mut self, area: Rect) {
        self.chart = Some(area);
        self.area(area, Target::Chart);
    }

    /// Returns the area of the chart of the screen.
    pub fn chart_area(&self) -> Option<Rect> {
        self.chart
    }

    /// Returns the area of the chart at a position of the screen.
    pub fn chart_at(&self, at: Position) -> Option<Rect> {
        self.chart.filter(|area| area.contains(at))
    }

    /// Removes all targets: a popup covers them.
    pub fn cover(&mut self) {
        self.areas.clear();
        self.chart = None;
    }

    /// Returns the target at a position of the screen.
    pub fn target(&self, at: Position) -> Option<Target> {
        self.areas.iter().rev().find(|(area, _)| area.contains(at)).map(|(_, target)| *target)
    }

    /// Returns a list as it was drawn last; one without rows if it was not drawn.
    pub fn drawn(&self, part: Part) -> List {
        let found = self.lists.iter().rev().find(|(own, _)| *own == part);
        found.map_or_else(List::default, |(_, list)| *list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clicks_hit_the_topmost_target() {
        let mut hits = Hits::default();
        let pane = Rect::new(0, 0, 20, 6);
        hits.area(pane, Target::Pane(Part::Sessions));
        hits.list(Part::Sessions, List::around(9, 12, Rect::new(2, 1, 10, 3)));
        let row = |y| hits.target(Position::new(3, y));
        let rows = [0, 1, 3, 4].map(row);
        assert_eq!(rows[0], Some(Target::Pane(Part::Sessions)));
        assert_eq!(rows[1], Some(Target::Row(Part::Sessions, 8)));
        assert_eq!(rows[2], Some(Target::Row(Part::Sessions, 10)));
        assert_eq!(rows[3], rows[0]);
        assert_eq!(hits.target(Position::new(20, 0)), None);
        assert_eq!(hits.drawn(Part::Sessions).page(), 3);
        assert_eq!(hits.drawn(Part::Popup), List::default());
        hits.cover();
        assert_eq!(hits.target(Position::new(3, 1)), None);
    }
}
