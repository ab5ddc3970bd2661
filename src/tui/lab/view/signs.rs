//! The signs and colours of the bars.

use ratatui::style::Style;

use crate::record::Unit;
use crate::tui::theme::{Look, Role};

/// Returns the sign and colour of a marked session by its index.
pub fn sign(look: &Look, at: usize) -> (char, Style) {
    // Starts with a diamond, which no bar has; the markers repeat after eight.
    const ORDER: [usize; 8] = [7, 1, 2, 0, 3, 5, 6, 4];
    (look.ordinal(ORDER[at % ORDER.len()]), look.series(at + 1))
}

/// Returns the style of a bar: times in the accent colour, other units in another, and the running
/// cell in the role of what is running.
pub fn bar_style(look: &Look, unit: Unit, runs: bool) -> Style {
    match (runs, unit) {
        (true, _) => look.style(Role::Good),
        (false, Unit::Nanos) => look.series(0),
        (false, _) => look.series(4),
    }
}
