//! The input of the sections of an opened cell.

use ratatui::text::Line;

use super::stack::Section;
use crate::analysis::CellResult;
use crate::tui::results::data::Data;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

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

/// Returns a section of lines; none without lines.
pub fn section(lines: Vec<Line<'static>>) -> Vec<Section<'static>> {
    if lines.is_empty() { Vec::new() } else { vec![Section::Lines(lines)] }
}
