//! Horizontal bars: a label, a bar to an eighth of a cell, a figure.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::canvas::put;
use crate::theme::{Look, Role};

/// A cell filled to 0 to 8 eighths.
pub(super) const EIGHTHS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// A piece of a bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    pub value: f64,
    pub style: Style,
    /// Which of [`Look::texture`] it is filled with.
    pub texture: usize,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bar<'a> {
    pub label: &'a str,
    /// One part: a plain bar. Several stand end to end.
    pub parts: Vec<Part>,
    pub figure: &'a str,
}

impl<'a> Bar<'a> {
    pub fn new(label: &'a str, value: f64, style: Style, figure: &'a str) -> Bar<'a> {
        Bar { label, parts: vec![Part { value, style, texture: 0 }], figure }
    }
}

/// Bars below each other, on one scale.
#[derive(Debug, Clone, Copy)]
pub struct Bars<'a> {
    pub bars: &'a [Bar<'a>],
    /// None: the largest.
    pub max: Option<f64>,
    pub look: &'a Look,
}

/// The columns of label, bar and figure.
struct Columns {
    label: u16,
    bar: u16,
    figure: u16,
}

impl<'a> Bars<'a> {
    pub fn new(look: &'a Look, bars: &'a [Bar<'a>]) -> Bars<'a> {
        Bars { bars, max: None, look }
    }

    pub fn max(self, max: f64) -> Bars<'a> {
        Bars { max: Some(max), ..self }
    }

    /// Draws one row per bar from the top; bars that do not fit are dropped.
    pub fn render(&self, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let (columns, max) = (self.columns(area.width), self.scale_max());
        for (bar, row) in self.bars.iter().zip(area.rows()) {
            if columns.label > 0 {
                buf.set_stringn(
                    row.x,
                    row.y,
                    bar.label,
                    usize::from(columns.label),
                    self.look.style(Role::Text),
                );
            }
            if columns.figure > 0 {
                let start = row.right() - (bar.figure.width() as u16).min(columns.figure);
                buf.set_stringn(
                    start,
                    row.y,
                    bar.figure,
                    usize::from(columns.figure),
                    self.look.style(Role::Number),
                );
            }
            let left = row.x + columns.label + u16::from(columns.label > 0);
            self.draw_bar(bar, max, Rect::new(left, row.y, columns.bar, 1), buf);
        }
    }

    /// Returns the columns that labels take of `width`.
    pub fn label_width(&self, width: u16) -> u16 {
        self.columns(width).label
    }

    /// Returns the widths of the parts; the bar keeps at least a third of the width: the label
    /// gives way first, then the figure.
    fn columns(&self, width: u16) -> Columns {
        let widest = |text: fn(&Bar<'a>) -> &'a str| {
            self.bars.iter().map(|bar| text(bar).width()).max().unwrap_or(0).min(400) as u16
        };
        let (mut label, mut figure) = (widest(|bar| bar.label), widest(|bar| bar.figure));
        let bar = (width / 3).max(3);
        let spaces = u16::from(label > 0) + u16::from(figure > 0);
        if label + figure + spaces + bar > width {
            label = label.min(width.saturating_sub(figure + spaces + bar));
        }
        if label + figure + spaces + bar > width {
            figure = 0;
        }
        let used = label + u16::from(label > 0) + figure + u16::from(figure > 0);
        Columns { label, bar: width.saturating_sub(used), figure }
    }

    /// Returns the value of the full width; above 0.
    fn scale_max(&self) -> f64 {
        let totals = self.bars.iter().map(|bar| {
            bar.parts.iter().map(|p| p.value.max(0.0)).filter(|v| v.is_finite()).sum::<f64>()
        });
        let largest = || totals.filter(|total| total.is_finite()).reduce(f64::max);
        self.max
            .filter(|max| max.is_finite())
            .or_else(largest)
            .filter(|max| *max > 0.0)
            .unwrap_or(1.0)
    }

    fn draw_bar(&self, bar: &Bar, max: f64, area: Rect, buf: &mut Buffer) {
        // In eighths of a cell.
        let room = u32::from(area.width) * 8;
        let place = |value: f64| ((value / max).clamp(0.0, 1.0) * f64::from(room)).round() as u32;
        let mut sum = 0.0;
        let mut end = 0;
        for part in &bar.parts {
            if part.value.is_finite() && part.value > 0.0 {
                let start = end;
                sum += part.value;
                end = place(sum).max(start);
                // A small value stays visible, if there is room.
                if end == start && end < room && (start == 0 || bar.parts.len() == 1) {
                    end += 1;
                }
                self.fill(start, end, part, area, buf);
            }
        }
    }

    /// Fills from one eighth to another.
    fn fill(&self, start: u32, end: u32, part: &Part, area: Rect, buf: &mut Buffer) {
        let (plain, style) = (self.look.has_plain_bars(), part.style);
        for column in start / 8..end.div_ceil(8) {
            let Some(cell) = buf.cell_mut((area.x + column as u16, area.y)) else { return };
            let (from, to) =
                (start.max(column * 8) - column * 8, end.min(column * 8 + 8) - column * 8);
            // A cell shows one part on the left; the next one behind it, if there are colours.
            let texture = self.look.texture(part.texture);
            if plain || texture != '█' {
                if to - from >= 4 || (from == 0 && column == 0) {
                    put(cell, texture, style);
                }
            } else if from > 0 {
                if let (Some(colour), 8) = (style.fg, to) {
                    cell.set_bg(colour);
                } else if to - from >= 4 {
                    put(cell, '█', style);
                }
            } else {
                put(cell, EIGHTHS[to as usize], style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::pictures_tests::{ascii, show};
    use crate::theme::Colours;

    #[test]
    fn bars_have_eighths() {
        let look = Look::default();
        let bars = [
            Bar::new("read", 8.0, Style::new(), "8.0"),
            Bar::new("mmap", 2.3, Style::new(), "2.3"),
            Bar::new("tiny", 0.001, Style::new(), "0.0"),
            Bar::new("none", f64::NAN, Style::new(), "-"),
        ];
        let picture = show(17, 4, |area, buf| Bars::new(&look, &bars).render(area, buf));
        assert_eq!(
            picture,
            "read ████████ 8.0\nmmap ██▎      2.3\ntiny ▏        0.0\nnone            -"
        );
        let look = ascii();
        let picture = show(17, 2, |area, buf| Bars::new(&look, &bars).render(area, buf));
        assert_eq!(picture, "read ######## 8.0\nmmap ##       2.3");
    }

    #[test]
    fn parts_stand_end_to_end() {
        let parts = || {
            vec![
                Part { value: 0.5, style: Style::new(), texture: 0 },
                Part { value: 0.25, style: Style::new(), texture: 1 },
            ]
        };
        let bars = [Bar { parts: parts(), ..Bar::default() }];
        let look = Look { colours: Colours::None, ..Look::default() };
        assert_eq!(
            show(8, 1, |area, buf| Bars::new(&look, &bars).max(1.0).render(area, buf)),
            "████▓▓"
        );
        let look = ascii();
        assert_eq!(
            show(8, 1, |area, buf| Bars::new(&look, &bars).max(1.0).render(area, buf)),
            "####=="
        );
    }
}
