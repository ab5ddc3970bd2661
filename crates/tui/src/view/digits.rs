//! Digits, and the letters of YES and NO, of blocks: a bitmap of half cells, or strokes on an ASCII
//! terminal; and figures in these digits, or in bold text where their interval is wide.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::pane;
use crate::analysis::GlanceFigure;
use crate::theme::{Look, Role};
use crate::units::Precision;

/// Rows of a digit at its smallest size.
pub const ROWS: u16 = 3;

/// Each character in 6 rows of half a cell.
const BITMAPS: [(char, [&str; 6]); 18] = [
    ('0', [".##.", "#..#", "#..#", "#..#", "#..#", ".##."]),
    ('1', [".#.", "##.", ".#.", ".#.", ".#.", "###"]),
    ('2', [".##.", "#..#", "...#", "..#.", ".#..", "####"]),
    ('3', ["###.", "...#", ".##.", "...#", "...#", "###."]),
    ('4', ["#..#", "#..#", "####", "...#", "...#", "...#"]),
    ('5', ["####", "#...", "###.", "...#", "...#", "###."]),
    ('6', [".##.", "#...", "###.", "#..#", "#..#", ".##."]),
    ('7', ["####", "...#", "..#.", "..#.", ".#..", ".#.."]),
    ('8', [".##.", "#..#", ".##.", "#..#", "#..#", ".##."]),
    ('9', [".##.", "#..#", "#..#", ".###", "...#", ".##."]),
    ('.', [".", ".", ".", ".", ".", "#"]),
    ('-', ["...", "...", "...", "###", "...", "..."]),
    ('E', ["####", "#...", "###.", "#...", "#...", "####"]),
    ('N', ["#..#", "##.#", "##.#", "#.##", "#.##", "#..#"]),
    ('O', [".##.", "#..#", "#..#", "#..#", "#..#", ".##."]),
    ('S', [".###", "#...", ".##.", "...#", "...#", "###."]),
    ('Y', ["#...#", ".#.#.", "..#..", "..#..", "..#..", "..#.."]),
    ('?', [".##.", "#..#", "...#", "..#.", "....", "..#."]),
];

/// The same as strokes.
const STROKES: [(char, [&str; 3]); 18] = [
    ('0', [" _ ", "| |", "|_|"]),
    ('1', [" ", "|", "|"]),
    ('2', [" _ ", " _|", "|_ "]),
    ('3', ["_ ", "_|", "_|"]),
    ('4', ["   ", "|_|", "  |"]),
    ('5', [" _ ", "|_ ", " _|"]),
    ('6', [" _ ", "|_ ", "|_|"]),
    ('7', ["_ ", " |", " |"]),
    ('8', [" _ ", "|_|", "|_|"]),
    ('9', [" _ ", "|_|", " _|"]),
    ('.', [" ", " ", "."]),
    ('-', ["   ", " _ ", "   "]),
    ('E', [" _ ", "|_ ", "|_ "]),
    ('N', ["    ", "|\\ |", "| \\|"]),
    ('O', [" _ ", "| |", "|_|"]),
    ('S', [" _ ", "|_ ", " _|"]),
    ('Y', ["   ", "\\_/", " | "]),
    ('?', ["_ ", " |", ". "]),
];

/// Returns the rows of a number, `scale` times as large; characters without a picture are left
/// out.
pub fn rows(look: &Look, number: &str, scale: u16) -> Vec<String> {
    if look.has_plain_bars() {
        return (0..3).map(|row| line_of(number, &STROKES, row, " ")).collect();
    }
    let scale = usize::from(scale.max(1));
    let pixels: Vec<String> = (0..6)
        .map(|row| line_of(number, &BITMAPS, row, "."))
        .map(|line| line.chars().flat_map(|c| std::iter::repeat_n(c, scale)).collect())
        .collect();
    let tall: Vec<&String> =
        pixels.iter().flat_map(|line| std::iter::repeat_n(line, scale)).collect();
    let pair = |pair: &[&String]| {
        let both = pair[0].chars().zip(pair[1].chars());
        both.map(|(upper, lower)| match (upper == '#', lower == '#') {
            (true, true) => '█',
            (true, false) => '▀',
            (false, true) => '▄',
            (false, false) => ' ',
        })
        .collect::<String>()
    };
    tall.chunks_exact(2).map(pair).collect()
}

/// Returns a row of all digits, with a gap between them.
fn line_of<const N: usize>(
    number: &str,
    font: &[(char, [&str; N])],
    row: usize,
    gap: &str,
) -> String {
    let digits = number.chars().filter_map(|c| font.iter().find(|(own, _)| *own == c));
    digits.map(|(_, picture)| picture[row]).collect::<Vec<_>>().join(gap)
}

/// Returns the columns of a number at that size.
pub fn width(look: &Look, number: &str, scale: u16) -> u16 {
    rows(look, number, scale).first().map_or(0, |row| row.chars().count() as u16)
}

/// Draws a number from the upper left corner of an area on.
pub fn draw(look: &Look, number: &str, scale: u16, style: Style, area: Rect, buf: &mut Buffer) {
    for (line, place) in rows(look, number, scale).into_iter().zip(area.rows()) {
        Span::styled(line, style).render(place, buf);
    }
}

/// Returns the role of a figure: plain while more trials are needed, dim if it is rough.
pub fn role(figure: &GlanceFigure) -> Role {
    match figure.precision() {
        _ if figure.wrong => Role::Wrong,
        _ if !figure.is_firm() => Role::Text,
        Precision::Rough => Role::Dim,
        Precision::Full | Precision::Two => Role::Number,
    }
}

/// A figure to draw in large digits, unless its interval is wide.
pub struct LargeFigure<'a> {
    pub number: &'a str,
    pub unit: &'a str,
    /// `None` of a number that was not measured.
    pub figure: Option<&'a GlanceFigure>,
    /// The ends of its interval, in that unit.
    pub range: &'a str,
    /// The role of a number that was not measured.
    pub role: Role,
}

impl LargeFigure<'_> {
    /// Draws digits with unit and interval at their right, or bold text with the interval below it;
    /// returns the columns used.
    pub fn draw(&self, look: &Look, scale: u16, area: Rect, buf: &mut Buffer) -> u16 {
        let role = self.figure.map_or(self.role, role);
        let interval = self.figure.map_or(String::new(), GlanceFigure::describe_certainty);
        let top = (scale * ROWS).saturating_sub(ROWS);
        if !self.figure.is_none_or(GlanceFigure::suits_large) {
            let bold = if role == Role::Number { Role::Title } else { role };
            let lines = [
                look.line(bold, format!("{} {}", self.number, self.unit)),
                look.line(Role::Text, self.range.to_string()),
                look.line(Role::Dim, interval),
            ];
            let used = lines.iter().map(Line::width).max().unwrap_or(0);
            pane::lines(lines, top, area, buf);
            return used as u16;
        }
        let digits = width(look, self.number, scale);
        draw(look, self.number, scale, look.style(role), area, buf);
        let is_open = self.figure.is_some_and(|own| !own.wrong && !own.is_firm());
        let about = if is_open { "about" } else { "" };
        let wide = [about, self.unit, &interval].into_iter().map(pane::width).max().unwrap_or(0);
        // A narrow column has narrow gaps.
        let gap = if digits + 2 + wide as u16 <= area.width { 2 } else { 1 };
        let side = Rect {
            x: area.x + digits + gap,
            width: (area.width + 2 - gap).saturating_sub(digits + gap),
            ..area
        };
        let lines = [
            look.line(Role::Dim, about),
            look.line(Role::Text, self.unit.to_string()),
            look.line(Role::Dim, interval),
        ];
        pane::lines(lines, top, side, buf);
        digits + gap + wide as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Glyphs;

    #[test]
    fn digit_rows_have_equal_widths() {
        for look in [Look::default(), Look { glyphs: Glyphs::Ascii, ..Look::default() }] {
            for c in "0123456789.-YESNO?".chars() {
                for scale in 1..3 {
                    let lines = rows(&look, &c.to_string(), scale);
                    let width = lines[0].chars().count();
                    assert!(width > 0 && lines.iter().all(|line| line.chars().count() == width));
                }
            }
        }
    }

    #[test]
    fn numbers_take_three_rows() {
        assert_eq!(
            rows(&Look::default(), "1.2", 1),
            ["▄█    ▄▀▀▄", " █      ▄▀", "▄█▄ ▄ ▄█▄▄"].map(String::from)
        );
        let ascii = Look { glyphs: Glyphs::Ascii, ..Look::default() };
        assert_eq!(rows(&ascii, "72", 2), ["_   _ ", " |  _|", " | |_ "]);
    }
}
