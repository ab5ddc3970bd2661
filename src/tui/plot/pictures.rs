//! Charts as text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::tui::theme::{Colours, Glyphs, Look, THEMES};

pub(super) fn ascii() -> Look {
    Look { theme: &THEMES[0], colours: Colours::Sixteen, glyphs: Glyphs::Ascii }
}

/// What is drawn, as lines without the blanks at their ends.
pub(super) fn show(width: u16, height: u16, draw: impl FnOnce(Rect, &mut Buffer)) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    draw(area, &mut buf);
    let line = |row: u16| (0..width).map(|column| buf[(column, row)].symbol()).collect::<String>().trim_end().to_string();
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

fn number(value: f64) -> String {
    format!("{value:.0}")
}

fn points(values: &[(f64, f64)]) -> Vec<Point> {
    values.iter().map(|(x, y)| Point::new(*x, *y)).collect()
}

#[test]
fn a_line_from_corner_to_corner() {
    let look = Look::default();
    let line = points(&[(0.0, 0.0), (10.0, 10.0)]);
    let series = [Series::new(&look, 0, "", &line)];
    let axis = Axis::new(Scale::Linear, &number).between(0.0, 10.0);
    let chart = Chart::new(&look, axis, axis, &series);
    println!("{}", show(20, 8, |area, buf| chart.render(area, buf)));
}
