//! Values as a line of small bars.

use crate::report::{BARS, PLAIN_BARS};
use crate::theme::Look;

/// Returns a bar for each value, between these ends.
pub fn sparkline(
    look: &Look,
    values: impl Iterator<Item = f64>,
    (lowest, highest): (f64, f64),
) -> String {
    let bars = if look.has_plain_bars() { PLAIN_BARS } else { BARS };
    let share = |value: f64| (value - lowest) / (highest - lowest);
    values.map(|value| bars[((share(value) * 8.0).ceil() as usize).clamp(1, 8) - 1]).collect()
}
