//! An interval drawn around 1, on a logarithmic scale that is the same for all rows.

use crate::analysis::times;
use crate::stats::Ratio;

/// Columns of a bar, narrow and wide; odd, so that 1 is in the middle.
const WIDTH: usize = 9;
const WIDE: usize = 21;
/// Lines at least this wide have wide bars.
const WIDE_FROM: usize = 110;
/// Range of the scale's end: noise is not magnified, and one extreme does not flatten the rest.
const END_RANGE: (f64, f64) = (1.05, 8.0);

/// From 1 / `end` to `end`.
pub struct Scale {
    end: f64,
    width: usize,
}

impl Scale {
    /// Creates the scale for these ratios, in lines of this many columns.
    pub fn for_ratios(ratios: &[Option<Ratio>], columns: usize) -> Scale {
        let width = if columns >= WIDE_FROM { WIDE } else { WIDTH };
        Scale::with_width(ratios.iter().copied(), width)
    }

    /// Creates the scale for these ratios, in bars of at most this many columns.
    pub fn with_width(ratios: impl Iterator<Item = Option<Ratio>>, width: usize) -> Scale {
        let ends = ratios.flatten().flat_map(|of| [Some(of.ratio), of.low, of.high]).flatten();
        let largest = ends.map(|end| end.ln().abs()).fold(0.0, f64::max);
        let width = width.max(WIDTH);
        Scale {
            end: largest.exp().clamp(END_RANGE.0, END_RANGE.1),
            width: width - usize::from(width.is_multiple_of(2)),
        }
    }

    /// Returns the columns of a bar.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the ends of the scale, for the column's head: `0.50 2.00`; with 1 in the middle
    /// where there is room for it.
    pub fn title(&self) -> String {
        let (low, high) = (times(1.0 / self.end), times(self.end));
        let space = self.width.saturating_sub(low.len() + high.len()).max(1);
        let mut title = format!("{low}{}{high}", " ".repeat(space));
        let middle = self.width / 2;
        if title.get(middle - 1..middle + 2).is_some_and(|around| around.trim().is_empty()) {
            title.replace_range(middle..=middle, "1");
        }
        title
    }

    /// Returns the column of a ratio, and whether it is off the scale.
    fn place(&self, ratio: f64) -> (usize, bool) {
        let half = (self.width / 2) as f64;
        let at = ratio.ln() / self.end.ln();
        (((at.clamp(-1.0, 1.0) + 1.0) * half).round() as usize, at.abs() > 1.0 + 1e-9)
    }

    /// Draws `  |--o--  `: the interval with its ratio, and the position of 1.
    pub fn bar(&self, ratio: Option<&Ratio>, plain: bool) -> String {
        let [unity, line, middle] = if plain { ['|', '-', 'o'] } else { ['│', '─', '●'] };
        let mut bar = vec![' '; self.width];
        bar[self.width / 2] = unity;
        if let Some(ratio) = ratio {
            if let Some((low, high)) = ratio.interval() {
                let ((from, before), (to, beyond)) = (self.place(low), self.place(high));
                bar[from..=to.max(from)].fill(line);
                // The line must not hide the position of 1: an interval that does not reach it may
                // share its column.
                bar[self.width / 2] = unity;
                bar[0] = if before { '<' } else { bar[0] };
                bar[self.width - 1] = if beyond { '>' } else { bar[self.width - 1] };
            }
            let (at, outside) = self.place(ratio.ratio);
            bar[at] = if !outside {
                middle
            } else if ratio.ratio < 1.0 {
                '<'
            } else {
                '>'
            };
        }
        bar.into_iter().collect()
    }
}
