//! The signs and colours of what is on the bars.

use ratatui::style::Style;

use crate::record::Unit;
use crate::tui::theme::{Look, Role};

/// Sign and colour of another on the bars, by its place among all.
pub fn sign(look: &Look, at: usize) -> (char, Style) {
    // The first is a diamond, which no bar has; the markers come round after eight.
    const ORDER: [usize; 8] = [3, 1, 2, 0, 7, 5, 6, 4];
    (look.marker(ORDER[at % ORDER.len()]), look.series(at + 1))
}

/// Times have the accent; what has a scale of its own has another colour, and the cell that runs is
/// that of what goes on.
pub fn bar_style(look: &Look, unit: Unit, runs: bool) -> Style {
    match (runs, unit) {
        (true, _) => look.style(Role::Good),
        (false, Unit::Nanos) => look.series(0),
        (false, _) => look.series(4),
    }
}
