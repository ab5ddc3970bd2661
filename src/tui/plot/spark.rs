//! A curve in one line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::canvas::put;
use crate::tui::theme::{Glyphs, Look};

/// Values as columns of one line, from 0 to their largest. Where there are more values than columns a column shows the
/// largest of its values; NaN is blank.
#[derive(Debug, Clone, Copy)]
pub struct Spark<'a> {
    pub values: &'a [f64],
    /// None: the largest.
    pub max: Option<f64>,
    pub style: Style,
    /// The newest value stands at the right end.
    pub right: bool,
    pub look: &'a Look,
}

impl<'a> Spark<'a> {
    pub fn new(look: &'a Look, values: &'a [f64], style: Style) -> Spark<'a> {
        Spark { values, max: None, style, right: false, look }
    }

    pub fn max(self, max: Option<f64>) -> Spark<'a> {
        Spark { max, ..self }
    }

    pub fn right(self, right: bool) -> Spark<'a> {
        Spark { right, ..self }
    }

    /// Draws into the first line of `area`.
    pub fn render(&self, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        let columns = usize::from(area.width).min(self.values.len());
        if area.is_empty() || columns == 0 {
            return;
        }
        let largest = self.values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
        let max = self.max.filter(|max| *max > 0.0).unwrap_or(largest);
        let start = if self.right { area.right() - columns as u16 } else { area.x };
        for column in 0..columns {
            let (from, to) = (column * self.values.len() / columns, (column + 1) * self.values.len() / columns);
            let value = self.values[from..to].iter().copied().filter(|v| v.is_finite()).fold(f64::NAN, f64::max);
            if value.is_nan() {
                continue;
            }
            if let Some(cell) = buf.cell_mut((start + column as u16, area.y)) {
                put(cell, self.symbol(value / max), self.style);
            }
        }
    }

    fn symbol(&self, share: f64) -> char {
        const UNICODE: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        const ASCII: [char; 3] = ['.', ':', '|'];
        let set: &[char] = if self.look.glyphs == Glyphs::Unicode { &UNICODE } else { &ASCII };
        // 0 of 0 is NaN, which is the lowest too.
        set[((share.clamp(0.0, 1.0) * set.len() as f64) as usize).min(set.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::pictures::{ascii, show};
    use super::*;

    #[test]
    fn a_line_of_columns() {
        let look = Look::default();
        let values = [0.0, 1.0, 2.0, 4.0, f64::NAN, 8.0, 7.0];
        assert_eq!(show(9, 1, |area, buf| Spark::new(&look, &values, Style::new()).render(area, buf)), "▁▂▃▅ ██");
        assert_eq!(show(9, 1, |area, buf| Spark::new(&look, &values, Style::new()).right(true).render(area, buf)), "  ▁▂▃▅ ██");
        assert_eq!(show(3, 1, |area, buf| Spark::new(&look, &values, Style::new()).render(area, buf)), "▂▅█");
        assert_eq!(show(3, 1, |area, buf| Spark::new(&look, &[0.0, 0.0], Style::new()).render(area, buf)), "▁▁");
        let look = ascii();
        assert_eq!(show(9, 1, |area, buf| Spark::new(&look, &values, Style::new()).render(area, buf)), "...: ||");
    }
}
