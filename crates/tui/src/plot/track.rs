//! One row of a scale: a bar, its expected range, and marks of other machines.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthChar;

use super::bars::EIGHTHS;
use super::canvas::put;
use crate::theme::{Colours, Look, Role};

/// A sign on the row: another machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    pub at: f64,
    pub symbol: char,
    pub style: Style,
}

/// A row of a scale. Positions are shares of the scale, clamped to 0 to 1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Track<'a> {
    /// Where the bar ends, and the interval around that.
    pub bar: Option<(f64, (f64, f64))>,
    pub style: Style,
    /// From where to where it was expected to end.
    pub expected: Option<(f64, f64)>,
    /// Others, the later ones over the earlier.
    pub marks: Vec<Mark>,
    /// Faint lines behind everything.
    pub grid: &'a [f64],
}

impl Track<'_> {
    /// Draws in the first row of `area`.
    pub fn render(&self, look: &Look, area: Rect, buf: &mut Buffer) {
        let area = Rect { height: area.height.min(1), ..area }.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        for at in self.grid {
            self.put(*at, look.glyph("┊", ":"), look.style(Role::Border), area, buf);
        }
        let end =
            self.bar.map_or(0, |(value, interval)| self.draw_bar(look, value, interval, area, buf));
        if let Some((low, high)) = self.expected {
            self.draw_range(look, low, high, end, area, buf);
        }
        for mark in &self.marks {
            let symbol = if mark.symbol.width() == Some(1) { mark.symbol } else { '|' };
            self.draw_mark(mark.at, symbol, mark.style, end, area, buf);
        }
    }

    /// Returns the bar to an eighth of a cell, and lighter to the end of its interval; the columns
    /// that it covers.
    fn draw_bar(
        &self,
        look: &Look,
        value: f64,
        (_, high): (f64, f64),
        area: Rect,
        buf: &mut Buffer,
    ) -> u16 {
        let room = u32::from(area.width) * 8;
        let place = |share: f64| (share.clamp(0.0, 1.0) * f64::from(room)).round() as u32;
        let end = if value.is_nan() { 0 } else { place(value).max(1) };
        let last = if high.is_nan() { end } else { place(high).max(end) };
        let light = if look.colours == Colours::None || look.has_plain_bars() {
            self.style
        } else {
            self.style.add_modifier(Modifier::DIM)
        };
        for column in 0..last.div_ceil(8) {
            let Some(cell) = buf.cell_mut((area.x + column as u16, area.y)) else { break };
            let (start, within) = (column * 8, end.saturating_sub(column * 8).min(8));
            match look.has_plain_bars() {
                true if within >= 4 || (column == 0 && within > 0) => put(cell, '#', self.style),
                true if last - start >= 4 => put(cell, '=', light),
                true => {}
                // An interval that ends in the last cell of the bar is too short to show.
                false if within > 0 => put(cell, EIGHTHS[within as usize], self.style),
                false if last - start >= 4 => put(cell, '▒', light),
                false => {}
            }
        }
        (end / 8) as u16
    }

    /// Draws `├──┤`; one sign where both ends are in one column.
    fn draw_range(&self, look: &Look, low: f64, high: f64, end: u16, area: Rect, buf: &mut Buffer) {
        let style = look.style(Role::Text);
        let (Some(from), Some(to)) = (column(low.min(high), area), column(low.max(high), area))
        else {
            return;
        };
        let signs =
            if look.has_plain_bars() { ['|', '[', '-', ']'] } else { ['│', '├', '─', '┤'] };
        for at in from..=to {
            let sign = match (at == from, at == to) {
                (true, true) => signs[0],
                (true, false) => signs[1],
                (false, true) => signs[3],
                // Between its ends the bar stays whole.
                (false, false) if at < end => continue,
                (false, false) => signs[2],
            };
            self.write(at, sign, style, end, area, buf);
        }
    }

    fn draw_mark(
        &self,
        share: f64,
        symbol: char,
        style: Style,
        end: u16,
        area: Rect,
        buf: &mut Buffer,
    ) {
        if let Some(at) = column(share, area) {
            self.write(at, symbol, style, end, area, buf);
        }
    }

    /// Writes a sign; on the bar it is cut out of it, so that it shows in every theme.
    fn write(&self, at: u16, symbol: char, style: Style, end: u16, area: Rect, buf: &mut Buffer) {
        let Some(cell) = buf.cell_mut((area.x + at, area.y)) else { return };
        if at >= end {
            return put(cell, symbol, style);
        }
        put(cell, symbol, self.style.add_modifier(Modifier::REVERSED));
    }

    fn put(&self, share: f64, symbol: &str, style: Style, area: Rect, buf: &mut Buffer) {
        let at = column(share, area).filter(|_| (0.0..=1.0).contains(&share));
        if let Some(cell) = at.and_then(|at| buf.cell_mut((area.x + at, area.y))) {
            cell.set_symbol(symbol).set_style(style);
        }
    }
}

/// Returns the column of a share; `None`: nowhere.
pub fn column(share: f64, area: Rect) -> Option<u16> {
    let last = area.width.checked_sub(1)?;
    (!share.is_nan()).then(|| ((share.clamp(0.0, 1.0) * f64::from(area.width)) as u16).min(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::pictures_tests::{ascii, show};

    fn track() -> Track<'static> {
        let bar = Some((0.5, (0.45, 0.61)));
        let marks = vec![
            Mark { at: 0.95, symbol: '■', style: Style::new() },
            Mark { at: f64::NAN, symbol: '!', style: Style::new() },
        ];
        Track { bar, expected: Some((0.7, 0.85)), marks, grid: &[0.25, 0.65], ..Track::default() }
    }

    #[test]
    fn track_parts_have_their_places() {
        let look = Look::default();
        let picture =
            |look: &Look, track: &Track| show(20, 1, |area, buf| track.render(look, area, buf));
        assert_eq!(picture(&look, &track()), "██████████▒▒ ┊├──┤ ■");
        assert_eq!(
            picture(&ascii(), &Track { marks: Vec::new(), ..track() }),
            "##########== :[--]"
        );
        let inside = Track { expected: Some((0.1, 0.1)), ..track() };
        assert_eq!(picture(&look, &inside), "██│███████▒▒ ┊     ■");
        // Marks for expected values, values beyond the scale, and values that are not numbers.
        assert_eq!(
            picture(&look, &Track { expected: Some((0.2, 7.0)), ..Track::default() }),
            "    ├──────────────┤"
        );
        assert_eq!(
            picture(
                &look,
                &Track { bar: Some((f64::NAN, (f64::NAN, f64::NAN))), ..Track::default() }
            ),
            ""
        );
        assert_eq!(
            picture(&look, &Track { bar: Some((-1.0, (f64::NAN, f64::NAN))), ..Track::default() }),
            "▏"
        );
    }

    #[test]
    fn marks_are_reversed_on_the_bar() {
        let look = Look::default();
        let mut buf = Buffer::empty(Rect::new(0, 0, 20, 1));
        let marks = vec![Mark { at: 0.1, symbol: '■', style: look.series(1) }];
        Track { marks, style: look.series(0), ..track() }.render(&look, buf.area, &mut buf);
        let cell = &buf[(2, 0)];
        assert_eq!((cell.symbol(), cell.modifier.contains(Modifier::REVERSED)), ("■", true));
    }
}
