//! Bars side by side over a vertical axis, each with its mark below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::axis::{Axis, Range, fit_y, row_labels};
use super::canvas::put;
use crate::report::BARS;
use crate::theme::{Look, Role};

/// The filling of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fill {
    #[default]
    Solid,
    /// Paler below a solid edge.
    Hatched,
    /// The palest below a solid edge.
    Dotted,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct StripBar<'a> {
    /// Its first column, counted from the left of the plot.
    pub start: u16,
    /// The value in each of its columns.
    pub values: &'a [f64],
    pub style: Style,
    pub fill: Fill,
    /// The mark below it.
    pub mark: char,
}

/// A horizontal line behind the bars, with its name at the right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StripRule<'a> {
    pub at: f64,
    pub label: &'a str,
}

/// Bars over one axis. The ends of the axis are given: bars stand on its lower end.
#[derive(Clone, Copy)]
pub struct Strip<'a> {
    pub look: &'a Look,
    pub y: Axis<'a>,
    pub rules: &'a [StripRule<'a>],
    /// A row below shows the marks of the bars.
    pub marks: bool,
}

/// Where the parts of a strip are.
struct StripLayout {
    plot: Rect,
    /// The row and text of each tick.
    rows: Vec<(u16, String)>,
    range: Range,
}

impl<'a> Strip<'a> {
    pub fn new(look: &'a Look, y: Axis<'a>) -> Strip<'a> {
        Strip { look, y, rules: &[], marks: true }
    }

    /// Returns where the bars are in an area.
    pub fn plot_area(&self, area: Rect) -> Rect {
        self.lay_out(area).plot
    }

    /// Returns the row in which a bar of this value ends.
    pub fn row_at(&self, area: Rect, value: f64) -> u16 {
        let StripLayout { plot, range, .. } = self.lay_out(area);
        if plot.is_empty() { plot.y } else { Self::row_of(&range, value, plot) }
    }

    fn lay_out(&self, area: Rect) -> StripLayout {
        let range = fit_y(&self.y, None);
        let below = u16::from(self.marks && area.height > 2);
        let height = area.height - below;
        let plot = Rect { height, ..area };
        if area.width < 12 || height < 3 {
            return StripLayout { plot, rows: Vec::new(), range };
        }
        let row_of = |value| Self::row_of(&range, value, plot);
        let rows = row_labels(&range, &self.y, self.y.title, height, &row_of);
        let widest = rows.iter().map(|(_, text)| text.width()).max().unwrap_or(0) as u16;
        if widest == 0 || widest > area.width / 2 {
            return StripLayout { plot, rows: Vec::new(), range };
        }
        let taken = widest + 1;
        let plot = Rect { x: area.x + taken, width: area.width - taken, ..plot };
        StripLayout { plot, rows, range }
    }

    /// Returns the row whose middle is nearest to a value; the lower end is the lower edge of the
    /// last row.
    fn row_of(range: &Range, value: f64, plot: Rect) -> u16 {
        let share = range.share(value).clamp(0.0, 1.0);
        let up = (share * f64::from(plot.height) - 0.51).round().max(0.0) as u16;
        plot.bottom() - 1 - up.min(plot.height - 1)
    }

    /// Draws axis and rules, and `bars` over them.
    pub fn render(&self, bars: &[StripBar], area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let layout = self.lay_out(area);
        self.draw_axis(&layout, area, buf);
        self.draw_rules(&layout, buf);
        for bar in bars {
            self.draw_bar(bar, &layout, area, buf);
        }
        self.draw_rule_names(&layout, buf);
    }

    fn draw_axis(&self, layout: &StripLayout, area: Rect, buf: &mut Buffer) {
        let (line, dim) = (self.look.style(Role::Border), self.look.style(Role::Dim));
        let plot = layout.plot;
        if !layout.rows.is_empty() {
            for row in plot.top()..plot.bottom() {
                buf.set_string(plot.x - 1, row, self.look.glyph("│", "|"), line);
            }
        }
        for (row, text) in &layout.rows {
            let start = (plot.x - 1).saturating_sub(text.width() as u16);
            buf.set_string(start.max(area.x), *row, text, dim);
            buf.set_string(plot.x - 1, *row, self.look.glyph("┤", "+"), line);
        }
    }

    fn draw_rules(&self, layout: &StripLayout, buf: &mut Buffer) {
        let plot = layout.plot;
        let style = self.look.style(Role::Rule);
        for rule in self.rules {
            if let Some(row) = Self::rule_row(layout, rule) {
                let line = self.rule_sign().repeat(usize::from(plot.width));
                buf.set_string(plot.x, row, line, style);
            }
        }
    }

    fn rule_sign(&self) -> &'static str {
        self.look.glyph("┄", "-")
    }

    fn rule_row(layout: &StripLayout, rule: &StripRule) -> Option<u16> {
        let inside = (0.0..=1.0).contains(&layout.range.share(rule.at));
        inside.then(|| Self::row_of(&layout.range, rule.at, layout.plot))
    }

    /// Writes the names of the rules where no bar covers them.
    fn draw_rule_names(&self, layout: &StripLayout, buf: &mut Buffer) {
        let plot = layout.plot;
        for rule in self.rules.iter().filter(|rule| !rule.label.is_empty()) {
            let Some(row) = Self::rule_row(layout, rule) else { continue };
            let text = format!(" {} ", rule.label);
            let width = text.width() as u16;
            let is_free = |start: &u16| {
                (*start..*start + width)
                    .all(|column| buf[(column, row)].symbol() == self.rule_sign())
            };
            let last = plot.right().saturating_sub(width + 1);
            if let Some(start) = (plot.x + 1..=last).rev().find(is_free) {
                buf.set_string(start, row, text, self.look.style(Role::Rule));
            }
        }
    }

    fn draw_bar(&self, bar: &StripBar, layout: &StripLayout, area: Rect, buf: &mut Buffer) {
        let plot = layout.plot;
        let eighths = f64::from(plot.height) * 8.0;
        for (at, value) in bar.values.iter().enumerate() {
            let column = u32::from(plot.x) + u32::from(bar.start) + at as u32;
            if column >= u32::from(plot.right()) || value.is_nan() || *value <= 0.0 {
                continue;
            }
            let share = layout.range.share(*value).clamp(0.0, 1.0);
            // Something stays something.
            let filled = ((share * eighths).round() as u32).max(1);
            self.draw_column(bar, column as u16, filled, plot, buf);
        }
        let middle = u32::from(plot.x) + u32::from(bar.start) + bar.values.len() as u32 / 2;
        if plot.bottom() < area.bottom()
            && middle < u32::from(plot.right())
            && let Some(cell) = buf.cell_mut((middle as u16, plot.bottom()))
        {
            put(cell, bar.mark, bar.style);
        }
    }

    fn draw_column(&self, bar: &StripBar, column: u16, filled: u32, plot: Rect, buf: &mut Buffer) {
        for (up, row) in (plot.top()..plot.bottom()).rev().enumerate() {
            let rest = filled.saturating_sub(up as u32 * 8);
            let is_top = rest <= 8;
            let symbol = match (self.look.has_plain_bars(), bar.fill, rest.min(8)) {
                (_, _, 0) => return,
                (false, Fill::Hatched, 8) if !is_top => '▒',
                (false, Fill::Dotted, 8) if !is_top => '░',
                (false, _, rest) => BARS[rest as usize - 1],
                (true, Fill::Hatched, 8) if !is_top => ':',
                (true, Fill::Dotted, 8) if !is_top => '.',
                (true, _, 1..=3) => '_',
                (true, Fill::Hatched | Fill::Dotted, _) => '=',
                (true, Fill::Solid, _) => '#',
            };
            if let Some(cell) = buf.cell_mut((column, row)) {
                put(cell, symbol, bar.style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Scale;
    use crate::plot::pictures_tests::{ascii, show};

    fn number(value: f64) -> String {
        format!("{value:.0}")
    }

    fn bar(start: u16, values: &[f64], fill: Fill) -> StripBar<'_> {
        StripBar { start, values, style: Style::new(), fill, mark: 'o' }
    }

    #[test]
    fn marks_stand_below_bars() {
        let look = Look::default();
        let y = Axis::new(Scale::Linear, &number).between(0.0, 8.0).title("x/s");
        let bars = [bar(0, &[2.0, 3.0], Fill::Solid), bar(3, &[8.0, 5.0], Fill::Hatched)];
        let picture = show(16, 5, |area, buf| Strip::new(&look, y).render(&bars, area, buf));
        assert_eq!(picture, "     │   █\n5 x/s┤   ▒▄\n     │ ▄ ▒▒\n    0┤██ ▒▒\n       o  o");
    }

    #[test]
    fn plain_characters_and_tiny_areas_work() {
        let look = ascii();
        let y = Axis::new(Scale::Log2, &number).between(1.0, 16.0);
        let bars = [bar(0, &[2.0, 16.0], Fill::Solid), bar(3, &[4.0], Fill::Hatched)];
        let picture = show(14, 5, |area, buf| Strip::new(&look, y).render(&bars, area, buf));
        assert!(picture.is_ascii() && picture.contains('#'), "{picture}");
        for (columns, rows) in [(0, 0), (1, 1), (3, 2), (12, 3), (13, 4)] {
            show(columns, rows, |area, buf| Strip::new(&look, y).render(&bars, area, buf));
        }
        let none = Axis::new(Scale::Log10, &number);
        let odd = [bar(u16::MAX, &[f64::NAN, f64::INFINITY, -1.0], Fill::Solid)];
        show(20, 6, |area, buf| Strip::new(&look, none).render(&odd, area, buf));
    }
}
