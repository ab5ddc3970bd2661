//! Digits, and the letters of YES and NO, of blocks: a bitmap of half cells, or strokes on an ASCII
//! terminal.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use ratatui::widgets::Widget;

use crate::theme::Look;

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
