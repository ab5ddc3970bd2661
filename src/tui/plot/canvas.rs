//! Dots and lines in a rectangle of cells: eight Braille dots per cell, or one character that reads like a line.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

/// Draws into `area` and nowhere else. Dots are counted from the left and from the top.
pub(super) struct Canvas<'b> {
    pub buf: &'b mut Buffer,
    pub area: Rect,
    pub ascii: bool,
}

/// A pattern along a line: so many dots on, so many off, and where in it the next dot is.
#[derive(Clone, Copy)]
pub(super) struct Dash {
    pub on: u32,
    pub off: u32,
    pub at: u32,
}

impl Dash {
    pub const SOLID: Dash = Dash { on: 1, off: 0, at: 0 };

    fn next(&mut self) -> bool {
        let shown = self.at < self.on;
        self.at = (self.at + 1) % (self.on + self.off).max(1);
        shown
    }
}

/// Sets what a cell shows; its background stays.
pub(super) fn put(cell: &mut Cell, symbol: char, style: Style) {
    cell.set_char(symbol);
    cell.modifier = Modifier::empty();
    cell.fg = ratatui::style::Color::Reset;
    cell.set_style(style);
}

/// The dots of a Braille cell; 0 for any other.
fn braille(cell: &Cell) -> u32 {
    match cell.symbol().chars().next().map_or(0, u32::from) {
        code @ 0x2800..=0x28ff => code - 0x2800,
        _ => 0,
    }
}

const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl Canvas<'_> {
    /// Columns and rows of dots in one cell.
    pub fn grain(ascii: bool) -> (u16, u16) {
        if ascii { (1, 3) } else { (2, 4) }
    }

    /// Columns and rows of dots.
    pub fn size(&self) -> (f64, f64) {
        let (across, down) = Self::grain(self.ascii);
        (f64::from(self.area.width) * f64::from(across), f64::from(self.area.height) * f64::from(down))
    }

    /// The cell that holds a dot.
    pub fn cell_of(&self, x: f64, y: f64) -> Option<(u16, u16)> {
        let (width, height) = self.size();
        let inside = (-0.5..width - 0.5).contains(&x) && (-0.5..height - 0.5).contains(&y);
        let (across, down) = Self::grain(self.ascii);
        inside.then(|| (self.area.x + x.round() as u16 / across, self.area.y + y.round() as u16 / down))
    }

    pub fn cell(&mut self, column: u16, row: u16) -> Option<&mut Cell> {
        if self.area.contains((column, row).into()) { self.buf.cell_mut((column, row)) } else { None }
    }

    pub fn is_blank(&self, column: u16, row: u16) -> bool {
        self.area.contains((column, row).into()) && self.buf.cell((column, row)).is_some_and(|cell| cell.symbol() == " ")
    }

    /// One more dot in its cell, which takes the style.
    fn dot(&mut self, x: i32, y: i32, style: Style) {
        let (column, row) = (x.div_euclid(2), y.div_euclid(4));
        if x < 0 || y < 0 || column >= i32::from(self.area.width) || row >= i32::from(self.area.height) {
            return;
        }
        if let Some(cell) = self.buf.cell_mut((self.area.x + column as u16, self.area.y + row as u16)) {
            let dots = braille(cell) | BITS[y as usize % 4][x as usize % 2];
            put(cell, char::from_u32(0x2800 + dots).unwrap_or(' '), style);
        }
    }

    /// A dot of what stays behind the curves: only where nothing else is but such dots, which are dim.
    pub fn back_dot(&mut self, x: i32, y: i32, style: Style) {
        if x < 0 || y < 0 {
            return;
        }
        let ascii = self.ascii;
        let (across, down) = Self::grain(ascii);
        let (column, row) = (x / i32::from(across), y / i32::from(down));
        let Some(cell) = self.cell(self.area.x.saturating_add(column as u16), self.area.y.saturating_add(row as u16)) else {
            return;
        };
        let blank = cell.symbol() == " ";
        if ascii {
            if blank {
                put(cell, ':', style);
            }
        } else if blank || (braille(cell) != 0 && cell.modifier.contains(Modifier::DIM)) {
            self.dot(x, y, style.add_modifier(Modifier::DIM));
        }
    }

    /// A line from dot to dot; what lies outside is cut off.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), style: Style, dash: &mut Dash) {
        let Some((from, to)) = clip(from, to, self.size()) else { return };
        if self.ascii { self.ascii_line(from, to, style, dash) } else { self.dot_line(from, to, style, dash) }
    }

    fn dot_line(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), style: Style, dash: &mut Dash) {
        let flat = (x1 - x0).abs() >= (y1 - y0).abs();
        let (start, end, other, rise) = if flat { (x0, x1, y0, (y1 - y0) / (x1 - x0)) } else { (y0, y1, x0, (x1 - x0) / (y1 - y0)) };
        let rise = if rise.is_finite() { rise } else { 0.0 };
        walk(start, end, |along| {
            let across = (other + (along - start) * rise).round() as i32;
            if dash.next() {
                let along = along as i32;
                if flat { self.dot(along, across, style) } else { self.dot(across, along, style) }
            }
        });
    }

    /// One character per column, or per row where the line is steep.
    fn ascii_line(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), style: Style, dash: &mut Dash) {
        // In cells; a row has three heights, its middle is the row's own number.
        let (row0, row1) = ((y0 - 1.0) / 3.0, (y1 - 1.0) / 3.0);
        let (wide, high) = (x1 - x0, row1 - row0);
        let slant = if wide * high > 0.0 { '\\' } else { '/' };
        if wide.abs() >= high.abs() {
            let rise = if wide == 0.0 { 0.0 } else { high / wide };
            walk(x0, x1, |column| {
                let row = row0 + (column - x0) * rise;
                let level = ((row - row.round()) * 3.0).round() as i32;
                let symbol = match level {
                    _ if rise.abs() > 0.5 => slant,
                    -1 => '\'',
                    1 => '.',
                    _ => '-',
                };
                self.character(column, row.round(), symbol, style, dash);
            });
        } else {
            let run = wide / high;
            let symbol = if run.abs() < 0.4 { '|' } else { slant };
            walk(row0, row1, |row| self.character(x0 + (row - row0) * run, row, symbol, style, dash));
        }
    }

    fn character(&mut self, column: f64, row: f64, symbol: char, style: Style, dash: &mut Dash) {
        let place = (column.round().max(0.0) as u16, row.max(0.0) as u16);
        let inside = place.0 < self.area.width && place.1 < self.area.height;
        if dash.next()
            && inside
            && let Some(cell) = self.cell(self.area.x + place.0, self.area.y + place.1)
        {
            put(cell, symbol, style);
        }
    }
}

/// Every whole number from one to the other, in that direction.
fn walk(from: f64, to: f64, mut each: impl FnMut(f64)) {
    let (first, last) = (from.round(), to.round());
    let count = (last - first).abs() as u32;
    let step = if last < first { -1.0 } else { 1.0 };
    for i in 0..=count {
        each(first + step * f64::from(i));
    }
}

/// The part of a line that lies inside (Liang and Barsky). Half a dot around the outer dots is inside.
fn clip((x0, y0): (f64, f64), (x1, y1): (f64, f64), (width, height): (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
    // A hair less than half, so that rounding stays inside too.
    const HALF: f64 = 0.499;
    let (wide, high) = (x1 - x0, y1 - y0);
    let (mut first, mut last) = (0.0f64, 1.0f64);
    for (step, room) in [(-wide, x0 + HALF), (wide, width - 1.0 + HALF - x0), (-high, y0 + HALF), (high, height - 1.0 + HALF - y0)] {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            first = first.max(room / step);
        } else {
            last = last.min(room / step);
        }
    }
    let at = |part: f64| (x0 + part * wide, y0 + part * high);
    (first <= last).then(|| (at(first), at(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_where_they_leave() {
        let (from, to) = clip((-10.0, 5.0), (30.0, 5.0), (20.0, 10.0)).unwrap();
        assert!((from.0 + 0.5).abs() < 0.01 && (to.0 - 19.5).abs() < 0.01 && from.1 == 5.0 && to.1 == 5.0);
        let (from, to) = clip((0.0, -10.0), (20.0, 10.0), (20.0, 20.0)).unwrap();
        assert!((from.0 - from.1 - 10.0).abs() < 1e-9 && (to.0 - 19.5).abs() < 0.01);
        assert_eq!(clip((-5.0, 0.0), (-1.0, 9.0), (20.0, 10.0)), None);
        assert_eq!(clip((3.0, 3.0), (3.0, 3.0), (20.0, 10.0)), Some(((3.0, 3.0), (3.0, 3.0))));
        assert_eq!(clip((f64::NAN, 0.0), (1.0, 1.0), (0.0, 0.0)), None);
    }

    #[test]
    fn dots_of_one_cell_add_up() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 1, 1));
        let mut canvas = Canvas { area: buf.area, buf: &mut buf, ascii: false };
        canvas.line((0.0, 0.0), (1.0, 3.0), Style::new(), &mut Dash::SOLID.clone());
        canvas.line((0.0, 3.0), (1.0, 3.0), Style::new(), &mut Dash::SOLID.clone());
        canvas.dot(7, -2, Style::new());
        assert_eq!(buf.cell((0, 0)).unwrap().symbol(), "⣣");
    }
}
