//! Dots and lines in a rectangle of cells: four or eight dots per cell, or one character that reads
//! like a line.

use line_clipping::cohen_sutherland::clip_line;
use line_clipping::{LineSegment, Point, Window};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::{braille, pixel};

use crate::report::Graph;

/// Draws into `area` and nowhere else. Dots are counted from the left and from the top.
///
/// A line is collected in a grid, then [`flush`](Canvas::flush) puts its cells on the screen: a
/// cell that a line crosses many times is styled once.
pub(super) struct Canvas<'b> {
    pub buf: &'b mut Buffer,
    pub area: Rect,
    pub graph: Graph,
    /// Per cell the dots row by row, the first one in the lowest bit, or the character; 0: nothing.
    grid: Vec<u8>,
    /// The dots that are on the screen.
    shown: Vec<u8>,
}

/// A pattern along a line: dots on, dots off, and the position of the next dot in it.
#[derive(Clone, Copy)]
pub(super) struct Dash {
    pub on: u32,
    pub off: u32,
    pub position: u32,
}

impl Dash {
    pub const SOLID: Dash = Dash { on: 1, off: 0, position: 0 };

    fn advance(&mut self) -> bool {
        let shown = self.position < self.on;
        self.position = (self.position + 1) % (self.on + self.off).max(1);
        shown
    }
}

/// Sets what a cell shows; its background stays.
pub(super) fn put(cell: &mut Cell, symbol: char, style: Style) {
    cell.set_char(symbol);
    cell.modifier = Modifier::empty();
    cell.fg = Color::Reset;
    cell.set_style(style);
}

/// Returns the columns and rows of dots in one cell.
pub(super) fn dots_per_cell(graph: Graph) -> (u16, u16) {
    match graph {
        Graph::Braille | Graph::Octant => (2, 4),
        Graph::Blocks => (2, 2),
        Graph::Ascii => (1, 3),
    }
}

/// Returns the character that shows these dots.
fn symbol_of(graph: Graph, dots: u8) -> char {
    match graph {
        Graph::Braille => braille::BRAILLE[usize::from(dots)],
        Graph::Octant => pixel::OCTANTS[usize::from(dots)],
        Graph::Blocks => pixel::QUADRANTS[usize::from(dots) % 16],
        Graph::Ascii => char::from(dots),
    }
}

impl<'b> Canvas<'b> {
    /// Returns a blank canvas.
    pub fn new(buf: &'b mut Buffer, area: Rect, graph: Graph) -> Canvas<'b> {
        let area = area.intersection(buf.area);
        for position in area.positions() {
            buf[position].set_symbol(" ");
        }
        let grid = vec![0; usize::from(area.width) * usize::from(area.height)];
        Canvas { buf, area, graph, shown: grid.clone(), grid }
    }

    pub fn is_ascii(&self) -> bool {
        self.graph == Graph::Ascii
    }

    /// Columns and rows of dots.
    pub fn size(&self) -> (f64, f64) {
        let (across, down) = dots_per_cell(self.graph);
        (
            f64::from(self.area.width) * f64::from(across),
            f64::from(self.area.height) * f64::from(down),
        )
    }

    /// Returns the cell that holds a dot.
    pub fn cell_of(&self, x: f64, y: f64) -> Option<(u16, u16)> {
        let (width, height) = self.size();
        let inside = (-0.5..width - 0.5).contains(&x) && (-0.5..height - 0.5).contains(&y);
        let (across, down) = dots_per_cell(self.graph);
        inside.then(|| {
            (self.area.x + x.round() as u16 / across, self.area.y + y.round() as u16 / down)
        })
    }

    pub fn cell(&mut self, column: u16, row: u16) -> Option<&mut Cell> {
        if self.area.contains((column, row).into()) {
            self.buf.cell_mut((column, row))
        } else {
            None
        }
    }

    pub fn is_blank(&self, column: u16, row: u16) -> bool {
        self.area.contains((column, row).into())
            && self.buf.cell((column, row)).is_some_and(|cell| cell.symbol() == " ")
    }

    /// Draws a dot of the grid, if it is on it.
    pub fn dot(&mut self, x: i32, y: i32) {
        let (across, down) = dots_per_cell(self.graph);
        let (across, down) = (i32::from(across), i32::from(down));
        let ascii = self.is_ascii();
        if let Some(cell) = self.grid_cell(x / across, y / down).filter(|_| x >= 0 && y >= 0) {
            *cell = if ascii { b':' } else { *cell | 1 << (y % down * across + x % across) };
        }
    }

    fn grid_cell(&mut self, column: i32, row: i32) -> Option<&mut u8> {
        let (width, height) = (i32::from(self.area.width), i32::from(self.area.height));
        let inside = (0..width).contains(&column) && (0..height).contains(&row);
        if inside { self.grid.get_mut((row * width + column) as usize) } else { None }
    }

    /// Puts the grid on the screen and empties it: dots of Braille add up in a cell, which takes
    /// the style.
    pub fn flush(&mut self, style: Style) {
        self.flush_where(style, |_, _| true);
    }

    /// Draws like [`flush`](Canvas::flush), but behind the curves: only where nothing but such dots
    /// is, which are dim.
    pub fn flush_behind(&mut self, style: Style) {
        self.flush_where(style.add_modifier(Modifier::DIM), |cell, shown| {
            cell.symbol() == " " || (shown != 0 && cell.modifier.contains(Modifier::DIM))
        });
    }

    fn flush_where(&mut self, style: Style, is_target: impl Fn(&Cell, u8) -> bool) {
        let graph = self.graph;
        let cells = self.area.positions().zip(&mut self.shown);
        for (drawn, (position, shown)) in self.grid.iter_mut().zip(cells) {
            let drawn = std::mem::take(drawn);
            if drawn != 0
                && let Some(cell) = self.buf.cell_mut(position)
                && is_target(cell, *shown)
            {
                let (before, both) = (cell.fg, drawn | *shown);
                // Solid pieces of two curves would look like a thick one: the later one covers, and
                // the other is its background where together they fill the cell.
                let (dots, ground) = match graph {
                    Graph::Braille => (both, Color::Reset),
                    Graph::Blocks if both == 0x0f && drawn != both => (drawn, before),
                    Graph::Octant if both == 0xff && drawn != both => (drawn, before),
                    _ => (drawn, Color::Reset),
                };
                *shown = if graph == Graph::Ascii { 0 } else { dots };
                put(cell, symbol_of(graph, dots), style);
                cell.set_bg(ground);
            }
        }
    }

    /// Draws a line on the grid from dot to dot; what lies outside is cut off.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), dash: &mut Dash) {
        let Some((from, to)) = clip(from, to, self.size()) else { return };
        if self.is_ascii() {
            self.ascii_line(from, to, dash)
        } else {
            self.dot_line(from, to, dash)
        }
    }

    fn dot_line(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), dash: &mut Dash) {
        let flat = (x1 - x0).abs() >= (y1 - y0).abs();
        let (start, end, other, rise) = if flat {
            (x0, x1, y0, (y1 - y0) / (x1 - x0))
        } else {
            (y0, y1, x0, (x1 - x0) / (y1 - y0))
        };
        let rise = if rise.is_finite() { rise } else { 0.0 };
        walk(start, end, |along| {
            // Nothing clipped is below -0.5, so that this rounds; `round` is a call.
            let across = (other + (along - start) * rise + 0.5) as i32;
            if dash.advance() {
                let along = along as i32;
                if flat { self.dot(along, across) } else { self.dot(across, along) }
            }
        });
    }

    /// Draws one character per column, or per row where the line is steep.
    fn ascii_line(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), dash: &mut Dash) {
        // In cells; a row has three heights, its middle is the row's own number.
        let (row0, row1) = ((y0 - 1.0) / 3.0, (y1 - 1.0) / 3.0);
        let (wide, high) = (x1 - x0, row1 - row0);
        let slant = if wide * high > 0.0 { b'\\' } else { b'/' };
        if wide.abs() >= high.abs() {
            let rise = if wide == 0.0 { 0.0 } else { high / wide };
            walk(x0, x1, |column| {
                let row = row0 + (column - x0) * rise;
                let level = ((row - row.round()) * 3.0).round() as i32;
                let symbol = match level {
                    _ if rise.abs() > 0.5 => slant,
                    -1 => b'\'',
                    1 => b'.',
                    _ => b'-',
                };
                self.put_character(column, row.round(), symbol, dash);
            });
        } else {
            let run = wide / high;
            let symbol = if run.abs() < 0.4 { b'|' } else { slant };
            walk(row0, row1, |row| self.put_character(x0 + (row - row0) * run, row, symbol, dash));
        }
    }

    fn put_character(&mut self, column: f64, row: f64, symbol: u8, dash: &mut Dash) {
        if dash.advance()
            && let Some(cell) = self.grid_cell(column.round() as i32, row as i32)
        {
            *cell = symbol;
        }
    }
}

/// Visits every whole number from one to the other, in that direction.
fn walk(from: f64, to: f64, mut each: impl FnMut(f64)) {
    let (first, last) = (from.round(), to.round());
    let count = (last - first).abs() as u32;
    let step = if last < first { -1.0 } else { 1.0 };
    for i in 0..=count {
        each(first + step * f64::from(i));
    }
}

/// Returns the part of a line that lies inside. Half a dot around the outer dots is inside.
fn clip(
    from: (f64, f64),
    to: (f64, f64),
    (width, height): (f64, f64),
) -> Option<((f64, f64), (f64, f64))> {
    // A hair less than half, so that rounding stays inside too.
    const HALF: f64 = 0.499;
    // Without a dot each edge would be beyond the other, and clipping would not end.
    let is_finite = [from.0, from.1, to.0, to.1].into_iter().all(f64::is_finite);
    if width < 1.0 || height < 1.0 || !is_finite {
        return None;
    }
    let line = LineSegment::new(Point::new(from.0, from.1), Point::new(to.0, to.1));
    let part = clip_line(line, Window::new(-HALF, width - 1.0 + HALF, -HALF, height - 1.0 + HALF))?;
    Some(((part.p1.x, part.p1.y), (part.p2.x, part.p2.y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_where_they_leave() {
        let (from, to) = clip((-10.0, 5.0), (30.0, 5.0), (20.0, 10.0)).unwrap();
        assert!(
            (from.0 + 0.5).abs() < 0.01
                && (to.0 - 19.5).abs() < 0.01
                && from.1 == 5.0
                && to.1 == 5.0
        );
        let (from, to) = clip((0.0, -10.0), (20.0, 10.0), (20.0, 20.0)).unwrap();
        assert!((from.0 - from.1 - 10.0).abs() < 1e-9 && (to.0 - 19.5).abs() < 0.01);
        assert_eq!(clip((-5.0, 0.0), (-1.0, 9.0), (20.0, 10.0)), None);
        assert_eq!(clip((3.0, 3.0), (3.0, 3.0), (20.0, 10.0)), Some(((3.0, 3.0), (3.0, 3.0))));
        assert_eq!(clip((f64::NAN, 0.0), (1.0, 1.0), (20.0, 10.0)), None);
        assert_eq!(clip((0.0, 0.0), (1.0, f64::INFINITY), (20.0, 10.0)), None);
        for empty in [(0.0, 0.0), (0.0, 10.0), (20.0, 0.0)] {
            assert_eq!(clip((-5.0, -5.0), (25.0, 15.0), empty), None);
        }
    }

    proptest::proptest! {
        #[test]
        fn lines_of_any_numbers_are_finite(a: f64, b: f64, c: f64, d: f64) {
            let _ = clip((a, b), (c, d), (20.0, 10.0));
        }
    }

    #[test]
    fn dots_of_one_cell_add_up() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 1, 1));
        let area = buf.area;
        let mut canvas = Canvas::new(&mut buf, area, Graph::Braille);
        canvas.line((0.0, 0.0), (1.0, 3.0), &mut Dash::SOLID.clone());
        canvas.line((0.0, 3.0), (1.0, 3.0), &mut Dash::SOLID.clone());
        canvas.flush(Style::new());
        canvas.dot(7, -2);
        canvas.dot(-1, 0);
        canvas.flush(Style::new());
        assert_eq!(buf.cell((0, 0)).unwrap().symbol(), "⣣");
    }

    #[test]
    fn dots_have_their_place_in_characters() {
        let shown = |graph, dots: &[(i32, i32)]| {
            let mut buf = Buffer::empty(Rect::new(0, 0, 1, 1));
            let area = buf.area;
            let mut canvas = Canvas::new(&mut buf, area, graph);
            dots.iter().for_each(|(x, y)| canvas.dot(*x, *y));
            canvas.flush(Style::new());
            buf[(0, 0)].symbol().to_string()
        };
        let one = |graph| -> String {
            let (across, down) = dots_per_cell(graph);
            let dots = (0..down).flat_map(|y| (0..across).map(move |x| (x, y)));
            dots.map(|(x, y)| shown(graph, &[(x.into(), y.into())])).collect()
        };
        assert_eq!(one(Graph::Braille), "⠁⠈⠂⠐⠄⠠⡀⢀");
        assert_eq!(one(Graph::Blocks), "▘▝▖▗");
        // The octants of one dot, by their names: 1, 2, .. 8.
        let octants = "\u{1cea8}\u{1ceab}\u{1cd00}\u{1cd03}\u{1cd09}\u{1cd18}\u{1cea3}\u{1cea0}";
        assert_eq!(one(Graph::Octant), octants);
        assert_eq!(shown(Graph::Octant, &[(1, 0), (0, 1)]), "\u{1cd01}", "BLOCK OCTANT-23");
        assert_eq!(shown(Graph::Blocks, &[(0, 0), (1, 1)]), "▚");
    }

    #[test]
    fn curves_in_one_cell_stay_apart() {
        let drawn = |graph, first: &[(i32, i32)], then: &[(i32, i32)]| {
            let mut buf = Buffer::empty(Rect::new(0, 0, 1, 1));
            let area = buf.area;
            let mut canvas = Canvas::new(&mut buf, area, graph);
            for (dots, color) in [(first, Color::Red), (then, Color::Blue)] {
                dots.iter().for_each(|(x, y)| canvas.dot(*x, *y));
                canvas.flush(Style::new().fg(color));
            }
            let cell = &buf[(0, 0)];
            (cell.symbol().to_string(), cell.fg, cell.bg)
        };
        let (upper, lower) = ([(0, 0), (1, 0)], [(0, 1), (1, 1)]);
        let (blue, none) = (Color::Blue, Color::Reset);
        assert_eq!(drawn(Graph::Blocks, &upper, &lower), ("▄".into(), blue, Color::Red));
        assert_eq!(drawn(Graph::Blocks, &upper, &lower[..1]), ("▖".into(), blue, none));
        assert_eq!(drawn(Graph::Blocks, &upper, &upper), ("▀".into(), blue, none));
        assert_eq!(drawn(Graph::Octant, &upper, &upper[..1]), ("\u{1cea8}".into(), blue, none));
        assert_eq!(drawn(Graph::Braille, &upper, &lower), ("⠛".into(), blue, none));
    }

    #[test]
    fn octants_match_the_unicode_table() {
        // Their code points ascend with their dots; the other shapes are older characters.
        let own = (0..=255).map(|dots| (dots, symbol_of(Graph::Octant, dots)));
        let own: Vec<(u8, char)> =
            own.filter(|(_, c)| ('\u{1cd00}'..='\u{1cde5}').contains(c)).collect();
        assert!(own.iter().map(|(_, c)| *c).eq('\u{1cd00}'..='\u{1cde5}'));
        assert_eq!((own[0].0, own[229].0), (0b0000_0100, 0b1111_1110), "3 and 2345678");
        let wide = |c: char| unicode_width::UnicodeWidthChar::width(c) != Some(1);
        assert!((0..=255).all(|dots| !wide(symbol_of(Graph::Octant, dots))));
    }
}
