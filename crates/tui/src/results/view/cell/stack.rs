//! Sections below each other; only the visible part is built.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use crate::analysis::CellResult;
use crate::results::data::Data;
use crate::theme::{Look, Role};
use crate::view::pane;

/// Draws into an area.
type Picture<'a> = Box<dyn Fn(Rect, &mut Buffer) + 'a>;

pub enum Section<'a> {
    Lines(Vec<Line<'static>>),
    /// Many rows, each built when visible.
    Rows {
        count: usize,
        row: Box<dyn Fn(usize) -> Line<'static> + 'a>,
    },
    Picture {
        height: u16,
        draw: Picture<'a>,
    },
}

impl Section<'_> {
    fn height(&self) -> usize {
        match self {
            Section::Lines(lines) => lines.len(),
            Section::Rows { count, .. } => *count,
            Section::Picture { height, .. } => usize::from(*height),
        }
    }

    /// Draws the rows from `skip` on into `area`.
    fn draw(&self, skip: usize, area: Rect, buf: &mut Buffer) {
        let row = |at: usize| Rect::new(area.x, area.y + at as u16, area.width, 1);
        let shown = usize::from(area.height).min(self.height().saturating_sub(skip));
        match self {
            Section::Lines(lines) => {
                lines
                    .iter()
                    .skip(skip)
                    .take(shown)
                    .enumerate()
                    .for_each(|(at, line)| line.render(row(at), buf));
            }
            Section::Rows { row: make, .. } => {
                (0..shown).for_each(|at| make(skip + at).render(row(at), buf))
            }
            Section::Picture { height, draw } => picture(*height, draw, skip as u16, area, buf),
        }
    }
}

/// Draws a picture; if only part of it is visible, via an off-screen buffer.
fn picture(height: u16, draw: &dyn Fn(Rect, &mut Buffer), skip: u16, area: Rect, buf: &mut Buffer) {
    if skip == 0 && height <= area.height {
        return draw(Rect { height, ..area }, buf);
    }
    let whole = Rect::new(0, 0, area.width, height);
    let mut full = Buffer::empty(whole);
    draw(whole, &mut full);
    let seen = Rect { height: area.height.min(height - skip), ..area };
    for position in seen.positions() {
        let from = full.cell((position.x - area.x, position.y - area.y + skip)).cloned();
        if let (Some(from), Some(to)) = (from, buf.cell_mut(position)) {
            *to = from;
        }
    }
}

pub struct Stack<'a> {
    area: Rect,
    sections: Vec<Section<'a>>,
}

impl<'a> Stack<'a> {
    /// Stacks parts with an empty line between them.
    pub fn new(area: Rect, parts: impl IntoIterator<Item = Vec<Section<'a>>>) -> Stack<'a> {
        let mut sections = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            if !sections.is_empty() {
                sections.push(Section::Lines(vec![Line::default()]));
            }
            sections.extend(part);
        }
        Stack { area, sections }
    }

    pub fn height(&self) -> usize {
        self.sections.iter().map(Section::height).sum()
    }

    /// Draws the rows from `scroll` on, or the last ones that fit.
    pub fn draw(&self, scroll: usize, buf: &mut Buffer) {
        let scroll = scroll.min(self.height().saturating_sub(usize::from(self.area.height)));
        let area = self.area.intersection(buf.area);
        let (mut skip, mut top) = (scroll, area.y);
        for section in &self.sections {
            let height = section.height();
            if skip >= height {
                skip -= height;
                continue;
            }
            let rest = Rect::new(area.x, top, area.width, area.bottom().saturating_sub(top));
            if rest.is_empty() {
                return;
            }
            section.draw(skip, rest, buf);
            top = top.saturating_add((height - skip).min(usize::from(rest.height)) as u16);
            skip = 0;
        }
    }
}

/// The input of every section.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub look: &'a Look,
    pub data: &'a Data,
    pub index: usize,
    pub result: &'a CellResult,
    /// Columns for text.
    pub width: usize,
}

impl<'a> Scene<'a> {
    /// Returns the colour of the cell's backend.
    pub fn hue(&self) -> usize {
        self.data.signs.get(self.index).map_or(0, |sign| sign.hue())
    }

    pub fn heading(&self, text: &str) -> Line<'static> {
        self.look.line(Role::Title, text.to_string())
    }

    /// Builds a line of a name and its value.
    pub fn pair(&self, name: &str, value: String) -> Line<'static> {
        Line::from(vec![
            self.look.span(Role::Dim, format!("{name:<13}")),
            self.look.span(Role::Text, value),
        ])
    }

    /// Wraps text.
    pub fn wrap(&self, text: &str, role: Role) -> Vec<Line<'static>> {
        let style = self.look.style(role);
        pane::wrap(text, self.width).into_iter().map(|part| Line::styled(part, style)).collect()
    }
}

/// Returns a section of these lines, if there are any.
pub fn section(lines: Vec<Line<'static>>) -> Vec<Section<'static>> {
    if lines.is_empty() { Vec::new() } else { vec![Section::Lines(lines)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render_stack(scroll: usize, height: u16) -> String {
        let rows = Section::Rows { count: 3, row: Box::new(|at| Line::raw(format!("r{at}"))) };
        fn draw(area: Rect, buf: &mut Buffer) {
            for row in 0..area.height {
                buf.set_string(
                    area.x,
                    area.y + row,
                    format!("p{row}"),
                    ratatui::style::Style::new(),
                );
            }
        }
        let picture = Section::Picture { height: 3, draw: Box::new(draw) };
        let area = Rect::new(0, 0, 2, height);
        let stack = Stack::new(area, [vec![rows], Vec::new(), vec![picture]]);
        assert_eq!(stack.height(), 7);
        let mut buf = Buffer::empty(area);
        stack.draw(scroll, &mut buf);
        buf.content.iter().map(|cell| cell.symbol()).collect::<String>()
    }

    #[test]
    fn stacks_show_any_part() {
        let whole = "r0r1r2  p0p1p2";
        for height in 1..=7 {
            for scroll in 0..=7 - usize::from(height) {
                let part = &whole[scroll * 2..(scroll + usize::from(height)) * 2];
                assert_eq!(render_stack(scroll, height), part, "{scroll} {height}");
            }
        }
        assert_eq!(render_stack(9, 2), "p1p2", "the end is shown");
    }
}
