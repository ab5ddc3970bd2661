//! A curve as one line of bars.

use crate::report::{BARS, PLAIN_BARS};
use crate::tui::theme::Look;

/// The most values of a curve.
pub const MAX: usize = 12;

/// Values that differ by less than this share of the largest are alike: their curve is flat.
const FLAT: f64 = 0.1;

/// Draws values from the smallest to the largest, or from 0 where they are alike; of more than
/// there is room for, both ends and those evenly between.
pub fn draw(look: &Look, values: &[u64], width: usize) -> String {
    let bars = if look.has_plain_bars() { PLAIN_BARS } else { BARS };
    let highest = values.iter().copied().max().unwrap_or(0);
    let shown = values.len().min(width).min(MAX);
    if shown < 2 || highest == 0 {
        return String::new();
    }
    let (lowest, highest) = (values.iter().copied().min().unwrap_or(0) as f64, highest as f64);
    let bar = |value: u64| {
        let share = if highest - lowest < FLAT * highest {
            value as f64 / highest
        } else {
            (value as f64 - lowest) / (highest - lowest)
        };
        bars[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
    };
    (0..shown).map(|at| bar(values[at * (values.len() - 1) / (shown - 1)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Glyphs;

    #[test]
    fn the_highest_is_full_and_both_ends_stay() {
        let look = Look::default();
        assert_eq!(draw(&look, &[1, 4, 8], 8), "▁▄█");
        assert_eq!(draw(&look, &[8, 1, 1, 1, 1, 4], 3), "█▁▄");
        for (values, width) in [(vec![], 8), (vec![5], 8), (vec![0, 0], 8), (vec![1, 2], 0)] {
            assert_eq!(draw(&look, &values, width), "");
        }
        let ascii = Look { glyphs: Glyphs::Ascii, ..Look::default() };
        assert_eq!(draw(&ascii, &[1, 4, 8], 8), "_-#");
        assert_eq!(draw(&look, &[u64::MAX, 1], 8), "█▁");
        // Its shape is seen wherever it begins, and what is alike has none.
        assert_eq!(draw(&look, &[1000, 1200, 1400], 8), "▁▄█");
        assert_eq!(draw(&look, &[97, 100, 98], 8), "███");
    }
}
