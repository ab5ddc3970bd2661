//! The frequency of values: columns over a logarithmic axis.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::axis::{Axis, Range, Scale, choose_ticks, extremes, fit_x};
use super::canvas::put;
use crate::report::BARS;
use crate::theme::{Look, Role};

/// A histogram of bins of any width; a column's height is the logarithm of what
/// falls into its slice of the axis, so that rare values show.
#[derive(Clone, Copy)]
pub struct Histogram<'a> {
    /// Low end, high end, count.
    pub bins: &'a [(f64, f64, u64)],
    pub x: Axis<'a>,
    pub style: Style,
    /// Values to point out (p50, p99), with their names.
    pub marks: &'a [(f64, &'a str)],
    pub look: &'a Look,
}

impl<'a> Histogram<'a> {
    pub fn new(
        look: &'a Look,
        bins: &'a [(f64, f64, u64)],
        show: &'a dyn Fn(f64) -> String,
        style: Style,
    ) -> Histogram<'a> {
        Histogram { bins, x: Axis::new(Scale::Log10, show), style, marks: &[], look }
    }

    pub fn marks(self, marks: &'a [(f64, &'a str)]) -> Histogram<'a> {
        Histogram { marks, ..self }
    }

    pub fn render(&self, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        let Some(range) = self.range() else { return };
        if area.width < 3 || area.height == 0 {
            return;
        }
        let labelled = area.width >= 12 && area.height >= 3;
        let marked = labelled && area.height >= 5 && !self.marks.is_empty();
        let mut plot = area;
        if labelled {
            self.draw_labels(&range, area, buf);
            plot.height -= 1;
        }
        if marked {
            plot.y += 1;
            plot.height -= 1;
        }
        self.draw_columns(&range, plot, buf);
        if marked {
            self.draw_marks(&range, plot, buf);
        }
    }

    /// Returns the range from the lowest to the highest bin that holds something.
    fn range(&self) -> Option<Range> {
        let filled = self.bins.iter().filter(|bin| bin.2 > 0 && bin.0 <= bin.1);
        let ends = extremes(self.x.scale, filled.flat_map(|bin| [bin.0, bin.1]))?;
        Some(fit_x(&Axis { loose: true, ..self.x }, Some(ends)))
    }

    /// Draws the count in each column: a bin is spread evenly over the columns that it covers.
    fn draw_columns(&self, range: &Range, plot: Rect, buf: &mut Buffer) {
        let mut counts = vec![0.0f64; usize::from(plot.width)];
        let width = f64::from(plot.width);
        for (low, high, count) in self.bins.iter().filter(|bin| bin.2 > 0 && bin.0 <= bin.1) {
            let (from, to) = (range.share(*low) * width, range.share(*high) * width);
            if from.is_nan() || to.is_nan() || to < 0.0 || from > width {
                continue;
            }
            let (first, last) =
                (from.clamp(0.0, width - 1.0) as usize, to.clamp(0.0, width - 1.0) as usize);
            for (column, sum) in counts.iter_mut().enumerate().take(last + 1).skip(first) {
                let inside = to.min(column as f64 + 1.0) - from.max(column as f64);
                *sum += *count as f64
                    * if to - from > 1e-9 { (inside / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
            }
        }
        let max = counts.iter().copied().map(f64::ln_1p).fold(0.0, f64::max);
        let eighths = f64::from(plot.height) * 8.0;
        for (column, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            // A small count stays visible.
            let filled = ((count.ln_1p() / max * eighths).round() as u32).max(1);
            self.draw_column(plot.x + column as u16, filled, plot, buf);
        }
    }

    fn draw_column(&self, column: u16, filled: u32, plot: Rect, buf: &mut Buffer) {
        for (up, row) in (plot.top()..plot.bottom()).rev().enumerate() {
            let rest = filled.saturating_sub(up as u32 * 8).min(8);
            let symbol = match (rest, self.look.has_plain_bars()) {
                (0, _) => return,
                (rest, false) => BARS[rest as usize - 1],
                (1..=2, true) => '.',
                (3..=5, true) => ':',
                (_, true) => '#',
            };
            if let Some(cell) = buf.cell_mut((column, row)) {
                put(cell, symbol, self.style);
            }
        }
    }

    fn column_of(&self, range: &Range, value: f64, plot: Rect) -> Option<u16> {
        let share = range.share(value);
        let inside = (-1e-9..=1.0 + 1e-9).contains(&share);
        inside
            .then(|| plot.x + ((share * f64::from(plot.width)).max(0.0) as u16).min(plot.width - 1))
    }

    fn draw_labels(&self, range: &Range, area: Rect, buf: &mut Buffer) {
        let place = |values: &[f64]| -> Vec<(u16, String)> {
            let each = values.iter().filter_map(|value| {
                let text = (self.x.show)(*value);
                let last = area.right().checked_sub(text.width() as u16)?;
                let start =
                    self.column_of(range, *value, area)?.saturating_sub(text.width() as u16 / 2);
                (last >= area.x).then(|| (start.clamp(area.x, last), text))
            });
            each.collect()
        };
        fn apart(pair: &[(u16, String)]) -> bool {
            pair[0].0 + pair[0].1.width() as u16 + 2 <= pair[1].0
        }
        let most = usize::from(area.width / 3);
        let values =
            choose_ticks(range, &self.x, most, &mut |values| place(values).windows(2).all(apart));
        let mut labels = place(&values);
        if !labels.windows(2).all(apart) {
            labels.truncate(1);
        }
        for (start, text) in labels {
            buf.set_string(start, area.bottom() - 1, text, self.look.style(Role::Dim));
        }
    }

    /// Draws a line down to the columns with a name above; names that would touch are skipped.
    fn draw_marks(&self, range: &Range, plot: Rect, buf: &mut Buffer) {
        let mut free = plot.x;
        for (value, name) in self.marks {
            let Some(column) = self.column_of(range, *value, plot) else { continue };
            for row in plot.top()..plot.bottom() {
                if let Some(cell) = buf.cell_mut((column, row)).filter(|cell| cell.symbol() == " ")
                {
                    let line = if self.look.has_plain_bars() { ':' } else { '┊' };
                    put(cell, line, self.look.style(Role::Rule));
                }
            }
            let width = name.width() as u16;
            let Some(last) = plot.right().checked_sub(width) else { continue };
            let start = column.saturating_sub(width / 2).min(last).max(plot.x);
            if start >= free && width > 0 {
                buf.set_string(start, plot.y - 1, name, self.look.style(Role::Text));
                free = start + width + 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::pictures_tests::show;

    #[test]
    fn columns_over_decades() {
        let look = Look::default();
        fn text(v: f64) -> String {
            format!("{v}")
        }
        let bins = [(1.0, 10.0, 10), (10.0, 100.0, 100), (100.0, 1000.0, 1)];
        let marks = [(30.0, "p50"), (500.0, "p99")];
        let picture = show(15, 5, |area, buf| {
            Histogram::new(&look, &bins, &text, Style::new()).marks(&marks).render(area, buf)
        });
        assert_eq!(
            picture,
            "      p50   p99\n     █████   ┊\n▁▁▁▁▁█████   ┊\n██████████▁▁▁▁▁\n1          1000"
        );
    }

    #[test]
    fn empty_bins_draw_nothing() {
        let look = Look::default();
        fn text(v: f64) -> String {
            format!("{v}")
        }
        for bins in [&[][..], &[(1.0, 2.0, 0)], &[(f64::NAN, 1.0, 3)], &[(-2.0, -1.0, 3)]] {
            assert_eq!(
                show(15, 5, |area, buf| Histogram::new(&look, bins, &text, Style::new())
                    .render(area, buf))
                .trim(),
                ""
            );
        }
    }
}
